"""One sandbox for each workspace that needs one, on both databases, with sandboxes in memory; some with real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import SandboxUnavailable
from outlast.base.events import event_adapter
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.apps import registry
from outlast.kernel.projects.store import add_project
from outlast.kernel.projects.tables import projects
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import reconcile, sweep
from outlast.kernel.sandboxes.rules import PauseKind, State
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.shapes import ContextLost, SandboxStateData
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.sandboxes.translation import untranslated
from outlast.kernel.streams.log_store import read_all
from outlast_sandbox.interface import Capabilities, Command, SandboxProvider, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.memory import MemoryProvider, MemorySandbox
from tests.factories import make_run, make_thread, make_user
from tests.templates import small_template

SETTINGS = SandboxSettings(memory_mb=512, processes=128, disk_mb=64)


class ShiftedClock(SystemClock):
    """The machine's clock, moved by hand."""

    def __init__(self) -> None:
        self.shift = timedelta()

    def now(self) -> datetime:
        return super().now() + self.shift


class House:
    """A database with one project and one workspace, and managers over it."""

    def __init__(self, db: Database, data_dir: Path) -> None:
        self.db = db
        self.data_dir = data_dir
        self.clock = ShiftedClock()
        self.project_id = ""
        self.workspace_id = ""

    async def furnish(self) -> None:
        def fill(tx: Tx) -> tuple[str, str]:
            project_id = add_project(tx, add_user(tx, "Ada", "unlimited"), "House")
            values = {"id": new_id("workspace"), "project_id": project_id, "created_at": tx.now}
            owner = {"owner_type": "thread", "owner_id": "thr_1", "last_used_at": tx.now}
            tx.execute(workspaces.insert().values(**values, **owner))
            return project_id, str(values["id"])

        self.project_id, self.workspace_id = await self.db.write(fill)

    def manager(self, provider: SandboxProvider, settings: SandboxSettings = SETTINGS) -> SandboxManager:
        return SandboxManager(self.db, provider, self.clock, settings, self.data_dir)

    async def workspace(self, thread_id: str) -> str:
        """One more workspace."""

        def add(tx: Tx) -> str:
            values = {"id": new_id("workspace"), "project_id": self.project_id, "created_at": tx.now}
            owner = {"owner_type": "thread", "owner_id": thread_id, "last_used_at": tx.now}
            tx.execute(workspaces.insert().values(**values, **owner))
            return str(values["id"])

        return await self.db.write(add)

    async def told(self) -> list[str]:
        """The states of sandboxes and what was lost with them, as the project's log has them."""
        told = []
        for _, line in await self.db.read(read_all, self.project_id):
            event = event_adapter(registry.load().events).validate_json(line)
            if isinstance(event.data, SandboxStateData):
                told.append(" ".join(filter(None, (event.data.state, event.data.pause_kind))))
            elif isinstance(event.data, ContextLost):
                told.append(event.event)
        return told

    async def row(self) -> store.SandboxRecord:
        row = await self.db.read(store.newest, self.workspace_id)
        assert row is not None
        return row

    async def run(self, manager: SandboxManager, script: str, effect_id: str) -> str:
        sandbox = await manager.ensure(self.workspace_id, self.project_id)
        return (await sandbox.run(Command(effect_id, 1, script))).output


@pytest.fixture
async def house(db: Database, tmp_path: Path) -> House:
    house = House(db, tmp_path / "data")
    await house.furnish()
    return house


