"""A run waits for an approval while its sandbox falls asleep step by step and the server restarts; the decision brings
both back, with the files. With every provider that can pause, all but one real; the clock is the test's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.run_code import run_code_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.actions import read_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.sweeper import SandboxSteps, Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.actions import list_sandboxes, pause_idle, pause_sandbox, resume_sandbox
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import reconcile
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.clock import ManualClock
from outlast.testing.scripted_model import Call, ScriptedModel, turn
from outlast_sandbox.interface import SandboxProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage, noted, told_last

SANDBOX = SandboxSettings(command_timeout_s=60, output_bytes=10_000)

pytestmark = [pytest.mark.needs("pause"), pytest.mark.timeout(180)]
MINUTE, HOUR = 60.0, 3600.0
SETTINGS = Settings(
    policy=(PolicyRule(tool="terminal", arguments="*rm -rf*", decision="ask"),),
    sandbox=SandboxSettings(memory_mb=512, processes=128, disk_mb=64),
)
TURNS = [
    turn(
        Call("create_or_update_files", {"files": [{"path": "plan.txt", "content": "kept"}]}),
        Call("run_code", {"code": "x = 41", "language": "python"}),
    ),
    turn("May I?", Call("terminal", {"command": "rm -rf build; cat plan.txt"})),
    turn(Call("run_code", {"code": "'x' in globals()", "language": "python"})),
    turn("Done."),
]


@dataclass
class Life:
    """One life of the server."""

    it: Stage
    machines: SandboxManager
    sweeper: Sweeper

    async def clocks(self, run_id: str) -> list[str]:
        details = await read_run(self.it.services, self.it.owner, run_id)
        return [clock.name for clock in details.clocks]

    async def status(self, run_id: str) -> str:
        summary = await read_run(self.it.services, self.it.owner, run_id)
        return summary.status

    async def state(self) -> str | None:
        """`ready`, `paused frozen` and the like; None once there is none."""
        found = await list_sandboxes(self.it.services, self.it.owner, self.it.project_id)
        return " ".join(filter(None, (found[0].state, found[0].pause_kind))) if found else None


class House:
    """What outlives the server: database, files, sandboxes, and the clock."""

    def __init__(self, url: str, folder: Path, provider: SandboxProvider) -> None:
        self.url, self.folder, self.provider = url, folder, provider
        self.clock = ManualClock()
        self.model = ScriptedModel(TURNS)
        self.names: tuple[Actor, str, str] | None = None

    @asynccontextmanager
    async def server(self) -> AsyncIterator[Life]:
        db = open_database(self.url, self.folder, self.clock)
        assert SETTINGS.sandbox is not None
        machines = SandboxManager(db, self.provider, self.clock, SETTINGS.sandbox, self.folder)
        keeper = CheckpointKeeper(
            db,
            FolderBlobs(self.folder / "blobs"),
            self.clock,
            SETTINGS.sandbox,
            self.folder,
            node_id="local",
            local=self.provider.capabilities.volume,
            find=machines.find,
        )
        machines.lives.files = keeper
        rooms = Workspaces(db, machines)
        tools = (
            write_files_tool(rooms),
            read_files_tool(rooms),
            terminal_tool(rooms, SANDBOX),
            run_code_tool(rooms, 10_000),
        )
        steps = SandboxSteps(machines.freeze, machines.thaw, machines.kill, machines.stop_commands)
        services = make_services(
            db,
            self.folder,
            SETTINGS,
            clock=self.clock,
            catalog=ScriptedCatalog(self.model),
            agents=[FakeAgent(*tools)],
            steps=steps,
            manager=machines,
        )
        if self.names is None:
            owner = await db.write(make_user)
            project_id = await db.write(make_project, owner)
            self.names = owner, project_id, await db.write(make_thread, project_id, owner)
        await reconcile(machines)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(db.background)
            tasks.start_soon(Worker(services.engine).run)
            with anyio.fail_after(90):
                yield Life(Stage(services, self.model, *self.names), machines, Sweeper(services.engine, steps))
            tasks.cancel_scope.cancel()
        await machines.aclose()
        await db.aclose()

    async def pass_time(self, life: Life, seconds: float) -> None:
        """So much later, timers and idle clocks have done their work."""
        self.clock.advance(seconds)
        await life.sweeper.sweep()
        await pause_idle(life.it.services)


@pytest.fixture
def house(sqlite_url: str, tmp_path: Path, provider: SandboxProvider) -> House:
    return House(sqlite_url, tmp_path, provider)


async def parked(life: Life) -> tuple[str, str]:
    """A run that has used its sandbox and waits: (run id, approval id)."""
    started = await life.it.start("Clean up")
    approval = (await life.it.until(started.run_id, "approval.requested"))["data"]["approval"]
    await life.it.until_status(started.run_id, "awaiting_approval")
    return started.run_id, approval["id"]


async def test_a_run_waiting_for_approval_goes_through_pause_kill_restart_and_approval_with_its_files(
    house: House,
) -> None:
    async with house.server() as life:
        run_id, approval_id = await parked(life)
        assert await life.state() == "ready"
        assert await life.clocks(run_id) == ["approval_pause", "sandbox_stop", "sandbox_kill"]
        await house.pass_time(life, 5 * MINUTE)
        assert (await life.status(run_id), await life.state()) == ("paused", "paused frozen")
        assert await life.clocks(run_id) == ["paused_kill", "sandbox_stop"]
        await house.pass_time(life, 25 * MINUTE)
        assert (await life.status(run_id), await life.state()) == ("paused", "paused stopped")
        await house.pass_time(life, 24 * HOUR)
        assert (await life.status(run_id), await life.state()) == ("paused", None)
        assert await house.provider.list_refs() == []
    async with house.server() as life:
        assert await life.status(run_id) == "paused"
        await house.pass_time(life, 24 * HOUR)
        await decide_approval(life.it.services, life.it.owner, approval_id, "approve")
        assert await life.it.ended(run_id) == "completed"
        (removed,) = told_last(house.model.requests[2])
        assert "kept" in removed
        (note,) = noted(house.model.requests[2])
        assert "earlier processes and variables are gone" in note, "the model knows that its variables are gone"
        (asked,) = told_last(house.model.requests[3])
        assert '"result": false' in asked
        assert noted(house.model.requests[3]) == [note], "it is told once"
        answer = (await life.it.messages())[-1]
        assert answer.status == "complete"
        assert [part.code for part in answer.parts if part.type == "notice"] == ["context_lost"]


@pytest.mark.parametrize(
    ("after_s", "state", "memory_stays"),
    [
        pytest.param(5 * MINUTE, "paused frozen", True, id="frozen"),
        pytest.param(31 * MINUTE, "paused stopped", False, id="stopped"),
    ],
)
async def test_the_next_server_finds_the_sleeping_sandbox_again_and_the_decision_wakes_it(
    house: House, after_s: float, state: str, memory_stays: bool
) -> None:
    async with house.server() as life:
        run_id, approval_id = await parked(life)
        await house.pass_time(life, after_s)
        assert await life.state() == state
        before = await list_sandboxes(life.it.services, life.it.owner, life.it.project_id)
    async with house.server() as life:
        assert (await life.status(run_id), await life.state()) == ("paused", state)
        await decide_approval(life.it.services, life.it.owner, approval_id, "approve")
        assert await life.it.ended(run_id) == "completed"
        (removed,) = told_last(house.model.requests[2])
        assert "kept" in removed
        assert bool(noted(house.model.requests[2])) is not memory_stays
        (asked,) = told_last(house.model.requests[3])
        assert (('"result": true') in asked) is memory_stays
        after = await list_sandboxes(life.it.services, life.it.owner, life.it.project_id)
        assert [view.id for view in after] == [view.id for view in before]


async def test_a_sandbox_paused_by_hand_pauses_its_waiting_run_and_both_wake_together(house: House) -> None:
    async with house.server() as life:
        run_id, approval_id = await parked(life)
        services, owner = life.it.services, life.it.owner
        (sandbox,) = await list_sandboxes(services, owner, life.it.project_id)
        assert (sandbox.thread_id, sandbox.user_name, sandbox.active_run_id) == (life.it.thread_id, "Ada", run_id)
        if house.provider.name != "memory":
            assert sandbox.memory_bytes
            assert sandbox.processes
        paused = await pause_sandbox(services, owner, sandbox.id)
        assert paused.pause_kind == "frozen"
        if house.provider.name in ("local", "docker") and house.provider.capabilities.volume:
            assert sandbox.disk_bytes is not None
            assert paused.memory_bytes, "it is measured without being woken"
        assert await life.status(run_id) == "paused"
        woken = await resume_sandbox(services, owner, sandbox.id)
        assert woken.state == "ready"
        assert await life.status(run_id) == "awaiting_approval"
        await decide_approval(services, owner, approval_id, "approve")
        assert await life.it.ended(run_id) == "completed"
