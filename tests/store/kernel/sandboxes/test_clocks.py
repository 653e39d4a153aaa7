"""The clocks that are shown for a sandbox and for the run that waits in it, as the tables give them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import TimerKind
from outlast.kernel.runs.timers import set_timer
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.clocks import EVICT, FREEZE, KILL, STOP, clocks_beside_run, clocks_of
from outlast.kernel.sandboxes.rules import PauseKind, State
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import hosted_sandboxes, workspaces
from tests.factories import make_project, make_run, make_thread, make_user

SETTINGS = SandboxSettings()


@dataclass(frozen=True)
class Place:
    project_id: str
    thread_id: str
    workspace_id: str
    sandbox_id: str


def furnish(tx: Tx) -> Place:
    """A thread with a workspace and a sandbox that is awake."""
    ada = make_user(tx)
    project_id = make_project(tx, ada)
    thread_id = make_thread(tx, project_id, ada)
    row = {"id": "wsp_1", "project_id": project_id, "owner_type": "thread", "owner_id": thread_id}
    tx.execute(sa.insert(workspaces).values(**row, created_at=tx.now, last_used_at=tx.now))
    sandbox = store.add(tx, "wsp_1", project_id, "local", "nod_1")
    store.change(tx, sandbox.id, State.READY, ref="1:1")
    return Place(project_id, thread_id, "wsp_1", sandbox.id)


def names(tx: Tx, place: Place) -> list[str]:
    row = store.newest(tx, place.workspace_id)
    assert row is not None
    return [clock.name for clock in clocks_of(tx, SETTINGS, row)]


def open_run(tx: Tx, /, place: Place, leg: str, **timers: float) -> str:
    run_id = make_run(tx, place.thread_id, make_user(tx, "Emil"), leg=leg, workspace_id=place.workspace_id)
    for kind, minutes in timers.items():
        timer: TimerKind = kind  # type: ignore[assignment]
        set_timer(tx, timer, run_id, tx.now + timedelta(minutes=minutes))
    return run_id


async def test_an_idle_sandbox_shows_each_step_with_its_time_and_what_it_takes_away(db: Database) -> None:
    place = await db.write(furnish)
    row = await db.read(store.newest, place.workspace_id)
    assert row is not None
    shown = await db.read(clocks_of, SETTINGS, row)
    after = {clock.name: clock.due_at for clock in shown}
    assert after == {
        FREEZE: iso(row.last_used_at + timedelta(minutes=15)),
        STOP: iso(row.last_used_at + timedelta(minutes=30)),
        KILL: iso(row.last_used_at + timedelta(days=1)),
    }
    assert all(clock.takes_away.endswith(".") for clock in shown)


@pytest.mark.parametrize("leg", ["ready", "held"])
async def test_no_clock_runs_while_a_run_works_there(db: Database, leg: str) -> None:
    place = await db.write(furnish)
    await db.write(open_run, place, leg)
    assert await db.read(names, place) == []


async def test_a_run_that_waits_brings_the_pause_forward_and_does_not_let_the_files_go(db: Database) -> None:
    place = await db.write(furnish)
    await db.write(saved)
    await db.write(open_run, place, "parked", approval_pause=5)
    row = await db.read(store.newest, place.workspace_id)
    assert row is not None
    shown = {clock.name: clock.due_at for clock in await db.read(clocks_of, SETTINGS, row)}
    assert list(shown) == [FREEZE, STOP, KILL]
    assert shown[FREEZE] < iso(row.last_used_at + timedelta(minutes=6))
    beside = await db.read(clocks_beside_run, SETTINGS, place.workspace_id)
    assert [clock.name for clock in beside] == [STOP, KILL], "its own clock says when it is paused"


def saved(tx: Tx) -> None:
    """Everything is in a checkpoint."""
    tx.execute(sa.update(workspaces).values(checkpoint_id="ckp_1", changed_at=None))


async def test_files_leave_the_disk_only_once_a_checkpoint_has_them(db: Database) -> None:
    place = await db.write(furnish)
    assert EVICT not in await db.read(names, place)
    await db.write(saved)
    assert EVICT in await db.read(names, place)
    await db.write(lambda tx: tx.execute(sa.update(workspaces).values(changed_at=tx.now)))
    assert EVICT not in await db.read(names, place)


async def test_a_sandbox_of_a_program_has_its_own_end_until_it_is_paused(db: Database) -> None:
    place = await db.write(furnish)

    def ask(tx: Tx) -> None:
        row: dict[str, Any] = {
            "workspace_id": place.workspace_id,
            "user_id": make_user(tx, "Emil").user_id,
            "on_timeout": "kill",
        }
        row |= {"metadata": {}, "env": {}, "options": {}, "access_token": "sat_1"}
        ends_at = tx.now + timedelta(minutes=5)
        tx.execute(sa.insert(hosted_sandboxes).values(**row, ends_at=ends_at, created_at=tx.now))

    await db.write(ask)
    assert await db.read(names, place) == ["program_kill"]
    await db.write(lambda tx: tx.execute(sa.update(hosted_sandboxes).values(on_timeout="pause")))
    assert await db.read(names, place) == ["program_pause"]
    await db.write(lambda tx: tx.execute(sa.update(hosted_sandboxes).values(paused_at=tx.now)))
    assert await db.read(names, place) == [FREEZE, STOP, KILL]


async def test_what_has_struck_is_shown_no_more_and_the_gone_show_nothing(db: Database) -> None:
    place = await db.write(furnish)
    change: Any = store.change
    await db.write(change, place.sandbox_id, State.PAUSING)
    await db.write(change, place.sandbox_id, State.PAUSED, pause_kind=PauseKind.FROZEN)
    assert await db.read(names, place) == [STOP, KILL]
    await db.write(change, place.sandbox_id, State.PAUSED, pause_kind=PauseKind.STOPPED)
    assert await db.read(names, place) == [KILL]
    await db.write(change, place.sandbox_id, State.KILLED)
    assert await db.read(names, place) == []
