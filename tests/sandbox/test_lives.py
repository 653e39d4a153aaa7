"""Awake, asleep, stopped, ended and awake again: what the manager and the ladder do, with each provider in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import reconcile, sweep
from outlast.kernel.sandboxes.rules import PauseKind, State
from outlast.kernel.sandboxes.seeds import copy_workspace
from outlast.kernel.sandboxes.tables import workspaces
from outlast_sandbox.interface import Command, SandboxProvider
from tests.factories import Team, make_thread
from tests.sandbox.test_manager import SETTINGS, House

pytestmark = pytest.mark.timeout(180)
NO_WAIT_S = 60.0  # a call that waits for a sleeping sandbox waits for ever


class Home(House):
    """One server after the other over the same sandboxes; `next_server` is what a restart leaves."""

    def __init__(self, db: Database, data_dir: Path, provider: SandboxProvider) -> None:
        super().__init__(db, data_dir)
        self.provider = provider
        self.other_thread = ""
        self.machines, self.keeper = self._open()

    def _open(self) -> tuple[SandboxManager, CheckpointKeeper]:
        machines = self.manager(self.provider)
        keeper = CheckpointKeeper(
            self.db,
            FolderBlobs(self.data_dir / "blobs"),
            self.clock,
            SETTINGS,
            self.data_dir,
            node_id="local",
            local=self.provider.capabilities.volume,
            find=machines.find,
        )
        machines.lives.files = keeper
        return machines, keeper

    async def furnish(self) -> None:
        def fill(tx: Tx) -> tuple[str, str, str]:
            team, workspace_id = Team(tx), new_id("workspace")
            owner = {"owner_type": "thread", "owner_id": team.thread_id, "project_id": team.project_id}
            row = {"id": workspace_id, **owner, "created_at": tx.now, "last_used_at": tx.now}
            tx.execute(workspaces.insert().values(**row))
            return workspace_id, team.project_id, make_thread(tx, team.project_id, team.owner)

        self.workspace_id, self.project_id, self.other_thread = await self.db.write(fill)

    async def next_server(self) -> None:
        await self.machines.aclose()
        self.machines, self.keeper = self._open()
        await reconcile(self.machines)

    async def say(self, script: str, workspace_id: str = "") -> str:
        sandbox = await self.machines.ensure(workspace_id or self.workspace_id, self.project_id)
        return (await sandbox.run(Command(new_id("effect"), 1, script, timeout_s=60))).output

    async def state(self) -> tuple[State, PauseKind | None]:
        life = (await self.row()).life
        return life.state, life.pause_kind


@pytest.fixture
async def home(provider: SandboxProvider, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    db = open_database(sqlite_url, tmp_path, House(None, tmp_path).clock)  # type: ignore[arg-type]
    home = Home(db, tmp_path / "data", provider)
    await home.furnish()
    with anyio.fail_after(NO_WAIT_S * 2):
        yield home
    with anyio.move_on_after(NO_WAIT_S):
        await home.machines.kill(home.workspace_id)
    await home.machines.aclose()
    await db.aclose()


@pytest.mark.needs("pause")
async def test_a_frozen_one_is_woken_by_its_next_command(home: Home) -> None:
    """With E2B the manager asked the sleeping sandbox for its statistics before it woke it, and waited for ever."""
    await home.say("echo kept > kept.txt")
    await home.machines.freeze(home.workspace_id)
    assert await home.state() == (State.PAUSED, PauseKind.FROZEN)
    with anyio.fail_after(NO_WAIT_S):
        assert await home.say("cat kept.txt") == "kept\n"
    assert await home.told() == ["creating", "ready", "pausing", "paused frozen", "resuming", "ready"]


@pytest.mark.needs("pause")
async def test_looking_at_a_frozen_one_neither_wakes_it_nor_waits(home: Home) -> None:
    await home.say("true")
    await home.machines.freeze(home.workspace_id)
    sandbox_id = (await home.row()).id
    with anyio.fail_after(NO_WAIT_S):
        await home.machines.measure(home.workspace_id)
        await home.machines.log_of(home.workspace_id, sandbox_id)
        await home.machines.end_sessions(home.workspace_id)
        await sweep(home.machines)
    assert await home.state() == (State.PAUSED, PauseKind.FROZEN)


@pytest.mark.needs("pause")
async def test_one_that_falls_asleep_while_it_is_measured_keeps_nobody_waiting(home: Home) -> None:
    await home.say("true")
    with anyio.fail_after(NO_WAIT_S):
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(home.machines.measure, home.workspace_id)
            tasks.start_soon(home.machines.freeze, home.workspace_id)
            for _ in range(5):
                tasks.start_soon(home.machines.measure, home.workspace_id)
    assert await home.state() == (State.PAUSED, PauseKind.FROZEN)


@pytest.mark.needs("pause")
async def test_a_command_that_a_freeze_interrupts_goes_on_after_the_thaw(home: Home) -> None:
    sandbox = await home.machines.ensure(home.workspace_id, home.project_id)
    begun, found = anyio.Event(), []

    async def work() -> None:
        script = "echo begun; sleep 0.2; echo done"
        result = await sandbox.run(Command("eff_1", 1, script), lambda _text: begun.set())
        found.append(result.output)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        await begun.wait()
        await home.machines.freeze(home.workspace_id)
        await home.machines.thaw(home.workspace_id)
    assert found == ["begun\ndone\n"]


@pytest.mark.needs("pause")
async def test_the_next_server_finds_a_frozen_one_asleep_and_wakes_it(home: Home) -> None:
    await home.say("echo kept > kept.txt")
    before = (await home.row()).id
    await home.machines.freeze(home.workspace_id)
    await home.next_server()
    assert await home.state() == (State.PAUSED, PauseKind.FROZEN)
    with anyio.fail_after(NO_WAIT_S):
        assert await home.say("cat kept.txt") == "kept\n"
    assert (await home.row()).id == before


@pytest.mark.needs("pause")
async def test_one_that_froze_without_a_server_is_woken_by_the_next(home: Home) -> None:
    await home.say("echo kept > kept.txt")
    sandbox = await home.machines.ensure(home.workspace_id, home.project_id)
    await sandbox.freeze()  # behind the row's back, as the shim does it
    with anyio.fail_after(NO_WAIT_S):
        await home.next_server()
        assert await home.state() == (State.READY, None)
        assert await home.say("cat kept.txt") == "kept\n"


async def test_one_that_nobody_uses_goes_down_step_by_step_and_its_files_stay(home: Home) -> None:
    """A sleeping sandbox with a disk of its own has to be woken for its files before it is ended."""
    await home.say("echo kept > kept.txt")
    seen = []
    for seconds in (SETTINGS.idle_pause_s, SETTINGS.stop_after_s, SETTINGS.kill_after_s):
        home.clock.shift = timedelta(seconds=seconds + 1)
        with anyio.fail_after(NO_WAIT_S):
            await step_down(home.machines)
        seen.append(await home.state())
    if home.provider.capabilities.pause:
        assert seen[:2] == [(State.PAUSED, PauseKind.FROZEN), (State.PAUSED, PauseKind.STOPPED)]
    assert seen[-1] == (State.KILLED, None)
    assert await home.provider.list_refs() == []
    assert await home.say("cat kept.txt") == "kept\n"


async def test_one_is_made_at_the_first_use_and_used_again(home: Home) -> None:
    assert await home.provider.list_refs() == []
    assert await home.say("echo once > once.txt; cat once.txt") == "once\n"
    first = (await home.row()).id
    assert await home.say("cat once.txt") == "once\n"
    assert (await home.row()).id == first
    assert await home.told() == ["creating", "ready"]


async def test_a_stopped_one_starts_again_over_its_files(home: Home) -> None:
    await home.say("echo kept > kept.txt")
    before = (await home.row()).id
    await home.machines.stop(home.workspace_id)
    assert await home.say("cat kept.txt") == "kept\n"
    assert (await home.row()).id == before


async def test_one_that_vanished_is_replaced_and_it_is_said(home: Home) -> None:
    await home.say("true")
    lost = (await home.row()).id
    for sandbox_id, ref in await home.provider.list_refs():
        await (await home.provider.connect(sandbox_id, ref)).kill()
    assert await home.say("echo again") == "again\n"
    assert (await home.row()).id != lost
    assert await home.told() == ["creating", "ready", "lost", "context.lost", "creating", "ready"]


@pytest.mark.needs("pause")
async def test_a_frozen_one_that_vanished_is_replaced(home: Home) -> None:
    await home.say("true")
    lost = (await home.row()).id
    await home.machines.freeze(home.workspace_id)
    for sandbox_id, ref in await home.provider.list_refs():
        await (await home.provider.connect(sandbox_id, ref)).kill()
    with anyio.fail_after(NO_WAIT_S):
        assert await home.say("echo again") == "again\n"
    assert (await home.row()).id != lost


@pytest.mark.needs("pause")
async def test_a_fork_begins_with_the_files_of_one_that_sleeps_and_goes_its_own_way(home: Home) -> None:
    if home.provider.name == "memory":
        pytest.skip("its files lie in no folder that a checkpoint could hold")
    await home.say("echo common > state.txt")
    assert await home.keeper.take(home.workspace_id, "tool", sandbox=await home.machines.find(home.workspace_id))
    await home.machines.freeze(home.workspace_id)
    other = home.other_thread
    with anyio.fail_after(NO_WAIT_S):
        copied = await home.db.write(lambda tx: copy_workspace(tx, home.workspace_id, owner_id=other, thread_id=other))
        assert await home.say("cat state.txt; echo own > state.txt", copied) == "common\n"
        assert await home.state() == (State.PAUSED, PauseKind.FROZEN), "its origin sleeps on"
        assert await home.say("cat state.txt") == "common\n"
    await home.machines.kill(copied)
