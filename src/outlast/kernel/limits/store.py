"""Rate limits by counting rows, so that they count for all servers together. First argument: the open transaction.

On PostgreSQL, where transactions run at the same time, those that count for the same limit wait for each other: of two
at the last place one is refused. SQLite has a single writer.
"""

from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.limits.rules import WINDOW, check_rate
from outlast.kernel.runs.tables import runs

_ALL: Final = sa.true()
_WAIT: Final = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")  # until the transaction ends


def check_run_rates(tx: Tx, user_id: str, project_id: str, per_user: int, per_project: int) -> None:
    """Raise `RateLimited` when the user or the project has started as many runs within the last minute as the limit
    allows (0 for no limit)."""
    _check(tx, "user", runs, "started_by", user_id, per_user)
    _check(tx, "project", runs, "project_id", project_id, per_project)


def check_made_rate(
    tx: Tx,
    table: sa.Table,
    user_id: str,
    per_user: int,
    *,
    things: str = "",
    by: str = "created_by",
    which: sa.ColumnElement[bool] = _ALL,
) -> None:
    """Raise `RateLimited` when the user has created as many rows of `table` within the last minute as the limit allows
    (0 for no limit). `things` is their name in messages (default: the table's name), `by` the column with the user's
    id, `which` the rows that count (default: all)."""
    _check(tx, "user", table, by, user_id, per_user, things or table.name, which)


def _check(
    tx: Tx,
    per: str,
    table: sa.Table,
    by: str,
    whose: str,
    limit: int,
    things: str = "runs",
    which: sa.ColumnElement[bool] = _ALL,
) -> None:
    if limit:
        if tx.conn.dialect.name == "postgresql":
            tx.execute(_WAIT, {"key": f"rate {table.name} {by} {whose}"})
        since = tx.now - WINDOW
        newest = tx.execute(_newest(table, by, which), {"whose": whose, "since": since, "most": limit}).scalars()
        check_rate(per, list(reversed(list(newest))), limit, tx.now, things=things)


@cache
def _newest(table: sa.Table, by: str, which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """`which` is a constant, so that each statement is built once."""
    made = table.c.created_at
    within = sa.select(made).where(table.c[by] == sa.bindparam("whose"), which, made > sa.bindparam("since"))
    return within.order_by(made.desc()).limit(sa.bindparam("most", type_=sa.Integer))
