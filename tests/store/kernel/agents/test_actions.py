"""Agents of a project and of a thread: who may choose which, and what all of them read."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.base.agent_errors import AgentNotAllowed
from outlast.base.errors import InputTooLarge, MalformedInput, UnknownProfile
from outlast.db.database import Database
from outlast.kernel.agents.actions import change_project_agents, choose_agent, list_agents, read_project_agents
from outlast.kernel.agents.agent import Agent
from outlast.kernel.projects.store import ProjectAgents
from outlast.kernel.runs.actions import NewThread, start_run
from outlast.kernel.runs.store import run_of
from outlast.kernel.services import Services
from outlast.kernel.threads.store import set_agent, thread_data
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeAgent
from tests.factories import Team, make_services

SUPPORT = Agent("support", title="Support", description="Answers buyers.", icon="🛟")


@pytest.fixture
def services(db: Database, tmp_path: Path) -> Services:
    return make_services(db, tmp_path, agents=[SUPPORT, FakeAgent(), Agent("digest", listed=False)])


async def test_the_agents_that_people_may_choose_are_listed_the_default_first(services: Services) -> None:
    team = await services.db.write(Team)
    found = await list_agents(services, team.viewer)
    assert [(one.name, one.title, one.default, one.usable) for one in found] == [
        ("chat", "Chat", True, True),
        ("support", "Support", False, True),
    ]
    services.engine.agents.use({"agents/shop.py": [Agent("repairs")]})
    assert {one.name: one.origin for one in await list_agents(services, team.viewer)} == {
        "chat": "built in",
        "support": "built in",
        "repairs": "own",
    }


async def test_an_agent_that_a_project_leaves_out_is_refused_at_the_start_of_a_run(services: Services) -> None:
    team = await services.db.write(Team)
    await change_project_agents(services, team.owner, team.project_id, ProjectAgents(["support"], ""))
    assert {one.name: one.usable for one in await list_agents(services, team.viewer, team.project_id)} == {
        "chat": False,
        "support": True,
    }
    with pytest.raises(AgentNotAllowed) as caught:
        await start_run(services, team.editor, team.thread_id, Draft("Hello"))
    assert caught.value.fields == {"agent": "chat", "project_id": team.project_id}
    await choose_agent(services, team.editor, team.thread_id, "support")
    await start_run(services, team.editor, team.thread_id, Draft("Hello"))
    await start_run(services, team.editor, NewThread(team.project_id, "support"), Draft("Hello"))
    with pytest.raises(AgentNotAllowed):
        await choose_agent(services, team.editor, team.thread_id, "chat")


async def test_another_agent_answers_the_next_message_and_a_run_that_was_started_keeps_its_own(
    services: Services,
) -> None:
    team = await services.db.write(Team)
    first = await start_run(services, team.editor, team.thread_id, Draft("Hello"))
    assert (await choose_agent(services, team.editor, team.thread_id, "support")).profile == "support"
    second = await start_run(services, team.editor, team.thread_id, Draft("Hello again"), on_busy="enqueue")
    assert (await services.db.read(run_of, first.run_id)).profile == "chat"
    assert (await services.db.read(run_of, second.run_id)).profile == "support"
    for name in ("digest", "nothing"):
        with pytest.raises(UnknownProfile):
            await choose_agent(services, team.editor, team.thread_id, name)
    assert (await services.db.read(thread_data, team.thread_id)).profile == "support"
    services.engine.agents.use({"agents/shop.py": [Agent("repairs")]})
    await choose_agent(services, team.editor, team.thread_id, "repairs")
    services.engine.agents.use({})  # its thread can be given to another one
    assert (await choose_agent(services, team.editor, team.thread_id, "chat")).profile == "chat"


@pytest.mark.apps("documents")
async def test_the_agent_of_a_subject_cannot_be_replaced(services: Services) -> None:
    team = await services.db.write(Team)
    await services.db.write(set_agent, team.thread_id, "document")
    with pytest.raises(MalformedInput):
        await choose_agent(services, team.editor, team.thread_id, "chat")


async def test_a_run_keeps_the_instructions_of_its_project_from_its_start(services: Services) -> None:
    team = await services.db.write(Team)
    await change_project_agents(services, team.owner, team.project_id, ProjectAgents(None, " Prices are in euros.\n"))
    started = await start_run(services, team.editor, team.thread_id, Draft("Hello"))
    await change_project_agents(services, team.owner, team.project_id, ProjectAgents(None, ""))
    assert (await services.db.read(run_of, started.run_id)).instructions == "Prices are in euros."
    assert (await read_project_agents(services, team.viewer, team.project_id)).instructions == ""


async def test_only_agents_of_the_server_can_be_allowed_and_one_that_is_gone_may_stay(services: Services) -> None:
    team = await services.db.write(Team)
    with pytest.raises(UnknownProfile):
        await change_project_agents(services, team.owner, team.project_id, ProjectAgents(["swarm"], ""))
    with pytest.raises(InputTooLarge):
        await change_project_agents(services, team.owner, team.project_id, ProjectAgents(None, "x" * 8_001))
    services.engine.agents.use({"agents/shop.py": [Agent("repairs")]})
    await change_project_agents(services, team.owner, team.project_id, ProjectAgents(["repairs"], ""))
    services.engine.agents.use({})
    kept = await change_project_agents(services, team.owner, team.project_id, ProjectAgents(["repairs", "chat"], ""))
    assert kept.allowed == ["repairs", "chat"]
