"""Rate limits by counting rows. First argument: the open transaction."""

from typing import Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.limits.rules import WINDOW, check_rate
from outlast.kernel.runs.tables import runs

_ALL: Final = sa.true()


def check_run_rates(tx: Tx, user_id: str, project_id: str, per_user: int, per_project: int) -> None:
    """Raise `RateLimited` when the user or the project has started as many runs within the last minute as the limit
    allows (0 for no limit). Two starts at the same moment may both pass."""
    _check(tx, "user", runs, runs.c.started_by == user_id, per_user)
    _check(tx, "project", runs, runs.c.project_id == project_id, per_project)


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
    _check(tx, "user", table, (table.c[by] == user_id) & which, per_user, things or table.name)


def _check(
    tx: Tx, per: str, table: sa.Table, counted: sa.ColumnElement[bool], limit: int, things: str = "runs"
) -> None:
    if limit:
        within = sa.select(table.c.created_at).where(counted, table.c.created_at > tx.now - WINDOW)
        newest = tx.execute(within.order_by(table.c.created_at.desc()).limit(limit)).scalars().all()
        check_rate(per, list(reversed(newest)), limit, tx.now, things=things)
