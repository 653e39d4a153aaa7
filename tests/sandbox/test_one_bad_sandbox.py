"""Trouble with one sandbox, whatever it is, holds up no other and never reaches the program's root."""

from __future__ import annotations

import errno
import socket
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import SandboxLost, StorageUnavailable
from outlast.db.database import Database, Tx
from outlast.db.tables import meta
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import collect, reconcile
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.testing.clock import ManualClock
from outlast_sandbox.egress.way_out import Egress
from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider
from tests.sandbox.test_manager import House

FAULTS = (
    SandboxLost("the sandbox is gone"),
    OSError(errno.EMFILE, "Too many open files"),
    TimeoutError(),
    RecursionError("maximum recursion depth exceeded"),
    ExceptionGroup("unhandled errors in a TaskGroup", [SandboxLost("gone"), ExceptionGroup("x", [OSError()])]),
)
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)


@pytest.fixture
async def house(db: Database, tmp_path: Path) -> House:
    made = House(db, tmp_path)
    await made.furnish()
    return made


@each_fault
async def test_a_workspace_that_cannot_be_removed_keeps_no_other_from_being_deleted(
    house: House, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """Everybody's deletions were answered with 500 from then on: all were collected in one loop."""
    machines = house.manager(memory)
    bad, good = f"{house.workspace_id[:-1]}0", f"{house.workspace_id[:-1]}1"

    def note(tx: Tx) -> None:
        for one in (bad, good):
            tx.execute(sa.insert(meta).values(key=store.GARBAGE + one, value=machines.node_id))

    await house.db.write(note)
    folders_of = machines.folders_of

    def failing(workspace_id: str) -> list[Path]:
        if workspace_id == bad:
            raise fault
        return folders_of(workspace_id)

    monkeypatch.setattr(machines, "folders_of", failing)
    for _ in range(3):
        await collect(machines)
    assert await house.db.read(store.garbage, machines.node_id) == [bad]
    monkeypatch.setattr(machines, "folders_of", folders_of)
    await collect(house.manager(memory))
    assert await house.db.read(store.garbage, machines.node_id) == []


@each_fault
async def test_a_sandbox_that_cannot_be_taken_up_keeps_no_other_and_no_server_from_starting(
    house: House, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    first = house.manager(memory)
    other = await house.workspace("thr_2")
    bad = await first.ensure(house.workspace_id, house.project_id)
    good = await first.ensure(other, house.project_id)
    connect = memory.connect

    async def failing(sandbox_id: str, ref: str) -> Any:
        if sandbox_id == bad.sandbox_id:
            raise fault
        return await connect(sandbox_id, ref)

    monkeypatch.setattr(memory, "connect", failing)
    second = house.manager(memory)
    await reconcile(second)
    row = await house.db.read(store.newest, house.workspace_id)
    assert row is not None
    assert row.life.state is State.LOST
    assert (await second.ensure(other, house.project_id)).sandbox_id == good.sandbox_id
    assert (await second.ensure(house.workspace_id, house.project_id)).sandbox_id != bad.sandbox_id


async def test_a_sandbox_that_was_recorded_as_ready_without_an_answer_counts_as_one_where_nothing_began(
    house: House, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that waited for it was told that its call might have taken effect, and that a sandbox was lost."""
    machines = house.manager(memory)
    change = machines.lives.change

    async def losing(row: SandboxRecord, state: State, *args: Any, **more: Any) -> None:
        await change(row, state, *args, **more)
        if state is State.READY:
            raise StorageUnavailable("The database is away.")

    with monkeypatch.context() as broken:
        broken.setattr(machines.lives, "change", losing)
        with pytest.raises(StorageUnavailable):
            await machines.ensure(house.workspace_id, house.project_id)
    row = await house.db.read(store.newest, house.workspace_id)
    assert row is not None
    assert (row.life.state, row.ref) == (State.LOST, "")
    assert await memory.list_refs() == []
    again = await machines.ensure(house.workspace_id, house.project_id)
    assert again.sandbox_id != row.id


class Door:
    """A sandbox as the egress keeper sees it: its listener fails as often as it is told to."""

    def __init__(self, sandbox_id: str, *faults: Exception) -> None:
        self.sandbox_id = sandbox_id
        self.faults, self.asked, self.opened = list(faults), 0, anyio.Event()
        self.tried = anyio.Event()
        self.listener = socket.socketpair()[0]

    async def egress_listener(self) -> socket.socket:
        self.asked += 1
        self.tried.set()
        self.tried = anyio.Event()
        if self.faults:
            raise self.faults.pop(0)
        self.opened.set()
        await anyio.sleep_forever()
        return self.listener

    async def dial(self, port: int) -> socket.socket:
        raise AssertionError(port)


@each_fault
async def test_a_sandbox_whose_way_out_fails_ends_no_other_and_is_tried_again(
    house: House, memory: MemoryProvider, tmp_path: Path, fault: Exception
) -> None:
    """`SandboxLost` left the keeper as a group of exceptions, past its `except SandboxLost`, and ended the server."""
    machines: SandboxManager = house.manager(memory)
    other = await house.workspace("thr_2")
    rows = []
    for workspace_id in (house.workspace_id, other):
        await machines.ensure(workspace_id, house.project_id)
        rows.append(await house.db.read(store.newest, workspace_id))
    clock = ManualClock()
    settings = SandboxSettings(allow_hosts=("example.com",))
    keeper = EgressKeeper(house.db, clock, policy_of(settings), tmp_path / "egress")
    bad, good = Door("sbx_1", fault, fault), Door("sbx_2")  # of one name, both would make its authority at once
    async with anyio.create_task_group() as tasks:
        await tasks.start(keeper.run)
        for row, door in zip(rows, (bad, good), strict=True):
            assert row is not None
            await keeper.prepare(row, SandboxSpec(row.id, tmp_path))
            keeper.open(row, door)  # type: ignore[arg-type]
        with anyio.fail_after(30):
            await good.opened.wait()
            for pause_s in (2, 7):
                await clock.wait_sleepers()
                tried = bad.tried
                clock.advance(pause_s)
                await tried.wait()
            await bad.opened.wait()
        assert (bad.asked, good.asked) == (3, 1)
        tasks.cancel_scope.cancel()


async def test_the_first_two_sandboxes_of_a_folder_share_one_key(tmp_path: Path) -> None:
    """Each made a key, one read half of the other's, or both went on with their own: after the next start the secrets
    of one were not known by its placeholders."""
    for number in range(20):
        folder = tmp_path / f"egress{number}"
        package = DependencySettings("npm:a", secret_env="TOKEN", hosts=("example.com",))
        policy = policy_of(SandboxSettings(dependencies=(package,)))
        egress = Egress(policy, ManualClock(), folder)
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(egress.placeholders, "sbx_1")
        again = Egress(policy, ManualClock(), folder)
        assert await egress.placeholders("sbx_1") == await again.placeholders("sbx_1")