async def test_a_sandbox_is_made_at_the_first_use_and_used_again(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    assert await manager.find(house.workspace_id) is None
    first = await manager.ensure(house.workspace_id, house.project_id)
    second = await manager.ensure(house.workspace_id, house.project_id)
    assert first is second
    assert memory.created == [first.sandbox_id]
    assert await house.told() == ["creating", "ready"]
    row = await house.row()
    assert (row.id, row.ref, row.life.state) == (first.sandbox_id, first.ref, State.READY)


async def test_many_that_need_it_at_once_get_the_same_one(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(manager.ensure, house.workspace_id, house.project_id)
    assert len(memory.created) == 1


async def test_a_frozen_sandbox_is_woken_by_its_next_use(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    sandbox = await manager.ensure(house.workspace_id, house.project_id)
    sandbox = untranslated(sandbox)
    assert isinstance(sandbox, MemorySandbox)
    await manager.freeze(house.workspace_id)
    await manager.freeze(house.workspace_id)
    assert sandbox.is_frozen()
    assert (await house.row()).life.pause_kind is PauseKind.FROZEN
    assert untranslated(await manager.ensure(house.workspace_id, house.project_id)) is sandbox
    assert not sandbox.is_frozen()
    assert await house.told() == ["creating", "ready", "pausing", "paused frozen", "resuming", "ready"]


async def test_thawing_wakes_without_a_use_and_is_fine_without_a_sandbox(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    await manager.thaw(house.workspace_id)
    assert memory.created == []
    await manager.ensure(house.workspace_id, house.project_id)
    await manager.freeze(house.workspace_id)
    await manager.thaw(house.workspace_id)
    assert (await house.row()).life.state is State.READY


async def test_a_lost_sandbox_is_replaced_over_the_same_files_and_it_is_said(
    house: House, memory: MemoryProvider
) -> None:
    manager = house.manager(memory)
    await house.run(manager, "echo kept > kept.txt", "eff_1")
    lost = (await house.row()).id
    memory.lose(lost)
    assert await house.run(manager, "cat kept.txt", "eff_2") == "kept\n"
    assert (await house.row()).id != lost
    assert await house.told() == ["creating", "ready", "lost", "context.lost", "creating", "ready"]


async def test_a_killed_sandbox_is_replaced_over_the_same_files_without_fuss(
    house: House, memory: MemoryProvider
) -> None:
    manager = house.manager(memory)
    await house.run(manager, "echo kept > kept.txt", "eff_1")
    await manager.kill(house.workspace_id)
    await manager.kill(house.workspace_id)
    assert await memory.list_refs() == []
    assert await manager.find(house.workspace_id) is None
    assert await house.run(manager, "cat kept.txt", "eff_2") == "kept\n"
    assert "context.lost" not in await house.told()


async def test_a_stopped_sandbox_starts_again_under_its_own_id(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    await house.run(manager, "echo kept > kept.txt", "eff_1")
    before = (await house.row()).id
    await manager.stop(house.workspace_id)
    assert await memory.list_refs() == []
    assert (await house.row()).life.pause_kind is PauseKind.STOPPED
    assert await manager.find(house.workspace_id) is None
    assert await house.run(manager, "cat kept.txt", "eff_2") == "kept\n"
    assert (await house.row()).id == before


async def test_the_next_server_finds_it_again(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    await house.run(manager, "true", "eff_1")
    await manager.aclose()
    second = house.manager(memory)
    await reconcile(second)
    sandbox = await second.ensure(house.workspace_id, house.project_id)
    assert memory.created == [sandbox.sandbox_id]
    assert await house.told() == ["creating", "ready"]


async def test_the_next_server_finds_a_frozen_one_and_leaves_it_frozen(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    sandbox = await manager.ensure(house.workspace_id, house.project_id)
    sandbox = untranslated(sandbox)
    assert isinstance(sandbox, MemorySandbox)
    await manager.freeze(house.workspace_id)
    second = house.manager(memory)
    await reconcile(second)
    assert sandbox.is_frozen()
    await second.thaw(house.workspace_id)
    assert not sandbox.is_frozen()


@pytest.mark.parametrize("state", [State.PAUSING, State.RESUMING])
async def test_one_left_half_asleep_by_a_killed_server_is_woken(
    house: House, memory: MemoryProvider, state: State
) -> None:
    manager = house.manager(memory)
    sandbox = await manager.ensure(house.workspace_id, house.project_id)
    sandbox = untranslated(sandbox)
    assert isinstance(sandbox, MemorySandbox)
    await sandbox.freeze()
    change: Callable[..., Any] = store.change
    await house.db.write(change, sandbox.sandbox_id, State.PAUSING)
    if state is State.RESUMING:
        await house.db.write(change, sandbox.sandbox_id, State.PAUSED, pause_kind=PauseKind.FROZEN)
        await house.db.write(change, sandbox.sandbox_id, State.RESUMING)
    await reconcile(house.manager(memory))
    assert not sandbox.is_frozen()
    assert (await house.row()).life.state is State.READY


async def test_a_restart_closes_what_vanished_and_ends_what_nobody_knows(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    vanished = await manager.ensure(house.workspace_id, house.project_id)
    memory.lose(vanished.sandbox_id)
    await memory.create(SandboxSpec("sbx_orphan", Path("orphan")))
    await reconcile(house.manager(memory))
    assert (await house.row()).life.state is State.LOST
    assert await memory.list_refs() == []
    assert (await house.told())[-2:] == ["lost", "context.lost"]


async def test_one_whose_creation_was_cut_by_a_kill_is_closed_at_the_restart(
    house: House, memory: MemoryProvider
) -> None:
    row = await house.db.write(store.add, house.workspace_id, house.project_id, "memory", "local")
    await memory.create(SandboxSpec(row.id, Path("any")))
    await reconcile(house.manager(memory))
    assert (await house.row()).life.state is State.LOST
    assert await memory.list_refs() == []
    assert "context.lost" not in await house.told()


async def test_sandboxes_of_another_node_are_left_alone(house: House, memory: MemoryProvider) -> None:
    await house.manager(memory).ensure(house.workspace_id, house.project_id)
    other = SandboxManager(house.db, MemoryProvider(), house.clock, SETTINGS, house.data_dir, node_id="nod_2")
    await reconcile(other)
    assert (await house.row()).life.state is State.READY


async def test_a_sandbox_of_another_nodes_machine_is_replaced_here_and_ended_there(house: House) -> None:
    on_a_machine = Capabilities(pause=True, reattach=True, volume=True)
    async with MemoryProvider(capabilities=on_a_machine) as there, MemoryProvider(capabilities=on_a_machine) as here:
        first = SandboxManager(house.db, there, house.clock, SETTINGS, house.data_dir, node_id="nod_1")
        second = SandboxManager(house.db, here, house.clock, SETTINGS, house.data_dir, node_id="nod_2")
        old = await first.ensure(house.workspace_id, house.project_id)
        assert await second.find(house.workspace_id) is None
        await second.freeze(house.workspace_id)
        assert (await house.row()).life.state is State.READY, "nobody here touches it before it is needed here"
        new = await second.ensure(house.workspace_id, house.project_id)
        assert new.sandbox_id != old.sandbox_id
        assert [sandbox_id for sandbox_id, _ in await there.list_refs()] == [old.sandbox_id]
        await sweep(first)
        assert await there.list_refs() == []
        assert [sandbox_id for sandbox_id, _ in await here.list_refs()] == [new.sandbox_id]
        assert (await house.row()).life.state is State.READY


async def test_a_sandbox_killed_from_another_node_is_ended_at_the_next_sweep(house: House) -> None:
    on_a_machine = Capabilities(pause=True, reattach=True, volume=True)
    async with MemoryProvider(capabilities=on_a_machine) as there:
        first = SandboxManager(house.db, there, house.clock, SETTINGS, house.data_dir, node_id="nod_1")
        other = MemoryProvider(capabilities=on_a_machine)
        second = SandboxManager(house.db, other, house.clock, SETTINGS, house.data_dir, node_id="nod_2")
        await first.ensure(house.workspace_id, house.project_id)
        await second.kill(house.workspace_id)
        assert (await house.row()).life.state is State.KILLED
        await sweep(first)
        assert await there.list_refs() == []


async def test_a_sandbox_that_cannot_start_is_said_and_closed(house: House, memory: MemoryProvider) -> None:
    class Broken(MemoryProvider):
        async def create(self, spec: SandboxSpec) -> MemorySandbox:
            raise SandboxUnavailable("no room", retry_after_s=5)

    with pytest.raises(SandboxUnavailable):
        await house.manager(Broken()).ensure(house.workspace_id, house.project_id)
    assert await house.told() == ["creating", "lost"]
    await house.manager(memory).ensure(house.workspace_id, house.project_id)


async def test_commands_are_stopped_by_their_effect_also_while_frozen(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    await manager.stop_commands(house.workspace_id, ["eff_none"])
    sandbox = await manager.ensure(house.workspace_id, house.project_id)
    begun = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def stop() -> None:
            await begun.wait()
            await manager.freeze(house.workspace_id)
            await manager.stop_commands(house.workspace_id, ["eff_none", "eff_1"])

        tasks.start_soon(stop)
        result = await sandbox.run(Command("eff_1", 1, "echo begun; sleep 1000"), lambda _text: begun.set())
    assert result.killed_reason == "cancelled"


async def test_idle_sandboxes_are_frozen_then_stopped_then_removed(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    await manager.ensure(house.workspace_id, house.project_id)
    await step_down(manager)
    assert (await house.row()).life.state is State.READY
    house.clock.shift = timedelta(seconds=SETTINGS.idle_pause_s + 1)
    await step_down(manager, busy=[house.workspace_id])
    assert (await house.row()).life.state is State.READY
    await step_down(manager)
    assert (await house.row()).life.pause_kind is PauseKind.FROZEN
    house.clock.shift = timedelta(seconds=SETTINGS.stop_after_s + 1)
    await step_down(manager)
    assert (await house.row()).life.pause_kind is PauseKind.STOPPED
    house.clock.shift = timedelta(seconds=SETTINGS.kill_after_s + 1)
    await step_down(manager)
    assert (await house.row()).life.state is State.KILLED


async def test_the_least_recently_used_is_stopped_before_one_too_many_wakes(
    house: House, memory: MemoryProvider
) -> None:
    manager = house.manager(memory, replace(SETTINGS, max_awake=2))
    first, second, third = house.workspace_id, await house.workspace("thr_2"), await house.workspace("thr_3")
    for workspace_id in (first, second, third):
        house.clock.shift += timedelta(minutes=1)
        await manager.ensure(workspace_id, house.project_id)
    assert (await house.told())[-4:] == ["paused stopped", "context.lost", "creating", "ready"]
    assert await manager.find(first) is None
    assert len(await memory.list_refs()) == 2
    house.clock.shift += timedelta(minutes=1)
    await manager.ensure(first, house.project_id)
    assert await manager.find(second) is None
    assert await manager.find(third) is not None
    assert await manager.find(first) is not None


async def test_those_at_work_are_not_stopped_for_room(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory, replace(SETTINGS, max_awake=2))
    ada = await house.db.write(make_user)
    for leg in ("held", "parked", "ended"):
        thread_id = await house.db.write(make_thread, house.project_id, ada)
        workspace_id = await house.workspace(thread_id)
        house.clock.shift += timedelta(minutes=1)
        await manager.ensure(workspace_id, house.project_id)
        await house.db.write(make_run, thread_id, ada, leg=leg, workspace_id=workspace_id)
    states = {leg: await house.db.read(_state_of_runs_sandbox, leg) for leg in ("held", "parked", "ended")}
    assert states == {"held": "ready", "parked": "paused", "ended": "ready"}
    await manager.ensure(house.workspace_id, house.project_id)
    states = {leg: await house.db.read(_state_of_runs_sandbox, leg) for leg in ("held", "parked", "ended")}
    assert states == {"held": "ready", "parked": "paused", "ended": "paused"}


async def test_many_that_start_at_once_are_trimmed_to_the_limit_when_they_rest(
    house: House, memory: MemoryProvider
) -> None:
    manager = house.manager(memory, replace(SETTINGS, max_awake=3))
    places = [await house.workspace(f"thr_many_{number}") for number in range(10)]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for workspace_id in places:
                tasks.start_soon(manager.ensure, workspace_id, house.project_id)
    await step_down(manager)
    assert len(await memory.list_refs()) == 3


def _state_of_runs_sandbox(tx: Tx, leg: str) -> str:
    its = sandboxes.c.workspace_id == runs.c.workspace_id
    return str(tx.execute(sa.select(sandboxes.c.state).join(runs, its).where(runs.c.leg == leg)).scalar_one())


async def test_a_provider_without_pause_kills_instead(house: House) -> None:
    async with MemoryProvider(capabilities=Capabilities(reattach=True)) as provider:
        manager = house.manager(provider)
        await manager.ensure(house.workspace_id, house.project_id)
        await manager.freeze(house.workspace_id)
        assert (await house.row()).life.state is State.KILLED


async def test_every_change_is_in_the_projects_log(house: House, memory: MemoryProvider) -> None:
    manager = SandboxManager(house.db, memory, house.clock, SETTINGS, house.data_dir)
    await manager.ensure(house.workspace_id, house.project_id)

    def numbers(tx: Tx) -> int:
        return int(tx.execute(sa.select(projects.c.log_seq)).scalar_one())

    assert await house.db.read(numbers) >= 2


@pytest.mark.sandbox
async def test_real_sandboxes_live_through_a_change_of_servers(house: House, local: LocalProvider) -> None:
    manager = house.manager(local)
    await house.run(manager, "echo kept > kept.txt; (sleep 1000 &)", "eff_1")
    first = await house.row()
    await manager.freeze(house.workspace_id)
    await manager.aclose()
    second = house.manager(LocalProvider(local.state_dir, local.cache_dir))
    await reconcile(second)
    assert await house.run(second, "pgrep -c sleep; cat kept.txt", "eff_2") == "1\nkept\n"
    assert (await house.row()).id == first.id
    await second.stop(house.workspace_id)
    assert await house.run(second, "pgrep -c sleep; cat kept.txt", "eff_3") == "0\nkept\n"
    await second.kill(house.workspace_id)
    assert await local.list_refs() == []


@pytest.mark.sandbox
async def test_a_cancelled_creation_leaves_no_sandbox_and_a_closed_row(house: House, local: LocalProvider) -> None:
    manager = house.manager(local)
    await local.prepare()
    for number in range(8):
        with anyio.move_on_after(number * 0.01):
            await manager.ensure(house.workspace_id, house.project_id)
            await manager.kill(house.workspace_id)
        with anyio.CancelScope(shield=True):
            await manager.kill(house.workspace_id)
        assert await local.list_refs() == []
    living = await house.db.read(store.alive_on, "local", "local")
    assert living == []


async def of_template(house: House, workspace_id: str, name: str) -> None:
    named = sa.update(workspaces).where(workspaces.c.id == workspace_id).values(template=name)
    await house.db.write(lambda tx: tx.execute(named))


async def test_a_workspace_of_an_app_template_gets_the_sandbox_that_it_needs(
    house: House, memory: MemoryProvider
) -> None:
    manager = house.manager(memory, replace(SETTINGS, preview_base_domain="show.example.com"))
    template = replace(small_template(), memory_mb=1024, cpus=3.0)
    manager.lives.templates = {"small": template}
    await of_template(house, house.workspace_id, "small")
    sandbox = await manager.ensure(house.workspace_id, house.project_id)
    sandbox = untranslated(sandbox)
    assert isinstance(sandbox, MemorySandbox)
    spec = sandbox._spec
    assert (spec.limits.memory_bytes, spec.limits.cpu_count) == (1024 << 20, 3.0)
    assert spec.layers == ("node_modules", ".cache")
    assert spec.env == {"TEMPLATE_SAYS": "hello", "OUTLAST_PREVIEW_HOSTS": "*.show.example.com"}
    await sandbox.write_files([("node_modules/kit/index.js", b"1"), ("index.html", b"2")])
    assert [one.path for one in await sandbox.list_files()] == ["index.html"]


async def test_one_whose_template_is_unknown_gets_a_plain_one(house: House, memory: MemoryProvider) -> None:
    manager = house.manager(memory)
    await of_template(house, house.workspace_id, "gone")
    sandbox = await manager.ensure(house.workspace_id, house.project_id)
    sandbox = untranslated(sandbox)
    assert isinstance(sandbox, MemorySandbox)
    assert sandbox._spec.layers == ()


async def test_a_sandbox_that_needs_more_memory_makes_more_room(
    house: House, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = house.manager(memory)
    manager.lives.templates = {"small": replace(small_template(), memory_mb=1024)}
    monkeypatch.setattr(manager, "awake_allowed", 3)  # by memory: three of 512 MiB, or one of 1024 and one more
    others = [await house.workspace(f"thr_{number}") for number in (2, 3)]
    for workspace_id in others:
        await manager.ensure(workspace_id, house.project_id)
        house.clock.shift += timedelta(minutes=1)
    await of_template(house, house.workspace_id, "small")
    await manager.ensure(house.workspace_id, house.project_id)
    rows = [await house.db.read(store.newest, workspace_id) for workspace_id in others]
    assert [row is not None and row.life.pause_kind for row in rows] == [PauseKind.STOPPED, None]
