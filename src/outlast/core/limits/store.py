"""Rate limits by counting rows. First argument: the open transaction."""

from datetime import datetime

import sqlalchemy as sa

from outlast.core.limits.rules import WINDOW, check_rate
from outlast.db.database import Tx
from outlast.db.tables import runs, screens


def check_run_rates(tx: Tx, user_id: str, project_id: str, per_user: int, per_project: int) -> None:
    """Raise `RateLimited` when the user or the project has started as many runs within the last minute as it may
    (0: no limit). Two starts at the very same moment may both pass."""
    if per_user:
        check_rate("user", _recent(tx, runs.c.started_by == user_id, per_user), per_user, tx.now)
    if per_project:
        check_rate("project", _recent(tx, runs.c.project_id == project_id, per_project), per_project, tx.now)


def check_screen_rate(tx: Tx, user_id: str, per_user: int) -> None:
    """Raise `RateLimited` when the user has made as many screens within the last minute as one may (0: no limit)."""
    if per_user:
        within = sa.select(screens.c.created_at).where(
            screens.c.created_by == user_id, screens.c.created_at > tx.now - WINDOW
        )
        newest = tx.execute(within.order_by(screens.c.created_at.desc()).limit(per_user)).scalars().all()
        check_rate("user", newest[::-1], per_user, tx.now, things="screens")


def _recent(tx: Tx, whose: sa.ColumnElement[bool], limit: int) -> list[datetime]:
    """The moments of the last `limit` runs within the window, oldest first."""
    within = sa.select(runs.c.created_at).where(whose, runs.c.created_at > tx.now - WINDOW)
    moments = tx.execute(within.order_by(runs.c.created_at.desc()).limit(limit)).scalars().all()
    return list(reversed(moments))
