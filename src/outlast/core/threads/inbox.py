"""What waits for a person: open approvals and questions, and requests for a hand-over. A read over other rooms' rows;
nothing is stored for it."""

from dataclasses import dataclass
from typing import Any, Final

import orjson
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.db.tables import approvals, locks, members, threads, users

MAX_TEXT_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One thing that waits for the reader: `kind` is approval, question or handover, `id` the approval's, question's or
    thread's, `text` says in one line what is asked."""

    kind: str
    id: str
    project_id: str
    thread_id: str
    thread_title: str
    run_id: str | None
    tool: str | None
    created_at: str
    text: str


def list_inbox(tx: Tx, user_id: str, project_id: str | None) -> list[InboxItem]:
    """Everything that waits for this user in one project (None: in all of theirs where they may decide), newest
    first."""
    items = [*_decisions(tx, user_id, project_id), *_hand_overs(tx, user_id, project_id)]
    return sorted(items, key=lambda item: (item.created_at, item.id), reverse=True)


def _decisions(tx: Tx, user_id: str, project_id: str | None) -> list[InboxItem]:
    rows = tx.all(
        sa.select(approvals, threads.c.title, threads.c.project_id)
        .select_from(approvals.join(threads, threads.c.id == approvals.c.thread_id))
        .join(members, _may_decide(user_id))
        .where(approvals.c.status == "open", *_in(project_id))
    )
    return [
        InboxItem(
            row["kind"],
            row["id"],
            row["project_id"],
            row["thread_id"],
            row["title"],
            row["run_id"],
            row["tool"],
            iso(row["created_at"]),
            _asked(row["kind"], row["tool"], row["arguments"]),
        )
        for row in rows
    ]


def _hand_overs(tx: Tx, user_id: str, project_id: str | None) -> list[InboxItem]:
    rows = tx.all(
        sa.select(threads.c.id, threads.c.title, threads.c.project_id, locks.c.requested_at, users.c.name)
        .select_from(locks.join(threads, threads.c.id == locks.c.resource_id))
        .join(users, users.c.id == locks.c.requested_by)
        .join(members, _may_decide(user_id))
        .where(locks.c.resource_type == "thread", locks.c.holder_id == user_id, *_in(project_id))
    )
    return [
        InboxItem(
            "handover",
            row["id"],
            row["project_id"],
            row["id"],
            row["title"],
            None,
            None,
            iso(row["requested_at"]),
            f"{row['name']} would like to drive this thread.",
        )
        for row in rows
    ]


def _may_decide(user_id: str) -> sa.ColumnElement[bool]:
    mine = (members.c.project_id == threads.c.project_id) & (members.c.user_id == user_id)
    return mine & members.c.role.in_(["owner", "editor"])


def _in(project_id: str | None) -> list[sa.ColumnElement[bool]]:
    return [] if project_id is None else [threads.c.project_id == project_id]


def _asked(kind: str, tool: str, arguments: str) -> str:
    text = _questions(arguments) if kind == "question" else f"{tool} {arguments}"
    return text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + "…"


def _questions(arguments: str) -> str:
    try:
        asked: Any = orjson.loads(arguments)
        return " ".join(str(question["question"]) for question in asked["questions"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return arguments
