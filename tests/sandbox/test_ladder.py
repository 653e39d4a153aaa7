"""The ladder sleeps until a step is due, and sweeps up what nobody owns; in memory, and with real sandboxes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import SandboxUnavailable, StorageUnavailable
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.idle_policy import RETRY_S, Ladder, step_down
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import SWEEP_EVERY_S, reconcile, sweep
from outlast.kernel.sandboxes.rules import PauseKind, State
from outlast.testing.clock import ManualClock
from outlast_sandbox.interface import Command, Sandbox, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import State as LocalState
from outlast_sandbox.providers.memory import MemoryProvider
from tests.sandbox.conftest import state_of
from tests.sandbox.test_manager import SETTINGS, House


class Watched(Ladder):
    """A ladder at work on a clock of the test's; counts what it does."""

    def __init__(self, house: House, machines: SandboxManager, clock: ManualClock) -> None:
        super().__init__(machines, self.step, self.sweep)
        self.house, self.machines, self.clock = house, machines, clock
        self.steps = self.sweeps = self.failing = self.rests = 0
        self.rested = anyio.Event()
        self.busy: list[str] = []

    async def step(self) -> None:
        self.steps += 1
        if self.failing:
            self.failing -= 1
            raise StorageUnavailable("not now")
        await step_down(self.machines, self.busy)

    async def sweep(self) -> None:
        self.sweeps += 1
        await sweep(self.machines)

    async def _rest(self, seconds: float, woken: anyio.Event) -> None:
        self.rests += 1
        self.rested.set()
        self.rested = anyio.Event()
        await super()._rest(seconds, woken)

    async def ensure(self) -> Sandbox:
        """Make or wake the sandbox; the ladder has heard of a new one."""
        made, rests = len(await self.house.told()), self.rests
        sandbox = await self.machines.ensure(self.house.workspace_id, self.house.project_id)
        if "creating" in (await self.house.told())[made:]:
            await self._until_rests(rests + 1)
        return sandbox

    async def later(self, seconds: float) -> None:
        """So much later, whatever was due has been done."""
        due, rests = (self.clock.next_wake_s() or 0) <= seconds, self.rests
        self.clock.advance(seconds)
        if due:
            await self._until_rests(rests + 1)

    async def _until_rests(self, count: int) -> None:
        with anyio.fail_after(30):
            while self.rests < count:
                await self.rested.wait()
            await self.clock.wait_sleepers()

    async def state(self) -> tuple[State, PauseKind | None]:
        life = (await self.house.row()).life
        return life.state, life.pause_kind


@pytest.fixture
async def watched(sqlite_url: str, tmp_path: Path, memory: MemoryProvider) -> AsyncIterator[Watched]:
    clock = ManualClock()
    db: Database = open_database(sqlite_url, tmp_path, clock)
    house = House(db, tmp_path / "data")
    house.clock = clock  # type: ignore[assignment]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        await house.furnish()
        watched = Watched(house, house.manager(memory), clock)
        tasks.start_soon(watched.run)
        await watched._until_rests(1)
        yield watched
        tasks.cancel_scope.cancel()
    await db.aclose()


