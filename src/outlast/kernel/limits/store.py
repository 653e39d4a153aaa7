"""Rate limits by counting rows. First argument: the open transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

import sqlalchemy as sa

from outlast.apps.documents.tables import comments, document_versions, documents, edits
from outlast.apps.pages.tables import page_actions, pages
from outlast.apps.screens.tables import screens
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import tokens
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.files.tables import artifacts
from outlast.kernel.limits.rules import WINDOW, check_rate
from outlast.kernel.projects.tables import invitations, members
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads.tables import messages, threads

Made = Literal[
    "screens",
    "pages",
    "documents",
    "actions",
    "changes of documents",
    "comments",
    "files",
    "messages",
    "projects",
    "threads",
    "tokens",
    "invitations",
    "attachments",
]
_MADE: Final[Mapping[Made, tuple[sa.Column[Any], sa.Column[Any], sa.ColumnElement[bool]]]] = {
    # when, by whom, and which of them count
    "screens": (screens.c.created_at, screens.c.created_by, sa.true()),
    "pages": (pages.c.created_at, pages.c.created_by, sa.true()),
    "documents": (documents.c.created_at, documents.c.created_by, sa.true()),
    "actions": (page_actions.c.created_at, page_actions.c.user_id, sa.true()),
    "changes of documents": (  # accepted edits of agents are decisions
        document_versions.c.created_at,
        document_versions.c.by,
        document_versions.c.kind != "agent",
    ),
    "comments": (comments.c.created_at, comments.c.by, sa.true()),
    "files": (artifacts.c.created_at, artifacts.c.created_by, sa.true()),
    "messages": (messages.c.created_at, messages.c.sender_id, messages.c.role == "user"),
    "projects": (members.c.created_at, members.c.user_id, members.c.role == "owner"),
    "threads": (threads.c.created_at, threads.c.created_by, sa.true()),
    "tokens": (tokens.c.created_at, tokens.c.user_id, sa.true()),
    "invitations": (invitations.c.created_at, invitations.c.created_by, sa.true()),
    "attachments": (attachments.c.created_at, attachments.c.created_by, sa.true()),
}


def check_run_rates(tx: Tx, user_id: str, project_id: str, per_user: int, per_project: int) -> None:
    """Raise `RateLimited` when the user or the project has started as many runs within the last minute as it may
    (0: no limit). Two starts at the very same moment may both pass."""
    if per_user:
        check_rate("user", _recent(tx, runs.c.started_by == user_id, per_user), per_user, tx.now)
    if per_project:
        check_rate("project", _recent(tx, runs.c.project_id == project_id, per_project), per_project, tx.now)


def check_made_rate(tx: Tx, things: Made, user_id: str, per_user: int) -> None:
    """Raise `RateLimited` when the user has made as many of these within the last minute as one may (0: no limit)."""
    if per_user:
        made, by, counts = _MADE[things]
        whose = sa.and_(by == user_id, counts)
        check_rate("user", _moments(tx, made, whose, per_user), per_user, tx.now, things=things)


def check_decision_rate(tx: Tx, user_id: str, per_user: int) -> None:
    """Raise `RateLimited` when the user has decided about proposed edits as often within the last minute as one may (0:
    no limit). Deciding about many at once counts once."""
    if per_user:
        decided = sa.select(edits.c.decided_at).where(edits.c.decided_by == user_id)
        within = decided.where(edits.c.decided_at > tx.now - WINDOW).distinct()
        newest = tx.execute(within.order_by(edits.c.decided_at.desc()).limit(per_user)).scalars().all()
        check_rate("user", list(reversed(newest)), per_user, tx.now, things="decisions")


def _recent(tx: Tx, whose: sa.ColumnElement[bool], limit: int) -> list[datetime]:
    """The moments of the last `limit` runs within the window, oldest first."""
    return _moments(tx, runs.c.created_at, whose, limit)


def _moments(
    tx: Tx, moment: sa.Column[datetime], whose: sa.ColumnElement[bool], limit: int
) -> list[datetime]:
    """The last `limit` of these moments within the window, oldest first."""
    within = sa.select(moment).where(whose, moment > tx.now - WINDOW)
    return list(reversed(tx.execute(within.order_by(moment.desc()).limit(limit)).scalars().all()))
