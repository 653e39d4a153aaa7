"""In debug mode, a transaction that locks rows in another order than the declared one fails."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.db.lock_order import LockOrderBroken, locks_of_transaction
from outlast.db.savepoints import savepoint
from outlast.kernel.projects.tables import projects
from outlast.kernel.runs import store as runs
from outlast.kernel.runs.tables import runs as run_rows
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.tables import threads as thread_rows
from tests.factories import Team, make_run, make_thread


class House:
    def __init__(self, tx: Tx) -> None:
        self.team = Team(tx)
        self.thread_id = make_thread(tx, self.team.project_id, self.team.owner)
        self.run_id = make_run(tx, self.thread_id, self.team.owner)


def rename(tx: Tx, house: House) -> None:
    tx.update(projects, {"id": house.team.project_id}, name="Other")


def hold_before_by_key(tx: Tx, house: House) -> None:
    rename(tx, house)
    threads.hold(tx, house.thread_id)


def hold_before_by_condition(tx: Tx, house: House) -> None:
    rename(tx, house)
    runs.hold_open_runs(tx, house.thread_id)


def change_before(tx: Tx, house: House) -> None:
    threads.hold(tx, house.thread_id)
    tx.execute(sa.update(run_rows).where(run_rows.c.id == house.run_id).values(deaths=0))


def delete_before(tx: Tx, house: House) -> None:
    rename(tx, house)
    tx.execute(sa.delete(thread_rows).where(thread_rows.c.id == house.thread_id))


def hide_the_failure(tx: Tx, house: House) -> None:
    try:
        with savepoint(tx):
            hold_before_by_key(tx, house)
    except LockOrderBroken:
        runs.run_of(tx, house.run_id)


def hold_another_before(tx: Tx, house: House) -> None:
    threads.hold(tx, make_thread(tx, house.team.project_id, house.team.owner))
    rename(tx, house)
    threads.hold(tx, house.thread_id)


@pytest.mark.parametrize(
    "broken",
    [hold_before_by_key, hold_before_by_condition, change_before, delete_before, hide_the_failure, hold_another_before],
)
async def test_a_row_that_belongs_before_one_that_is_held_is_refused(db: Database, broken) -> None:
    house = await db.write(House)
    with pytest.raises(LockOrderBroken, match="after one of"):
        await db.write(broken, house)


async def test_the_error_names_both_tables_and_both_statements(db: Database) -> None:
    house = await db.write(House)
    with pytest.raises(LockOrderBroken) as raised:
        await db.write(hold_before_by_key, house)
    text = str(raised.value)
    assert "A row of threads is locked after one of projects" in text
    assert "UPDATE projects" in text
    assert "FROM threads" in text


def in_order(tx: Tx, house: House) -> None:
    runs.hold_run(tx, house.run_id)
    threads.hold(tx, house.thread_id)
    rename(tx, house)


def again(tx: Tx, house: House) -> None:
    in_order(tx, house)
    in_order(tx, house)


def of_its_own(tx: Tx, house: House) -> None:
    rename(tx, house)
    thread_id = make_thread(tx, house.team.project_id, house.team.owner)
    runs.hold_run(tx, make_run(tx, thread_id, house.team.owner))


def without_waiting(tx: Tx, house: House) -> None:
    rename(tx, house)
    runs.hold_run_if_free(tx, house.run_id)


@pytest.mark.parametrize("kept", [in_order, again, of_its_own, without_waiting])
async def test_rows_in_order_held_already_made_here_or_not_waited_for_are_locked(db: Database, kept) -> None:
    house = await db.write(House)
    await db.write(kept, house)


def test_outside_debug_mode_nothing_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlast.db.lock_order._debug", False)
    assert locks_of_transaction() is None