async def test_it_goes_down_step_by_step_and_looks_only_when_one_is_due(watched: Watched) -> None:
    await watched.ensure()
    for _ in range(int(SETTINGS.idle_pause_s // 60) - 1):
        await watched.later(60)
    assert (await watched.state(), watched.steps) == ((State.READY, None), 0)
    await watched.later(60)
    assert (await watched.state(), watched.steps) == ((State.PAUSED, PauseKind.FROZEN), 1)
    await watched.later(SETTINGS.stop_after_s - SETTINGS.idle_pause_s)
    assert (await watched.state(), watched.steps) == ((State.PAUSED, PauseKind.STOPPED), 2)
    await watched.later(SETTINGS.kill_after_s - SETTINGS.stop_after_s)
    assert (await watched.state(), watched.steps) == ((State.KILLED, None), 3)


async def test_a_use_sets_the_clocks_back(watched: Watched) -> None:
    await watched.ensure()
    await watched.later(SETTINGS.idle_pause_s - 60)
    await watched.ensure()
    await watched.later(120)
    assert await watched.state() == (State.READY, None)
    await watched.later(SETTINGS.idle_pause_s)
    assert await watched.state() == (State.PAUSED, PauseKind.FROZEN)


async def test_a_step_that_fails_is_tried_again_later_not_at_once(watched: Watched) -> None:
    await watched.ensure()
    watched.failing = 1
    watched.clock.advance(SETTINGS.idle_pause_s)
    with anyio.fail_after(30):
        while watched.clock.next_wake_s() != RETRY_S:
            await anyio.lowlevel.checkpoint()
    assert (await watched.state(), watched.steps) == ((State.READY, None), 1)
    await watched.later(RETRY_S)
    await watched.later(1)
    assert (await watched.state(), watched.steps) == ((State.PAUSED, PauseKind.FROZEN), 2)


async def test_one_that_cannot_be_frozen_stays_awake_and_holds_up_nobody(
    watched: Watched, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubborn = await watched.ensure()
    other_id = await watched.house.workspace("thr_2")
    await watched.machines.ensure(other_id, watched.house.project_id)

    async def refuse() -> None:
        raise SandboxUnavailable("no freezer can be used")

    monkeypatch.setattr(stubborn, "freeze", refuse)
    watched.clock.advance(SETTINGS.idle_pause_s)
    await step_down(watched.machines)
    assert await watched.state() == (State.READY, None)
    other = await watched.house.db.read(store.newest, other_id)
    assert other is not None
    assert other.life.pause_kind is PauseKind.FROZEN


async def test_with_nothing_to_do_it_only_sweeps_every_few_minutes(watched: Watched) -> None:
    for _ in range(10):
        await watched.later(SWEEP_EVERY_S)
    assert (watched.steps, watched.sweeps, watched.rests) == (0, 10, 11)


async def test_a_sweep_finds_what_vanished_and_ends_what_nobody_knows_but_lets_builds_be(
    watched: Watched, memory: MemoryProvider
) -> None:
    sandbox = await watched.ensure()
    memory.lose(sandbox.sandbox_id)
    await memory.create(SandboxSpec("sbx_orphan", Path("orphan")))
    await memory.create(SandboxSpec("build-1", Path("build")))
    await watched.later(SWEEP_EVERY_S)
    assert (await watched.state())[0] is State.LOST
    assert [sandbox_id for sandbox_id, _ in await memory.list_refs()] == ["build-1"]


async def test_whoever_works_has_not_been_idle_when_the_work_ends(watched: Watched) -> None:
    """A command of twenty minutes used to leave its sandbox idle for as long, and it was frozen the moment it ended."""
    await watched.ensure()
    watched.busy = [watched.house.workspace_id]
    await watched.later(1200)
    watched.busy = []
    await step_down(watched.machines)
    assert (await watched.state(), watched.steps) == ((State.READY, None), 1)


async def _end_of(state: LocalState) -> None:
    """A kill takes a moment."""
    with anyio.fail_after(30):
        while state.is_alive():  # noqa: ASYNC110 - it says nothing when it has ended
            await anyio.sleep(0.005)


@pytest.mark.sandbox
async def test_a_sweep_removes_what_a_killed_shim_left_behind(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    house = House(db, tmp_path / "data")
    await house.furnish()
    machines = house.manager(local)
    sandbox = await machines.ensure(house.workspace_id, house.project_id)
    await sandbox.run(Command("eff_1", 1, "echo kept > kept.txt; (sleep 1000 &)"))
    state = state_of(local, sandbox.sandbox_id)
    inside = state.group.processes()
    assert inside
    os.kill(state.pid, signal.SIGKILL)
    await _end_of(state)
    await sweep(machines)
    assert (await house.row()).life.state is State.LOST
    assert not state.group.exists()
    assert not (local.state_dir / sandbox.sandbox_id).exists()
    assert await house.run(machines, "cat kept.txt; pgrep -c sleep", "eff_2") == "kept\n0\n"
    assert (await house.told()).count("context.lost") == 1


@pytest.mark.sandbox
async def test_an_agent_that_is_killed_is_found_by_the_next_use_and_replaced(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    house = House(db, tmp_path / "data")
    await house.furnish()
    machines = house.manager(local)
    sandbox = await machines.ensure(house.workspace_id, house.project_id)
    await sandbox.run(Command("eff_1", 1, "echo kept > kept.txt"))
    state = state_of(local, sandbox.sandbox_id)
    for pid in state.group.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await _end_of(state)
    assert await house.run(machines, "cat kept.txt", "eff_2") == "kept\n"
    assert (await house.row()).id != sandbox.sandbox_id
    assert not state.group.exists()


@pytest.mark.sandbox
async def test_after_a_reboot_nothing_of_the_old_sandboxes_is_taken_for_alive(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    """After a reboot the recorded process ids belong to others: here to this very test, with its own start time."""
    house = House(db, tmp_path / "data")
    await house.furnish()
    machines = house.manager(local)
    sandbox = await machines.ensure(house.workspace_id, house.project_id)
    folder = local.state_dir / sandbox.sandbox_id
    facts = json.loads((folder / "state.json").read_text())
    await sandbox.kill()
    folder.mkdir()
    (folder / "state.json").write_text(json.dumps({**facts, "pid": os.getpid()}))
    second = house.manager(LocalProvider(local.state_dir, local.cache_dir))
    await reconcile(second)
    assert (await house.row()).life.state is State.LOST
    assert not folder.exists()
    assert await house.run(second, "echo again", "eff_1") == "again\n"
