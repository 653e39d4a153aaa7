"""Schedules of the operator's agents follow their code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.flow import flow
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.settings import AgentSettings
from outlast.kernel.schedules import actions
from outlast.kernel.schedules.code_schedules import MESSAGE, follow_code
from outlast.kernel.schedules.settings import ScheduleSettings
from outlast.kernel.schedules.shapes import ScheduleAnswer
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeAgent
from tests.factories import make_project, make_user
from tests.flow.schedules.rig import DAY_S, Rig, rig

CODE = Settings(agents=AgentSettings(folder="agents"))


@flow("digest", schedule="0 8 * * MON", zone="Europe/Berlin")
async def digest(ctx: Any) -> str:
    return "done"


async def load(it: Rig, *agents: Agent) -> None:
    """A server starts with these agents of the operator."""
    known = Agents({"tests": [FakeAgent().agent]}, {"agents/mine.py": agents})
    it.services = replace(it.services, engine=replace(it.services.engine, agents=known))
    await follow_code(it.services)


async def listed(it: Rig) -> list[ScheduleAnswer]:
    return (await actions.list_schedules(it.services, it.owner, it.project_id)).items


async def test_they_are_made_changed_and_removed_with_the_code(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path, settings=CODE) as it:
        await load(it, digest, Agent("shop", title="Shop", schedule="0 7 * * *"))
        first, second = await listed(it)
        assert (second.title, second.agent, second.cron, second.zone) == (
            "Digest", "digest", "0 8 * * MON", "Europe/Berlin",
        )  # fmt: skip
        assert (second.origin, second.message, first.message) == ("code", "", MESSAGE)
        await load(it, digest, Agent("shop", title="Shop", schedule="0 7 * * *"))
        assert await listed(it) == [first, second]
        await actions.change_schedule(it.services, it.owner, first.id, {"enabled": False})
        await load(it, digest, Agent("shop", title="Bicycles", schedule="30 7 * * *"))
        changed = (await listed(it))[0]
        assert (changed.id, changed.title, changed.cron, changed.enabled) == (first.id, "Bicycles", "30 7 * * *", False)
        await load(it, digest)
        assert [one.agent for one in await listed(it)] == ["digest"]
        await load(it)
        assert await listed(it) == []


async def test_a_start_without_any_writes_nothing(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path, settings=CODE) as it:

        async def refuse(*_: object) -> None:
            raise AssertionError("written")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(it.services.db, "write", refuse)
            await load(it, Agent("shop", title="Shop"))


async def test_they_start_runs_and_a_restart_does_not_forget_what_is_due(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path, settings=CODE) as it:
        daily = replace(digest, schedule="0 8 * * *", zone="UTC")
        await load(it, daily)
        (made,) = await listed(it)
        due_at = await it.timer(made.id)
        it.clock.advance(DAY_S * 5 / 6 + 30)
        await load(it, daily)
        assert await it.timer(made.id) == due_at
        await it.sweep()
        (run,) = await it.runs()
        assert (run.profile, run.started_by) == ("digest", it.owner.user_id)


async def test_they_lie_in_the_project_of_the_configuration(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        other = await it.db.write(make_project, await it.db.write(make_user, "Ben"))
        named = replace(CODE, schedules=ScheduleSettings(project=other))
        it.services = replace(it.services, settings=named)
        await load(it, digest)
        assert await listed(it) == []
        it.services = replace(it.services, settings=CODE)
        await load(it, digest)
        assert len(await listed(it)) == 1
        it.services = replace(it.services, settings=replace(CODE, schedules=ScheduleSettings(project="prj_none")))
        await load(it, digest)
        assert len(await listed(it)) == 1


async def test_a_server_that_loads_no_code_changes_nothing(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        await load(it, digest)
        await load(it)
        assert len(await listed(it)) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"schedule": "0 8 * *"}, "five fields"),
        ({"schedule": "0 8 * * *", "zone": "Mars/Olympus"}, "time zone"),
        ({"schedule": "0 8 * * *", "listed": False}, "needs to be listed"),
    ],
)
def test_a_wrong_schedule_is_an_error_of_the_code(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Agent("shop", **options)
