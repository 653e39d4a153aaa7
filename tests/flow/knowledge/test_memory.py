"""Memory in runs: what an agent is given, what it remembers and recalls, and the line that each run leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from outlast.apps.knowledge.memories import actions, store
from outlast.apps.knowledge.memories.addition import NOTHING, OWN, SHARED, memory_addition
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.settings import MemorySettings
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.agent import Agent
from outlast.kernel.library.memories import MemoryScope
from outlast.kernel.settings import Settings
from outlast.testing.clock import ManualClock
from outlast.testing.scripted_model import Call, Turn, turn
from outlast_sandbox.egress.redaction import Redactor
from tests.app_settings import settings_with
from tests.factories import join, make_project, make_thread, make_user
from tests.flow.harness import Stage, stage, told_last

OFF = settings_with(Settings(), MemorySettings(enabled=False))


@asynccontextmanager
async def remembering(
    db: Database, folder: Path, *turns: Turn, settings: Settings | None = None
) -> AsyncIterator[Stage]:
    """A stage whose agent has memory."""
    chosen = settings or Settings()
    memory = memory_addition(db, chosen, Knowledge(db, ManualClock()), Redactor([b"correct-horse"]))
    agent = Agent("chat", instructions="You help.").with_additions([memory])
    async with stage(db, folder, list(turns), settings=chosen, agent=agent) as it:
        yield it


async def shared(it: Stage) -> Stage:
    """The same server, in a thread of a project with a second member."""

    def make(tx: Any) -> tuple[str, str, Actor]:
        guest = make_user(tx, "Gus")
        project_id = make_project(tx, it.owner, "Shared", editor=guest)
        return project_id, make_thread(tx, project_id, it.owner), guest

    project_id, thread_id, _ = await it.services.db.write(make)
    return replace(it, project_id=project_id, thread_id=thread_id)


async def listed(it: Stage, scope: MemoryScope) -> list[str]:
    return [one.text for one in (await actions.list_memories(it.services, it.owner, it.project_id, scope)).items]


def remember(text: str, **more: Any) -> Call:
    return Call("remember", {"text": text, **more})


async def test_what_an_agent_remembers_is_in_the_prompt_of_the_next_run(db: Database, tmp_path: Path) -> None:
    turns = turn("", remember("I like short answers")), turn("Noted."), turn("Hi.")
    async with remembering(db, tmp_path, *turns) as it:
        await it.ended((await it.start("Be short from now on")).run_id)
        await it.ended((await it.start("Hello")).run_id)
        first, second, next_run = it.model.requests
        assert [spec.name for spec in first.tools] == ["remember", "recall"]
        assert told_last(second) == [OWN]
        assert second.system == first.system  # so that a provider's cache stays valid within the run
        assert next_run.system.startswith(first.system)
        assert "I like short answers\n</memories>" in next_run.system
        (own,) = (await actions.list_memories(it.services, it.owner, it.project_id, "person")).items
        assert (own.thread_id, own.created_by) == (it.thread_id, it.owner.user_id)


async def test_a_private_thread_remembers_nothing_for_others_and_no_thread_a_secret(
    db: Database, tmp_path: Path
) -> None:
    calls = remember("We deploy on Fridays", for_everyone=True), remember("The key is correct-horse")
    async with remembering(db, tmp_path, turn("", *calls), turn("I could not.")) as it:
        await it.ended((await it.start("Remember both")).run_id)
        private, secret = sorted(told_last(it.model.requests[1]), key=lambda text: "key" in text)
        assert "private" in private
        assert "secret" in secret
        assert "correct-horse" not in secret
        assert (await listed(it, "person"), await listed(it, "project")) == ([], [])


async def test_a_shared_thread_recalls_its_projects_memories_and_never_a_persons(db: Database, tmp_path: Path) -> None:
    turns = [
        turn("", remember("Graz is where I live"), remember("Graz is our market", for_everyone=True)),
        turn("Noted."),
        turn("", Call("recall", {"query": "Graz"})),
        turn("Your market."),
        turn("", Call("recall", {"query": "Graz"})),
        turn("You live there."),
    ]
    async with remembering(db, tmp_path, *turns) as private:
        it = await shared(private)
        await it.ended((await it.start("Two facts")).run_id)
        assert sorted(told_last(it.model.requests[1])) == sorted([OWN, SHARED])
        await it.ended((await it.start("Where?")).run_id)
        (found,) = told_last(it.model.requests[3])
        assert "our market" in found
        assert "where I live" not in found
        assert "where I live" not in it.model.requests[3].system
        await private.ended((await private.start("Where?")).run_id)
        (found,) = told_last(it.model.requests[5])
        assert "where I live" in found
        assert "our market" not in found
        assert "where I live" in it.model.requests[5].system


async def test_a_member_who_joins_ends_the_use_of_personal_memories(db: Database, tmp_path: Path) -> None:
    turns = turn("", remember("I like tea")), turn("Noted."), turn("", Call("recall", {"query": "zebra"})), turn("No.")
    async with remembering(db, tmp_path, *turns) as it:
        await it.ended((await it.start("Tea")).run_id)
        await it.ended((await it.start("Again")).run_id)
        assert "I like tea" in it.model.requests[2].system
        assert told_last(it.model.requests[3]) == [NOTHING]
        guest = await db.write(make_user, "Gus")
        await db.write(join, it.project_id, guest, "viewer")
        it.model.add(turn("Hi."))
        await it.ended((await it.start("And now?")).run_id)
        assert "I like tea" not in it.model.requests[4].system


async def test_each_run_leaves_a_line_that_later_runs_of_the_project_recall(db: Database, tmp_path: Path) -> None:
    turns = (
        turn("Two invoices are open. The rest is paid."),
        turn("", Call("recall", {"query": "invoices"})),
        turn("Two."),
    )
    async with remembering(db, tmp_path, *turns) as it:
        started = await it.start("Check the invoices")
        await it.ended(started.run_id)
        line = '"Check the invoices" → Two invoices are open.'
        assert await db.read(store.summaries_of_runs, [started.run_id]) == {started.run_id: line}
        other = await db.write(make_thread, it.project_id, it.owner)
        await it.ended((await it.start("What did you find?", target=other)).run_id)
        assert "Two invoices are open." in told_last(it.model.requests[2])[0]
        assert (await listed(it, "run"))[-1] == line


async def test_a_run_has_neither_tools_nor_text_nor_line_where_its_user_turned_memory_off(
    db: Database, tmp_path: Path
) -> None:
    async with remembering(db, tmp_path, turn("", remember("I like tea")), turn("Hello.")) as it:
        await actions.change_switches(it.services, it.owner, it.project_id, project=None, person=False)
        started = await it.start("Hello")
        await it.ended(started.run_id)
        assert (it.model.requests[0].tools, it.model.requests[0].system) == ((), "You help.")
        assert "Memory is off" in told_last(it.model.requests[1])[0]
        assert await db.read(store.summaries_of_runs, [started.run_id]) == {}


async def test_a_server_without_memory_leaves_no_line(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Hello.")], settings=OFF) as it:
        started = await it.start("Hello")
        await it.ended(started.run_id)
        assert await db.read(store.summaries_of_runs, [started.run_id]) == {}
