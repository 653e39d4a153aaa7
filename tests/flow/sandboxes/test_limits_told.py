"""An agent that runs into a limit of its sandbox is told which one, how large it is and what to do; then it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.agents.tools.files import write_files_tool
from outlast.kernel.agents.tools.run_code import run_code_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.models.protocol import ToolResultPiece
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.testing.scripted_model import Call, turn
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.flow.harness import stage

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
SETTINGS = SandboxSettings(memory_mb=256, processes=64, disk_mb=32, command_timeout_s=40)
MEMORY = "x = []\nwhile True: x.append(bytearray(10_000_000))"
DISK = "i=0; while true; do i=$((i + 1)); head -c 4M /dev/zero > part$i.bin; sleep 0.02; done"
PROCESSES = "import subprocess as s\nfor _ in range(200): s.Popen(['sleep', '1000'])"
FORKS = "dash -c 'while true; do sleep 1000 & done'; dash -c 'ls | cat'"
CASES = [
    (Call("terminal", {"command": f"python3 -c '{MEMORY}'"}), "all processes in the sandbox may use 256 MiB"),
    (Call("terminal", {"command": "sleep 100", "timeout_s": 0.5}), "its time limit. A command may take at most 40 s"),
    (Call("terminal", {"command": "seq 100000"}), "the middle of the output was omitted"),
    (Call("run_code", {"code": MEMORY, "language": "python"}), "out of memory: the python session ended"),
    (Call("run_code", {"code": "while True: pass", "language": "python", "timeout_s": 0.5}), "stopped after 0.5 s"),
    (Call("run_code", {"code": PROCESSES, "language": "python"}), "no more processes could be started"),
    (Call("terminal", {"command": FORKS}), "the sandbox may have 64 processes and threads"),
    (Call("terminal", {"command": DISK}), "the workspace is full; it may hold 32 MiB"),
    (Call("create_or_update_files", {"files": [{"path": "a.txt", "content": "more"}]}), " MiB of 32 MiB"),
    (Call("terminal", {"command": "rm part*.bin; echo alive"}), "alive\n[exit code 0]"),
]  # fmt: skip


@pytest.fixture
async def one(sqlite_url: str, tmp_path: Path) -> Database:
    return open_database(sqlite_url, tmp_path, SystemClock())


async def test_each_limit_is_told_in_words_and_the_agent_goes_on(
    one: Database, tmp_path: Path, local: LocalProvider
) -> None:
    machines = SandboxManager(one, local, SystemClock(), SETTINGS, tmp_path)
    rooms = Workspaces(one, machines)
    tools = (terminal_tool(rooms, SETTINGS), run_code_tool(rooms, 20_000), write_files_tool(rooms))
    turns = [*(turn(call) for call, _ in CASES), turn("Done.")]
    async with stage(one, tmp_path, turns, *tools) as it:
        started = await it.start("Try the limits")
        assert await it.ended(started.run_id) == "completed"
        for number, (call, words) in enumerate(CASES, start=1):
            (piece,) = it.model.requests[number].messages[-1].pieces
            assert isinstance(piece, ToolResultPiece)
            assert words in piece.content, (call, piece.content[-1000:])
    await machines.aclose()
    await one.aclose()
