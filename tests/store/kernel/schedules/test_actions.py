"""Making, changing and deleting schedules: what is checked, who may, and what followers read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outlast.base.agent_errors import AgentNotAllowed
from outlast.base.errors import (
    CursorUnknown,
    EmptyMessage,
    Forbidden,
    NotFound,
    OutlastError,
    UnknownModel,
    UnknownProfile,
)
from outlast.base.schedule_errors import CronTooFrequent, InvalidCron, ScheduleOfCode, TooManySchedules, UnknownZone
from outlast.db.database import Database
from outlast.kernel.projects.store import ProjectAgents, set_agents
from outlast.kernel.runs import timers
from outlast.kernel.schedules import actions
from outlast.kernel.schedules.settings import ScheduleSettings
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from tests.factories import Team, make_schedule, make_services

FIELDS: dict[str, Any] = {
    "title": "Morning", "agent": "chat", "message": "Sum up the night.", "model": None, "cron": "0 8 * * 1-5",
    "zone": "Europe/Berlin", "on_missed": "skip", "thread": "new", "enabled": True,
}  # fmt: skip


@pytest.fixture
def services(db: Database, tmp_path: Path) -> Services:
    return make_services(db, tmp_path, Settings(schedules=ScheduleSettings(per_project=3, least_s=300)))


@pytest.fixture
async def team(db: Database) -> Team:
    return await db.write(Team)


async def test_a_schedule_is_made_read_and_listed(services: Services, team: Team) -> None:
    made = await actions.create_schedule(services, team.editor, team.project_id, {**FIELDS, "cron": " 0 8 * *  1-5"})
    assert (made.cron, made.created_by_name, made.origin, made.enabled) == ("0 8 * * 1-5", "Emil", "person", True)
    assert len(made.next_times) == 5
    assert await actions.read_schedule(services, team.viewer, made.id) == made.model_copy(
        update={"next_times": (await actions.read_schedule(services, team.viewer, made.id)).next_times}
    )
    second = await actions.create_schedule(services, team.owner, team.project_id, FIELDS)
    first_page = await actions.list_schedules(services, team.viewer, team.project_id, limit=1)
    assert ([one.id for one in first_page.items], first_page.next) == ([second.id], second.id)
    rest = await actions.list_schedules(services, team.viewer, team.project_id, first_page.next)
    assert ([one.id for one in rest.items], rest.next) == ([made.id], None)
    with pytest.raises(CursorUnknown):
        await actions.list_schedules(services, team.viewer, team.project_id, "thr_1")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"cron": "* * *"}, InvalidCron),
        ({"cron": "0 25 * * *"}, InvalidCron),
        ({"cron": "* * * * *"}, CronTooFrequent),
        ({"zone": "Mars/Olympus"}, UnknownZone),
        ({"agent": "nobody"}, UnknownProfile),
        ({"agent": "chat", "model": "none"}, UnknownModel),
        ({"message": "  "}, EmptyMessage),
    ],
)
async def test_what_is_wrong_is_refused_also_in_a_change(
    services: Services, team: Team, change: dict[str, Any], error: type[OutlastError]
) -> None:
    with pytest.raises(error):
        await actions.create_schedule(services, team.editor, team.project_id, FIELDS | change)
    made = await actions.create_schedule(services, team.editor, team.project_id, FIELDS)
    with pytest.raises(error):
        await actions.change_schedule(services, team.editor, made.id, change)


async def test_an_agent_that_the_project_leaves_out_is_refused(services: Services, team: Team) -> None:
    await services.db.write(set_agents, team.project_id, ProjectAgents(["other"], ""))
    with pytest.raises(AgentNotAllowed):
        await actions.create_schedule(services, team.editor, team.project_id, FIELDS)


async def test_a_project_has_a_bound_of_schedules(services: Services, team: Team) -> None:
    for _ in range(3):
        await actions.create_schedule(services, team.editor, team.project_id, FIELDS)
    with pytest.raises(TooManySchedules):
        await actions.create_schedule(services, team.editor, team.project_id, FIELDS)
    assert len((await actions.list_schedules(services, team.owner, team.project_id)).items) == 3


async def test_its_maker_edits_it_and_editors_pause_and_delete_it(services: Services, team: Team) -> None:
    made = await actions.create_schedule(services, team.editor, team.project_id, FIELDS)
    with pytest.raises(Forbidden, match="Emil made this schedule"):
        await actions.change_schedule(services, team.owner, made.id, {"message": "Buy bicycles."})
    paused = await actions.change_schedule(services, team.owner, made.id, {"enabled": False})
    assert (paused.enabled, paused.next_times) == (False, [])
    changed = await actions.change_schedule(
        services, team.editor, made.id, {"cron": "0 9 * * *", "zone": "UTC", "title": "Nine", "enabled": True}
    )
    assert (changed.title, changed.message) == ("Nine", "Sum up the night.")
    assert all(time.endswith("T09:00:00.000Z") for time in changed.next_times)
    with pytest.raises(Forbidden):
        await actions.delete_schedule(services, team.viewer, made.id)
    await actions.delete_schedule(services, team.owner, made.id)
    with pytest.raises(NotFound):
        await actions.read_schedule(services, team.owner, made.id)
    assert await services.db.read(timers.timers_of, made.id) == []


async def test_every_change_is_news_of_the_project(services: Services, team: Team) -> None:
    made = await actions.create_schedule(services, team.editor, team.project_id, FIELDS)
    await actions.change_schedule(services, team.editor, made.id, {"enabled": False})
    await actions.run_schedule(services, team.editor, made.id)
    await actions.delete_schedule(services, team.editor, made.id)
    lines = await services.db.read(read_all, team.project_id)
    news = [line for _, line in lines if b'"event":"schedule.changed"' in line]
    assert len(news) == 4
    assert all(made.id.encode() in line for line in news)


async def test_a_schedule_of_code_can_only_be_paused(services: Services, team: Team) -> None:
    made = await services.db.write(make_schedule, team.project_id, team.owner, origin="code")
    with pytest.raises(ScheduleOfCode):
        await actions.change_schedule(services, team.owner, made, {"cron": "0 9 * * *"})
    with pytest.raises(ScheduleOfCode):
        await actions.delete_schedule(services, team.owner, made)
    assert not (await actions.change_schedule(services, team.owner, made, {"enabled": False})).enabled


async def test_times_are_previewed(services: Services) -> None:
    found = actions.preview_times(services, "*/10 * * * *", "Asia/Tokyo")
    assert len(found.next_times) == 5
    with pytest.raises(CronTooFrequent):
        actions.preview_times(services, "* * * * *", "Asia/Tokyo")
