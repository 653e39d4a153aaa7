"""Rows of snapshots, and the keeper over them, with a provider whose builds the test carries out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TypeVar

import anyio
import anyio.lowlevel
import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import Conflict, InvalidSetting, SandboxUnavailable
from outlast.base.events import event_adapter
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.apps import registry
from outlast.kernel.projects.store import add_project
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.shapes import SnapshotProgress
from outlast.kernel.sandboxes.snapshots import store
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.snapshots.rules import RETRY_AFTER, BuildState
from outlast.kernel.sandboxes.snapshots.store import Place
from outlast.kernel.streams.log_store import read_all
from outlast_sandbox.interface import BuiltSnapshot, Capabilities, Progress, SnapshotRecipe
from outlast_sandbox.providers.memory import MemoryProvider

HERE = Place("memory", "nod_1")


class ShiftedClock(SystemClock):
    def __init__(self) -> None:
        self.shift = timedelta()

    def now(self) -> datetime:
        return super().now() + self.shift


class Builder(MemoryProvider):
    """Its builds wait for the test: `go` lets one end, well or with `wrong`."""

    def __init__(self) -> None:
        super().__init__(capabilities=Capabilities(snapshot=True))
        self.begun: list[str] = []
        self.there: set[str] = set()
        self.in_use: set[str] = set()
        self.go = anyio.Event()
        self.arrived = anyio.Event()
        self.wrong = ""
        self.say: Callable[[str, str], None] = lambda _step, _output: None

    async def base_identity(self) -> str:
        return "base-1"

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        if recipe.name in self.there:
            return BuiltSnapshot(recipe.name, 7)
        self.begun.append(recipe.name)
        self.say = progress
        progress("install", "")
        self.arrived.set()
        await self.go.wait()
        if self.wrong:
            raise SandboxUnavailable(self.wrong)
        self.there.add(recipe.name)
        return BuiltSnapshot(recipe.name, 7)

    async def has_snapshot(self, ref: str) -> bool:
        return ref in self.there

    async def remove_snapshot(self, ref: str) -> None:
        if ref in self.in_use:
            raise Conflict("in use")
        self.there.discard(ref)


class House:
    def __init__(self, db: Database) -> None:
        self.db = db
        self.clock = ShiftedClock()
        self.provider = Builder()
        self.project_id = ""

    def keeper(self, *packages: str, node_id: str = "nod_1") -> SnapshotKeeper:
        dependencies = tuple(DependencySettings(package) for package in packages)
        settings = SandboxSettings(dependencies=dependencies)
        return SnapshotKeeper(self.db, self.provider, self.clock, settings, node_id=node_id)

    async def told(self) -> list[SnapshotProgress]:
        lines = await self.db.read(read_all, self.project_id)
        events = [event_adapter(registry.load().events).validate_json(line) for _, line in lines]
        return [event.data for event in events if isinstance(event.data, SnapshotProgress)]

    async def states(self) -> dict[str, str]:
        return {one.name: one.state for one in await self.db.read(store.list_all, HERE)}


H = TypeVar("H", bound=House)


@pytest.fixture
async def house(db: Database) -> House:
    return await furnished(House(db))


async def furnished(house: H) -> H:
    def fill(tx: Tx) -> str:
        return add_project(tx, add_user(tx, "Ada", "unlimited"), "House")

    house.project_id = await house.db.write(fill)
    return house


@asynccontextmanager
async def running(keeper: SnapshotKeeper) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        with anyio.fail_after(30):
            yield
        tasks.cancel_scope.cancel()


async def built(house: House, *packages: str) -> str:
    """A snapshot that is ready; its name."""
    house.provider.go.set()
    known = await house.keeper(*packages).build()
    assert known is not None
    house.provider.go = anyio.Event()
    return known.name


async def test_with_nothing_configured_nothing_is_built_and_sandboxes_start_from_the_bare_base(house: House) -> None:
    keeper = house.keeper()
    async with running(keeper):
        assert await keeper.start_from("sbx_1", house.project_id) == ""
    assert await keeper.build() is None
    assert house.provider.begun == []
    assert await house.states() == {}


async def test_it_is_built_once_at_the_start_and_those_who_need_it_wait_and_are_told(house: House) -> None:
    keeper = house.keeper("zod@3")
    refs: list[str] = []

    async def need(number: int) -> None:
        refs.append(await keeper.start_from(f"sbx_{number}", house.project_id))

    async with running(keeper):
        await house.provider.arrived.wait()
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(need, number)
            while not await house.told():
                await anyio.lowlevel.checkpoint()
            house.provider.say("warm", "some output")
            while [data.step for data in await house.told()][-1] != "warm":
                await anyio.lowlevel.checkpoint()
            house.provider.go.set()
        with anyio.fail_after(30):
            while [data.state for data in await house.told()][-1] != "ready":
                await anyio.lowlevel.checkpoint()
    assert len(house.provider.begun) == 1
    assert refs == house.provider.begun * 3
    told = await house.told()
    assert told[0].state == "building"
    assert told[0].step == "install"
    assert (told[-1].state, told[-1].error) == ("ready", None)
    assert {data.name for data in told} == set(refs)


async def test_a_project_that_does_not_wait_is_not_told(house: House) -> None:
    await built(house, "zod@3")
    assert await house.told() == []


async def test_a_ready_one_is_used_at_once_and_its_use_recorded(house: House) -> None:
    name = await built(house, "zod@3")
    before = await house.db.read(store.find, HERE, name)
    keeper = house.keeper("zod@3")
    assert await keeper.start_from("sbx_1", house.project_id) == name
    after = await house.db.read(store.find, HERE, name)
    assert before is not None
    assert after is not None
    assert after.last_used_at >= before.last_used_at
    assert len(house.provider.begun) == 1


async def test_a_failed_build_leaves_the_older_one_working_and_says_why(house: House) -> None:
    older = await built(house, "zod@3")
    house.provider.wrong = "npm says: no such version"
    house.provider.go.set()
    keeper = house.keeper("zod@999")
    async with running(keeper):
        assert await keeper.start_from("sbx_1", house.project_id) == older
    told = (await house.told())[-1]
    assert (told.state, told.error, told.older) == ("failed", "npm says: no such version", True)
    assert sorted((await house.states()).values()) == ["failed", "ready"]


async def test_a_failed_build_without_an_older_one_refuses_with_the_reason(house: House) -> None:
    house.provider.wrong = "npm says: no such version"
    house.provider.go.set()
    keeper = house.keeper("zod@999")
    async with running(keeper):
        for _ in range(2):
            with pytest.raises(SandboxUnavailable, match="npm says: no such version"):
                await keeper.start_from("sbx_1", house.project_id)
    assert len(house.provider.begun) == 1
    with pytest.raises(SandboxUnavailable, match="npm says"):
        await keeper.build()


async def test_a_failed_one_is_built_again_after_a_while_by_whoever_needs_it(house: House) -> None:
    house.provider.wrong = "the registry is away"
    house.provider.go.set()
    keeper = house.keeper("zod@3")
    async with running(keeper):
        with pytest.raises(SandboxUnavailable):
            await keeper.start_from("sbx_1", house.project_id)
        house.provider.wrong = ""
        house.clock.shift = RETRY_AFTER
        assert await keeper.start_from("sbx_1", house.project_id) == house.provider.begun[0]


async def test_one_built_by_another_process_is_found(house: House) -> None:
    house.provider.wrong = "the registry is away"
    house.provider.go.set()
    keeper = house.keeper("zod@3")
    async with running(keeper):
        with pytest.raises(SandboxUnavailable):
            await keeper.start_from("sbx_1", house.project_id)
        house.provider.wrong = ""
        other = await house.keeper("zod@3").build()
        assert other is not None
        assert await keeper.start_from("sbx_1", house.project_id) == other.ref


async def test_one_whose_files_have_gone_is_built_anew(house: House) -> None:
    name = await built(house, "zod@3")
    house.provider.go.set()
    keeper = house.keeper("zod@3")
    async with running(keeper):
        assert await keeper.start_from("sbx_1", house.project_id) == name
        house.provider.there.clear()
        assert await keeper.start_from("sbx_2", house.project_id) == name
    assert house.provider.begun == [name, name]


async def test_a_waiting_sandbox_that_is_given_up_leaves_the_build_alone(house: House) -> None:
    keeper = house.keeper("zod@3")
    async with running(keeper):
        await house.provider.arrived.wait()
        with anyio.move_on_after(0.05):
            await keeper.start_from("sbx_1", house.project_id)
        house.provider.go.set()
        assert await keeper.start_from("sbx_2", house.project_id) == house.provider.begun[0]
    assert len(house.provider.begun) == 1


async def test_another_node_builds_its_own(house: House) -> None:
    await built(house, "zod@3")
    house.provider.there.clear()
    house.provider.go.set()
    keeper = house.keeper("zod@3", node_id="nod_2")
    await keeper.build()
    assert len(house.provider.begun) == 2
    assert len(await house.db.read(store.list_all, Place("memory", "nod_2"))) == 1


async def test_a_snapshot_can_be_asked_for_by_name(house: House) -> None:
    older, _ = await built(house, "zod@3"), await built(house, "zod@4")
    keeper = house.keeper("zod@4")
    assert await keeper.start_from("sbx_1", house.project_id, older) == older
    with pytest.raises(SandboxUnavailable, match="snap-none is not ready"):
        await keeper.start_from("sbx_1", house.project_id, "snap-none")


async def test_those_unused_for_long_are_removed_unless_a_sandbox_runs_on_them(house: House) -> None:
    old, used, wanted = [await built(house, f"zod@{number}") for number in (1, 2, 3)]
    house.provider.in_use.add(used)
    keeper = house.keeper("zod@3")
    assert await keeper.collect() == []
    house.clock.shift = timedelta(days=15)
    assert await keeper.collect() == [old]
    assert house.provider.there == {used, wanted}
    assert set(await house.states()) == {used, wanted}
    house.provider.in_use.clear()
    assert await keeper.collect() == [used]


async def test_one_is_removed_by_name_and_what_is_not_there_is_said(house: House) -> None:
    name = await built(house, "zod@3")
    keeper = house.keeper("zod@3")
    rows, wanted = await keeper.listed()
    assert wanted == name
    assert [(row.state, row.recipe["dependencies"], row.size_bytes) for row in rows] == [("ready", ["npm:zod@3"], 7)]
    assert await keeper.remove(name)
    assert not await keeper.remove(name)
    assert house.provider.there == set()


async def test_a_wrong_template_is_refused_before_anything_is_built(house: House) -> None:
    with pytest.raises(InvalidSetting, match="does not exist"):
        SnapshotKeeper(house.db, house.provider, house.clock, SandboxSettings(template="/nowhere"), node_id="nod_1")


async def test_a_provider_without_snapshots_starts_from_its_bare_base(house: House) -> None:
    settings = SandboxSettings(dependencies=(DependencySettings("zod@3"),))
    keeper = SnapshotKeeper(house.db, MemoryProvider(), house.clock, settings, node_id="nod_1")
    async with running(keeper):
        assert await keeper.start_from("sbx_1", house.project_id) == ""


async def test_a_build_that_a_stopped_server_left_is_begun_anew(house: House) -> None:
    async with running(house.keeper("zod@3")):
        await house.provider.arrived.wait()
    assert list((await house.states()).values()) == [BuildState.BUILDING]
    house.provider.go.set()
    keeper = house.keeper("zod@3")
    async with running(keeper):
        assert await keeper.start_from("sbx_1", house.project_id) == house.provider.begun[0]


async def test_a_late_failure_does_not_undo_what_another_process_made_ready(house: House) -> None:
    name = await built(house, "zod@3")
    await house.db.write(store.fail, HERE, name, "too late")
    assert await house.states() == {name: BuildState.READY}
