"""Rate limits by counting rows. First argument: the open transaction."""

from datetime import datetime

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.limits.rules import WINDOW, check_rate
from outlast.kernel.runs.tables import runs


def check_run_rates(tx: Tx, user_id: str, project_id: str, per_user: int, per_project: int) -> None:
    """Raise `RateLimited` when the user or the project has started as many runs within the last minute as it may
    (0: no limit). Two starts at the very same moment may both pass."""
    by_user, in_project = runs.c.started_by == user_id, runs.c.project_id == project_id
    for what, whose, limit in (("user", by_user, per_user), ("project", in_project, per_project)):
        if limit:
            check_rate(what, _moments(tx, runs.c.created_at, whose, limit), limit, tx.now)


def check_made_rate(
    tx: Tx,
    table: sa.Table,
    user_id: str,
    per_user: int,
    *,
    things: str = "",
    by: str = "created_by",
    which: sa.ColumnElement[bool] | None = None,
) -> None:
    """Raise `RateLimited` when the user has made as many rows of `table` within the last minute as one may (0: no
    limit). `things` is what people call them (the table's name), `by` the column that says who made one, `which` the
    rows that count (all)."""
    if per_user:
        whose = table.c[by] == user_id
        counted = whose if which is None else sa.and_(whose, which)
        recent = _moments(tx, table.c.created_at, counted, per_user)
        check_rate("user", recent, per_user, tx.now, things=things or table.name)


def _moments(tx: Tx, moment: sa.Column[datetime], whose: sa.ColumnElement[bool], limit: int) -> list[datetime]:
    """The last `limit` of these moments within the window, oldest first."""
    within = sa.select(moment).where(whose, moment > tx.now - WINDOW)
    return list(reversed(tx.execute(within.order_by(moment.desc()).limit(limit)).scalars().all()))
