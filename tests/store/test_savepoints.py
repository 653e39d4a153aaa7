"""A part of a transaction that fails alone, on both databases."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.db.savepoints import savepoint
from outlast.kernel.accounts.tables import users


def add(tx: Tx, name: str) -> None:
    tx.insert(users, id=name, name=name, plan="default", is_admin=False, is_local=False, created_at=tx.now)


def names(tx: Tx) -> set[str]:
    return {name for name in ("before", "inside", "deeper", "after") if tx.exists(users, {"id": name})}


def fail(tx: Tx) -> None:
    with savepoint(tx):
        add(tx, "inside")
        raise ValueError("undo")


async def test_a_part_that_raises_is_undone_and_the_rest_stays(db: Database) -> None:
    def run(tx: Tx) -> None:
        add(tx, "before")
        with pytest.raises(ValueError, match="undo"):
            fail(tx)
        add(tx, "after")

    await db.write(run)
    assert await db.read(names) == {"before", "after"}


async def test_a_refused_statement_ends_only_its_part(db: Database) -> None:
    def add_twice(tx: Tx) -> None:
        with savepoint(tx):
            add(tx, "inside")
            add(tx, "before")

    def run(tx: Tx) -> None:
        add(tx, "before")
        with pytest.raises(sa.exc.IntegrityError):
            add_twice(tx)
        add(tx, "after")

    await db.write(run)
    assert await db.read(names) == {"before", "after"}


async def test_an_inner_part_is_undone_within_an_outer_one_that_stays(db: Database) -> None:
    def run(tx: Tx) -> None:
        with savepoint(tx):
            add(tx, "before")
            with pytest.raises(ValueError, match="undo"):
                fail(tx)
            add(tx, "after")

    await db.write(run)
    assert await db.read(names) == {"before", "after"}


async def test_an_outer_part_takes_an_inner_one_that_succeeded_with_it(db: Database) -> None:
    def fail_around(tx: Tx) -> None:
        with savepoint(tx):
            with savepoint(tx):
                add(tx, "deeper")
            raise ValueError("undo")

    def run(tx: Tx) -> None:
        with pytest.raises(ValueError, match="undo"):
            fail_around(tx)
        add(tx, "after")

    await db.write(run)
    assert await db.read(names) == {"after"}
