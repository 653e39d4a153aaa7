"""A read returns typed rows, on both databases and by both roads of a statement."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.accounts.rows import UserRow
from outlast.kernel.accounts.tables import users
from outlast.kernel.projects.tables import members
from tests.factories import make_project, make_user


class Named(NamedTuple):
    id: str
    name: str


class Member(NamedTuple):
    user: UserRow
    role: str


BUILT_ONCE = sa.select(users.c.id, users.c.name).where(users.c.name == sa.bindparam("name"))


async def test_the_columns_of_a_statement_are_the_fields_of_the_shape(db: Database) -> None:
    ada = await db.write(make_user, "Ada")

    def read(tx: Tx) -> list[Named]:
        built_here = sa.select(users.c.id, users.c.name).where(users.c.name == "Ada")
        prepared = tx.row(Named, BUILT_ONCE, {"name": "Ada"})
        assert prepared is not None
        return [prepared, *tx.rows(Named, BUILT_ONCE, {"name": "Ada"}), *tx.rows(Named, built_here)]

    assert await db.read(read) == [Named(ada.user_id, "Ada")] * 3
    assert await db.read(lambda tx: tx.find(Named, users, {"name": "Ada"})) == Named(ada.user_id, "Ada")
    assert await db.read(lambda tx: tx.row(Named, BUILT_ONCE, {"name": "Eve"})) is None
    assert await db.read(lambda tx: tx.find(Named, users, {"name": "Eve"})) is None


async def test_a_row_holds_the_whole_row_of_a_joined_table(db: Database) -> None:
    ada = await db.write(make_user, "Ada")
    await db.write(make_project, ada)
    joined = sa.select(users, members.c.role).join(members, members.c.user_id == users.c.id)
    (found,) = await db.read(lambda tx: tx.rows(Member, joined))
    assert (found.user.id, found.user.name, found.role) == (ada.user_id, "Ada", "owner")
    assert found.user == await db.read(lambda tx: tx.find(UserRow, users, {"id": ada.user_id}))


@pytest.mark.parametrize(
    "columns",
    [(users.c.name, users.c.id), (users.c.id,), (users.c.id, users.c.name, users.c.plan)],
    ids=["other order", "one too few", "one too many"],
)
async def test_a_shape_with_other_fields_than_the_statements_columns_is_refused(
    db: Database, columns: tuple[sa.Column[str], ...]
) -> None:
    await db.write(make_user, "Ada")
    statement = sa.select(*columns).where(users.c.name == sa.bindparam("name"))
    with pytest.raises(TypeError, match="Named is read from"):
        await db.read(lambda tx: tx.row(Named, statement, {"name": "Ada"}))
    with pytest.raises(TypeError, match="Named is read from"):
        await db.read(lambda tx: tx.rows(Named, sa.select(*columns)))
