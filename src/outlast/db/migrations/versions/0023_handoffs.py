"""Agents hand conversations over: the comments of columns name the new words. Nothing else changes.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

_COMMENTS = {
    ("runs", "parent_run_id"): "retried, continued or handed over from",
    ("runs", "mode"): "start | retry | continue | handoff",
    ("runs", "stop_reason"): "end | length | steps | handed_over | user | abandoned | credits | policy | provider | "
    "sandbox | problems | superseded | flow | changed",
    ("effects", "status"): "allowed | waiting | started | parked | deferred | finished | denied | interrupted | "
    "cancelled | failed",
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":  # it keeps no comments
        return
    for (table, column), comment in _COMMENTS.items():
        op.execute(sa.text(f"COMMENT ON COLUMN {table}.{column} IS '{comment}'"))
