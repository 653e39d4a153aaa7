"""Agents that speak the Agent Client Protocol, in a real sandbox: shown, asked about and resumed as ours are."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from outlast import acp_agent
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.database import Database
from outlast.kernel.runs import leases
from outlast.kernel.runs.actions import cancel_run, continue_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.sweeper import SandboxSteps, Sweeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel
from outlast_sandbox.interactive import ProcessSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage
from tests.flow.runs.test_function_sandbox import at_work

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(120)]
SCRIPT = (Path(__file__).parents[1] / "acp_script.py").read_text()
COMMAND = shlex.join(["python3", "-u", "-c", SCRIPT])


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """What differs between databases lies in the journal, which others test on both."""
    return sqlite_url


@dataclass
class Works(Stage):
    manager: SandboxManager
    local: LocalProvider
    folder: Path

    def file(self, name: str) -> str:
        """A file of the thread's workspace; empty if there is none."""
        found = [path for path in self.folder.glob(f"machines/**/{name}") if path.is_file()]
        return found[0].read_text() if found else ""

    async def when(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        """Wait for what other processes do: there is nothing to wait for it with."""
        while True:
            if await is_so():
                return
            await anyio.sleep(0.02)

    async def has_done(self, line: str) -> None:
        """Wait until the agent has done this."""

        async def is_done() -> bool:
            return line in self.file("done").splitlines()

        await self.when(is_done)

    async def has_shown(self, run_id: str, name: str, count: int) -> None:
        """Wait for that many events of this name."""

        async def is_shown() -> bool:
            return len(await self.shown(run_id, name)) >= count

        await self.when(is_shown)

    def put(self, name: str) -> None:
        (next(self.folder.glob("machines/**/done")).parent / name).touch()

    async def shown(self, run_id: str, name: str) -> list[dict[str, Any]]:
        lines = [orjson.loads(body) for _, body in await self.services.db.read(read_all, run_id)]
        return [line["data"] for line in lines if line["event"] == name]

    async def approval(self, run_id: str, number: int = 0) -> dict[str, Any]:
        """The approval of that number, once the run waits for it as a row."""
        await self.has_shown(run_id, "approval.requested", number + 1)
        await self.when(partial(self.is_parked, run_id))
        asked = await self.shown(run_id, "approval.requested")
        return asked[number]["approval"]

    async def is_parked(self, run_id: str) -> bool:
        return (await self.services.db.read(run_of, run_id)).leg == "parked"

    async def text(self) -> str:
        return "".join(part.text for part in (await self.messages())[-1].parts if part.type == "text")

    async def end_sandboxes(self) -> None:
        for sandbox_id, ref in await self.local.list_refs():
            await (await self.local.connect(sandbox_id, ref)).kill()


@asynccontextmanager
async def works(
    db: Database, folder: Path, local: LocalProvider, settings: Settings | None = None, **options: Any
) -> AsyncIterator[Works]:
    agent = acp_agent("chat", options.pop("command", COMMAND), **options)
    manager = SandboxManager(db, local, SystemClock(), SandboxSettings(memory_mb=512), folder / "machines")
    model = ScriptedModel([])
    services = make_services(db, folder, settings, agents=[agent], catalog=ScriptedCatalog(model), manager=manager)
    owner = await db.write(make_user)
    project_id = await db.write(make_project, owner)
    thread_id = await db.write(make_thread, project_id, owner)
    with anyio.fail_after(30):
        yield Works(services, model, owner, project_id, thread_id, manager, local, folder)
    await manager.aclose()


async def test_what_it_says_and_does_is_shown_and_its_permission_is_an_approval_that_parks_the_run(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("write, unknown method")).run_id
        asked = await it.approval(run_id)
        assert (asked["tool"], asked["reason"]) == ("edit", "The agent asks: Write note.txt")
        assert orjson.loads(asked["arguments"]) == {"path": "note.txt", "content": "Text of note.txt"}
        assert it.file("note.txt") == ""
        await decide_approval(it.services, it.owner, asked["id"], "approve")
        assert await it.ended(run_id) == "completed"
        assert it.file("done").splitlines() == ["write note.txt"]
        (result,) = await it.shown(run_id, "tool_call.result")
        assert (result["status"], "+Text of note.txt" in result["result"]) == ("done", True)
        parts = [(part.type, getattr(part, "text", "")) for part in (await it.messages())[-1].parts]
        assert [kind for kind, _ in parts if kind != "notice"] == ["reasoning", "text", "tool_call", "text"]
        assert [text for kind, text in parts if kind == "text"] == ["On it.", "Written."]
        steps = [(one["name"], one["status"]) for one in await it.shown(run_id, "workflow.step")]
        assert steps[:2] == [("Look", "done"), ("Write", "started")]
        usage = (await it.shown(run_id, "run.completed"))[0]["usage"]
        assert [usage[f"{name}_tokens"] for name in ("input", "output", "cached", "reasoning")] == [150, 25, 50, 5]


async def test_a_rejected_call_is_not_made_and_each_permission_is_asked_for_once(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("write twice")).run_id
        await decide_approval(it.services, it.owner, (await it.approval(run_id))["id"], "deny", reason="Not here")
        second = await it.approval(run_id, 1)
        changed = {"path": "else.txt", "content": "x"}
        await decide_approval(it.services, it.owner, second["id"], "approve", arguments=changed)
        assert await it.ended(run_id) == "completed"
        assert it.file("done") == ""
        assert [one["status"] for one in await it.shown(run_id, "tool_call.result")] == ["denied", "error"]
        assert await it.text() == "On it.Not written. No more."
        notices = [part.text for part in (await it.messages())[-1].parts if part.type == "notice"]
        assert "takes no changed arguments" in notices[0]


async def test_rules_decide_before_people_and_a_decision_for_the_thread_lasts(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    rules = (
        PolicyRule(tool="edit", arguments="*more.txt*", decision="deny"),
        PolicyRule(tool="execute", decision="allow"),
    )
    async with works(db, tmp_path, local, Settings(policy=rules)) as it, at_work(it):
        run_id = (await it.start("write twice")).run_id
        await decide_approval(it.services, it.owner, (await it.approval(run_id))["id"], "approve", remember="thread")
        assert await it.ended(run_id) == "completed"
        assert await it.ended((await it.start("write")).run_id) == "completed"
        assert it.file("done").splitlines() == ["write note.txt", "write note.txt"]


async def test_the_next_message_continues_its_session(db: Database, tmp_path: Path, local: LocalProvider) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        await it.ended((await it.start("First")).run_id)
        await it.end_sandboxes()
        await it.ended((await it.start("remember")).run_id)
        assert await it.text() == "First | remember"


async def test_an_agent_that_cannot_load_sessions_reads_the_conversation(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local, env={"LOADS": "no"}) as it, at_work(it):
        await it.ended((await it.start("First")).run_id)
        await it.ended((await it.start("remember")).run_id)
        assert "Person: First\n\nYou: On it." in await it.text()


async def test_a_server_that_is_killed_finds_the_agent_at_work_and_misses_nothing_that_it_said(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it:
        async with at_work(it):
            run_id = (await it.start("wait, write")).run_id
            await it.has_done("wait begins")
            await it.until(run_id, "tool_call.arguments.delta", "part.completed")
        it.put("go")  # no server is there: it works on until it needs a person
        await it.has_done("wait ends")
        await it.services.db.write(leases.free_lapsed, everything=True)
        async with at_work(it):
            asked = await it.approval(run_id)
        async with at_work(it):
            await decide_approval(it.services, it.owner, asked["id"], "approve")
            assert await it.ended(run_id) == "completed"
        assert it.file("done").splitlines() == ["wait begins", "wait ends", "write note.txt"]
        first, _ = await it.shown(run_id, "tool_call.result")
        assert first["result"] == "waited"
        assert await it.text() == "On it.Written."


async def test_a_sandbox_that_is_lost_while_a_person_decides_gets_the_decision_after_its_session_is_loaded(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("write")).run_id
        asked = await it.approval(run_id)
        await it.end_sandboxes()
        await decide_approval(it.services, it.owner, asked["id"], "approve")
        assert await it.ended(run_id) == "completed"
        assert it.file("done").splitlines() == ["write note.txt"], "allowed once: it is not asked about again"
        assert len(await it.shown(run_id, "approval.requested")) == 1
        assert await it.text() == "On it.I was interrupted. Written."


async def test_a_sandbox_that_is_lost_at_work_is_replaced_and_the_call_in_it_is_not_repeated_silently(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("wait, sleep")).run_id
        await it.has_done("wait begins")
        await it.has_shown(run_id, "step.completed", 2)
        await it.end_sandboxes()
        assert await it.ended(run_id) == "completed"
        (result,) = await it.shown(run_id, "tool_call.result")
        assert (result["status"], "may have taken effect" in result["result"]) == ("error", True)
        assert "I was interrupted" in await it.text()


async def test_without_sessions_to_load_a_lost_sandbox_ends_the_run_with_what_to_do(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local, env={"LOADS": "no"}) as it, at_work(it):
        run_id = (await it.start("wait")).run_id
        await it.has_done("wait begins")
        await it.end_sandboxes()
        assert await it.ended(run_id) == "error"
        error = (await it.shown(run_id, "run.error"))[0]["error"]
        assert (error["code"], "cannot load its sessions" in error["message"]) == ("guest_failed", True)


async def test_cancel_stops_the_agent_and_ends_its_process(db: Database, tmp_path: Path, local: LocalProvider) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("wait")).run_id
        await it.has_done("wait begins")
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        assert it.file("done").splitlines() == ["wait begins", "cancelled"]
        ((sandbox_id, ref),) = await local.list_refs()
        assert await (await local.connect(sandbox_id, ref)).processes.list() == []


async def test_a_run_that_is_cancelled_while_it_is_parked_leaves_no_process(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it:
        async with at_work(it):
            run_id = (await it.start("write")).run_id
            await it.approval(run_id)
        ((sandbox_id, ref),) = await local.list_refs()
        processes = (await local.connect(sandbox_id, ref)).processes
        other = await processes.start(ProcessSpec(("sleep", "60"), tag=f"acp {new_id('effect')} 0"))
        assert len(await processes.list()) == 2
        await cancel_run(it.services, it.owner, run_id)
        steps = SandboxSteps(it.manager.freeze, it.manager.thaw, it.manager.kill, it.manager.stop_commands)
        async with anyio.create_task_group() as group:
            group.start_soon(Sweeper(it.services.engine, steps).run)

            async def is_alone() -> bool:
                return [one.pid for one in await processes.list()] == [other.pid]

            await it.when(is_alone)
            group.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("command", "told"),
    [(COMMAND, "exit code 3. no more memory"), ("no-such-program", "no-such-program: No such file"), ("cat", "")],
)
async def test_a_program_that_fails_ends_the_run_with_what_it_said(
    db: Database, tmp_path: Path, local: LocalProvider, command: str, told: str
) -> None:
    async with works(db, tmp_path, local, command=command) as it, at_work(it):
        run_id = (await it.start("exit")).run_id
        assert await it.ended(run_id) == "error"
        error = (await it.shown(run_id, "run.error"))[0]["error"]
        assert (error["code"], told in error["message"]) == ("guest_failed", True)


async def test_continue_loads_the_session_of_a_run_that_failed(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("exit, sleep")).run_id
        await it.ended(run_id)
        again = (await continue_run(it.services, it.owner, run_id)).run_id
        assert await it.ended(again) == "completed"
        assert "I was interrupted" in await it.text()


async def test_more_than_a_server_keeps_is_recorded_in_pieces_and_shown_in_part(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("flood")).run_id
        assert await it.ended(run_id) == "completed"
        parts = [part for part in (await it.messages())[-1].parts if part.type == "tool_call"]
        calls = Counter(part.step for part in parts)
        assert (sum(calls.values()), max(calls.values())) == (150, 128)
        assert len(await it.shown(run_id, "workflow.step")) == 500
        results = {one["call_id"]: one["result"] for one in await it.shown(run_id, "tool_call.result")}
        assert results["many-1"] == "x" * 60_000


async def test_lines_that_are_none_of_the_relays_end_the_run(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("forge")).run_id
        assert await it.ended(run_id) == "error"
        error = (await it.shown(run_id, "run.error"))[0]["error"]
        assert (error["code"], "none of its relay's" in error["message"]) == ("guest_failed", True)
