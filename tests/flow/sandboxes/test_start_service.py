"""An agent starts a dev server with `start_service`: it comes back once it answers, or says why it does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.kernel.agents.tools.start_service import start_service_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.logs import ServiceLogs
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.settings import Settings
from outlast.testing.scripted_model import Call, Turn, turn
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.flow.harness import Stage, stage, told

SANDBOX = SandboxSettings(command_timeout_s=60, output_bytes=10_000)

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
SERVE = 'echo serving; exec python3 -u -m http.server --bind 127.0.0.1 "$PORT"'
WEB = Call("start_service", {"name": "web", "command": SERVE, "port": 3000, "health_path": "/"})
LOOK = Call(
    "terminal",
    {"command": "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:3000').status)\""},
)


@asynccontextmanager
async def at_work(
    sqlite_url: str, folder: Path, local: LocalProvider, turns: list[Turn], settings: Settings | None = None
) -> AsyncIterator[Stage]:
    db = open_database(sqlite_url, folder, SystemClock())
    sandbox = SandboxSettings(memory_mb=512, processes=128, disk_mb=64)
    machines = SandboxManager(db, local, SystemClock(), sandbox, folder)
    keeper = ServiceKeeper(db, SystemClock(), ServiceLogs(folder / "services"), find=machines.find)
    machines.attend(keeper)
    rooms = Workspaces(db, machines)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        await tasks.start(keeper.run)
        tools = (start_service_tool(rooms, keeper), terminal_tool(rooms, SANDBOX))
        async with stage(db, folder, turns, *tools, settings=settings) as it:
            yield it
        tasks.cancel_scope.cancel()
    await machines.aclose()
    await db.aclose()


async def test_it_comes_back_once_the_service_answers_and_the_next_call_reaches_it(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    turns = [turn(WEB), turn(LOOK), turn(WEB), turn("It runs.")]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        started = await it.start("Serve the folder")
        assert await it.ended(started.run_id) == "completed"
        (up,) = told(it.model.requests[1].messages[-1])
        assert up.startswith("The service web is up and answers on port 3000 inside the sandbox.")
        assert "serving" in up
        assert told(it.model.requests[2].messages[-1]) == ["200\n[exit code 0]"]
        (again,) = told(it.model.requests[3].messages[-1])
        assert "is up" in again
        assert again.count("serving") == 1, "declared again, it is left running"


async def test_one_that_cannot_run_is_told_with_the_end_of_its_output(
    sqlite_url: str, tmp_path: Path, local: LocalProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outlast.kernel.sandboxes.services.rules.DELAYS_S", (0.01,))
    bad = {"name": "web", "command": "echo no module named flask >&2; exit 1", "port": 3000}
    async with at_work(sqlite_url, tmp_path, local, [turn(Call("start_service", bad)), turn("It does not run.")]) as it:
        started = await it.start("Serve the folder")
        assert await it.ended(started.run_id) == "completed"
        (failed,) = told(it.model.requests[1].messages[-1])
        assert failed.startswith("The service web failed and is not started again. It ended with exit code 1.")
        assert "no module named flask" in failed


async def test_a_service_that_runs_but_does_not_answer_is_ended_and_said_to_be_mute(
    sqlite_url: str, tmp_path: Path, local: LocalProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outlast.kernel.sandboxes.services.rules.DELAYS_S", (0.01,))
    monkeypatch.setattr("outlast.kernel.sandboxes.services.rules.MAX_FAILURES", 1)
    monkeypatch.setattr("outlast.kernel.sandboxes.services.keeper.START_S", 0.5)
    mute = {"name": "web", "command": "echo sleeping; sleep 1000", "port": 3000}
    count = Call("terminal", {"command": "pgrep -c sleep"})
    turns = [turn(Call("start_service", mute)), turn(count), turn("It does not answer.")]
    async with at_work(sqlite_url, tmp_path, local, turns) as it:
        started = await it.start("Serve the folder")
        assert await it.ended(started.run_id) == "completed"
        (failed,) = told(it.model.requests[1].messages[-1])
        assert "It did not answer within" in failed
        (left,) = told(it.model.requests[2].messages[-1])
        assert left.startswith("0\n"), "nothing of it is left running"


async def test_arguments_that_cannot_work_are_refused_before_anything_starts(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    bad = Call("start_service", {"name": "Web Server", "command": SERVE, "port": 3000})
    async with at_work(sqlite_url, tmp_path, local, [turn(bad), turn("So not.")]) as it:
        started = await it.start("Serve the folder")
        assert await it.ended(started.run_id) == "completed"
        (refused,) = told(it.model.requests[1].messages[-1])
        assert "name must be 1 to 40 lower-case letters" in refused
        assert await local.list_refs() == []


async def test_a_policy_decides_about_it_as_about_other_tools(
    sqlite_url: str, tmp_path: Path, local: LocalProvider
) -> None:
    denied = Settings(policy=(PolicyRule(tool="start_service", decision="deny"),))
    async with at_work(sqlite_url, tmp_path, local, [turn(WEB), turn("So not.")], denied) as it:
        started = await it.start("Serve the folder")
        assert await it.ended(started.run_id) == "completed"
        assert await local.list_refs() == []
