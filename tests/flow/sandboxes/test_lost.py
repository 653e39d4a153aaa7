"""A real sandbox dies under a run's command: the run is told, gets a new one over the same files, and completes."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.testing.scripted_model import Call, turn
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import State
from tests.flow.harness import noted, stage, told_last

SANDBOX = SandboxSettings(command_timeout_s=60, output_bytes=10_000)

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
TURNS = [
    turn(Call("create_or_update_files", {"files": [{"path": "plan.txt", "content": "kept"}]})),
    turn(Call("terminal", {"command": "echo begun; sleep 1000"})),
    turn(Call("read_files", {"paths": ["plan.txt"]})),
    turn("Done."),
]


def kill_shim(state: State) -> None:
    os.kill(state.pid, signal.SIGKILL)
    kill_inside(state)


def kill_inside(state: State) -> None:
    """Everything in the sandbox, its agent first among them."""
    for pid in state.group.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "kill", [pytest.param(kill_shim, id="its shim too"), pytest.param(kill_inside, id="its agent")]
)
async def test_a_run_whose_sandbox_dies_under_a_command_goes_on_in_a_new_one_with_its_files(
    sqlite_url: str, tmp_path: Path, local: LocalProvider, kill: Callable[[State], None]
) -> None:
    db = open_database(sqlite_url, tmp_path, SystemClock())
    settings = SandboxSettings(memory_mb=512, processes=128, disk_mb=64)
    machines = SandboxManager(db, local, SystemClock(), settings, tmp_path)
    rooms = Workspaces(db, machines)
    tools = (write_files_tool(rooms), read_files_tool(rooms), terminal_tool(rooms, SANDBOX))
    async with stage(db, tmp_path, list(TURNS), *tools) as it:
        started = await it.start("Work")
        await it.until(started.run_id, "tool_call.output.delta")
        ((sandbox_id, _),) = await local.list_refs()
        state = State.read(local.state_dir / sandbox_id)
        assert state is not None
        kill(state)
        assert await it.ended(started.run_id) == "completed"
        (cut,) = told_last(it.model.requests[2])
        assert "The sandbox was lost while terminal ran" in cut
        (read,) = told_last(it.model.requests[3])
        assert "kept" in read
        (note,) = noted(it.model.requests[3])
        assert "started with the same files" in note
        events = [event["event"] for event in await it.events(started.run_id)]
        assert events.count("context.lost") == 1
        answer = (await it.messages())[-1]
        assert [part.code for part in answer.parts if part.type == "notice"] == ["context_lost"]
        ((new_id, _),) = await local.list_refs()
        assert new_id != sandbox_id
    await machines.aclose()
    await db.aclose()
