"""The files of a run: kept after each call that changed them, given to a fork as they were at its message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import Forbidden, NotFound, PathRefused
from outlast.db.database import Database
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.models.protocol import ModelRequest, ToolResultPiece
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.actions import list_files, read_file
from outlast.kernel.sandboxes.checkpoints import actions
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.services import SandboxServices
from outlast.kernel.threads.actions import fork_thread, list_messages
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from outlast_sandbox.interface import Capabilities
from outlast_sandbox.providers.memory import MemoryProvider
from tests.factories import join, make_user
from tests.flow.harness import Stage, stage

SANDBOX = SandboxSettings(command_timeout_s=60, output_bytes=10_000)

ELSEWHERE = Capabilities(pause=True, reattach=True)


def next_turn(request: ModelRequest) -> Turn:
    """Write what the message says ("write a.txt: one, then b.txt: two"), then say so; or read a.txt."""
    asked = request.system.rsplit("\n", 1)[-1]
    done = sum(1 for message in request.messages if message.role == "assistant")
    if asked == "read":
        return turn(Call("read_files", {"paths": ["a.txt"]})) if not done else turn("Read.")
    files = [step.split(": ") for step in asked.removeprefix("write ").split(", then ")]
    if done == len(files):
        return turn("Written.")
    path, content = files[done]
    return turn(Call("create_or_update_files", {"files": [{"path": path, "content": content}]}))


@asynccontextmanager
async def house(db: Database, folder: Path) -> AsyncIterator[tuple[Stage, MemoryProvider]]:
    """A stage whose tools write into sandboxes in memory, whose files a keeper keeps."""
    async with MemoryProvider(capabilities=ELSEWHERE) as provider:
        clock, settings = SystemClock(), SandboxSettings()
        machines = SandboxManager(db, provider, clock, settings, folder / "machines")
        rooms = Workspaces(db, machines)
        tools = (write_files_tool(rooms), read_files_tool(rooms), terminal_tool(rooms, SANDBOX))
        async with stage(db, folder, ScriptedModel(next_turn), *tools, working=False) as it:
            blobs = it.services.blobs
            keeper = CheckpointKeeper(
                db, blobs, clock, settings, folder, node_id="local", local=False, find=machines.find
            )
            machines.lives.files = keeper
            it.services = replace(
                it.services,
                engine=replace(it.services.engine, files=keeper),
                sandboxes=SandboxServices(manager=machines, checkpoints=keeper),
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(Worker(it.services.engine).run)
                tasks.start_soon(keeper.run)
                yield it, provider
                tasks.cancel_scope.cancel()
        await machines.aclose()


async def test_a_fork_goes_on_with_the_files_as_they_were_at_its_message(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path) as (it, _):
        for text in ("write a.txt: one, then b.txt: both", "write a.txt: two"):
            assert await it.ended((await it.start(text)).run_id) == "completed"
        first = (await it.messages())[1]
        fork = await fork_thread(it.services, it.owner, it.thread_id, first.id)
        await it.ended((await it.start("read", target=fork.id)).run_id)
        (read,) = it.model.requests[-1].messages[-1].pieces
        assert isinstance(read, ToolResultPiece)
        assert '"one"' in read.content
        kept = await actions.list_of_thread(it.services, it.owner, fork.id)
        assert [one.reason for one in kept.items] == ["fork"]
        again = await fork_thread(it.services, it.owner, fork.id)  # a fork of the fork has them too
        last = (await list_messages(it.services, it.owner, again.id)).items[-1]
        kept = await actions.list_of_thread(it.services, it.owner, again.id)
        assert kept.items[0].message_id is not None
        assert last.thread_id == again.id


async def test_each_answer_shows_what_it_changed_and_can_be_brought_back(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path) as (it, _):
        for text in ("write a.txt: one, then b.txt: both", "write a.txt: two"):
            await it.ended((await it.start(text)).run_id)
        answers = [message.id for message in (await it.messages()) if message.role == "assistant"]
        kept = (await actions.list_of_thread(it.services, it.owner, it.thread_id)).items
        mine = {one.message_id: one for one in kept if one.message_id is not None}
        assert set(mine) == set(answers)
        changed = await actions.compare(it.services, it.owner, mine[answers[0]].id)
        assert [(one.path, one.change) for one in changed.changes] == [("a.txt", "added"), ("b.txt", "added")]
        changed = await actions.compare(it.services, it.owner, mine[answers[1]].id)
        (only,) = changed.changes
        assert (only.path, only.change) == ("a.txt", "changed")
        assert only.diff is not None
        assert "-one" in only.diff
        back = await actions.compare(it.services, it.owner, mine[answers[1]].id, mine[answers[0]].id)
        assert [one.change for one in back.changes] == ["changed"]
        await actions.restore(it.services, it.owner, mine[answers[0]].id)
        await it.ended((await it.start("read")).run_id)
        (read,) = it.model.requests[-1].messages[-1].pieces
        assert isinstance(read, ToolResultPiece)
        assert '"one"' in read.content


async def test_the_files_of_a_sandbox_that_sleeps_are_read_without_waking_it(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path) as (it, provider):
        await it.ended((await it.start("write src/a.txt: one")).run_id)
        machines, services = it.services.sandboxes.manager, it.services
        assert machines is not None
        sandbox_id = provider.created[-1]
        thread = await actions.list_of_thread(services, it.owner, it.thread_id)
        await machines.kill(thread.items[0].workspace_id)
        shown = await list_files(services, it.owner, sandbox_id)
        assert [entry.path for entry in shown] == ["src", "src/a.txt"]
        assert await read_file(services, it.owner, sandbox_id, "src/a.txt") == b"one"
        with pytest.raises(NotFound):
            await read_file(services, it.owner, sandbox_id, "src/b.txt")
        for path in ("../secret", "/etc/passwd", "src"):
            with pytest.raises(PathRefused):
                await read_file(services, it.owner, sandbox_id, path)
        assert provider.created == [sandbox_id]


async def test_a_viewer_looks_and_does_not_restore(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path) as (it, _):
        await it.ended((await it.start("write a.txt: one")).run_id)
        viewer = await db.write(make_user, "Vera")
        await db.write(join, it.project_id, viewer, "viewer")
        (kept,) = (await actions.list_of_thread(it.services, viewer, it.thread_id)).items
        assert (await actions.read_checkpoint(it.services, viewer, kept.id)).entries[0].path == "a.txt"
        assert await actions.read_kept_file(it.services, viewer, kept.id, "a.txt") == b"one"
        with pytest.raises(Forbidden):
            await actions.restore(it.services, viewer, kept.id)
