"""Locks as they are stored and told, on both databases."""

from __future__ import annotations

from datetime import timedelta

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.base.errors import LockNotHeld, ThreadBusy, ThreadLocked
from outlast.db.database import Database, Tx
from outlast.kernel.locks import thread_locks
from outlast.kernel.locks.store import shown_lock
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads import store
from tests.factories import Team, make_run

TTL_S = 3600


def lock_events(tx: Tx, stream_id: str) -> list[str]:
    events = [orjson.loads(line)["event"] for _, line in read_all(tx, stream_id)]
    return [event for event in events if event.startswith("lock.")]


async def test_the_first_to_drive_holds_the_lock_and_the_next_is_told_who_and_until_when(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        held = thread_locks.drive(tx, team.thread_id, team.project_id, team.editor, TTL_S)
        with pytest.raises(ThreadLocked, match="locked by Emil until") as refused:
            thread_locks.drive(tx, team.thread_id, team.project_id, team.owner, TTL_S)
        assert refused.value.fields["holder_id"] == team.editor.user_id
        assert refused.value.fields["expires_at"] == held.expires_at
        assert store.thread_data(tx, team.thread_id).lock == held
        assert lock_events(tx, team.thread_id) == lock_events(tx, team.project_id) == ["lock.acquired"]

    await db.write(run)


async def test_driving_again_refreshes_quietly(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        first = thread_locks.drive(tx, team.thread_id, team.project_id, team.editor, TTL_S)
        tx.now += timedelta(minutes=10)
        again = thread_locks.drive(tx, team.thread_id, team.project_id, team.editor, TTL_S)
        assert again.acquired_at == first.acquired_at
        assert again.expires_at > first.expires_at
        assert lock_events(tx, team.thread_id) == ["lock.acquired"]

    await db.write(run)


async def test_an_expired_lock_is_taken_over_unless_a_run_of_its_holder_works(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        thread_locks.drive(tx, team.thread_id, team.project_id, team.editor, TTL_S)
        run_id = make_run(tx, team.thread_id, team.editor, status="running")
        tx.now += timedelta(seconds=TTL_S)
        with pytest.raises(ThreadLocked):
            thread_locks.drive(tx, team.thread_id, team.project_id, team.owner, TTL_S)
        parked = {"status": "awaiting_approval", "leg": "parked"}
        tx.execute(sa.update(runs).where(runs.c.id == run_id).values(**parked))
        taken = thread_locks.drive(tx, team.thread_id, team.project_id, team.owner, TTL_S)
        assert taken.holder_name == "Olga"
        assert lock_events(tx, team.project_id) == ["lock.acquired", "lock.taken_over"]

    await db.write(run)


async def test_a_lock_is_requested_handed_over_and_released(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        with pytest.raises(LockNotHeld):
            thread_locks.request(tx, team.owner, team.thread_id)
        thread_locks.take(tx, team.editor, team.thread_id, TTL_S)
        asked = thread_locks.request(tx, team.owner, team.thread_id)
        assert (asked.holder_name, asked.requested_by_name) == ("Emil", "Olga")
        given = thread_locks.hand_over(tx, team.editor, team.thread_id, team.owner.user_id, TTL_S)
        assert (given.holder_name, given.requested_by) == ("Olga", None)
        with pytest.raises(ThreadLocked):
            thread_locks.release(tx, team.editor, team.thread_id)
        thread_locks.release(tx, team.owner, team.thread_id)
        thread_locks.release(tx, team.owner, team.thread_id)
        assert shown_lock(tx, team.thread_id) is None
        assert lock_events(tx, team.thread_id) == [
            "lock.acquired",
            "lock.requested",
            "lock.handed_over",
            "lock.released",
        ]

    await db.write(run)


async def test_a_working_run_keeps_its_drivers_lock(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        thread_locks.take(tx, team.editor, team.thread_id, TTL_S)
        make_run(tx, team.thread_id, team.editor, status="queued", leg="ready")
        with pytest.raises(ThreadBusy):
            thread_locks.release(tx, team.editor, team.thread_id)
        with pytest.raises(ThreadBusy):
            thread_locks.hand_over(tx, team.editor, team.thread_id, team.owner.user_id, TTL_S)

    await db.write(run)


async def test_who_leaves_the_project_lets_go_of_everything(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        thread_locks.drive(tx, team.thread_id, team.project_id, team.editor, TTL_S)
        thread_locks.release_all(tx, team.project_id, team.editor.user_id)
        assert shown_lock(tx, team.thread_id) is None
        assert lock_events(tx, team.project_id) == ["lock.acquired", "lock.released"]

    await db.write(run)


async def test_of_many_who_come_at_once_exactly_one_drives(db: Database) -> None:
    team = await db.write(Team)
    refused: list[str] = []

    async def come(name: str) -> None:
        actor = team.by_role()[name]

        def drive(tx: Tx) -> None:
            store.hold(tx, team.thread_id)
            thread_locks.drive(tx, team.thread_id, team.project_id, actor, TTL_S)

        try:
            await db.write(drive)
        except ThreadLocked:
            refused.append(name)

    async with anyio.create_task_group() as tasks:
        for name in ("owner", "editor"):
            tasks.start_soon(come, name)
    assert len(refused) == 1
