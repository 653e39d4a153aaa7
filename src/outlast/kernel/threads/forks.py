"""Forks: a new thread that begins as a copy of another, up to one message."""

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.attachments.store import copy_thread_files
from outlast.kernel.compactions import store as compactions
from outlast.kernel.sandboxes.seeds import fork_files
from outlast.kernel.subjects import registry
from outlast.kernel.threads.message_store import message_in
from outlast.kernel.threads.rows import MessageRow, ThreadRow
from outlast.kernel.threads.search_index import copy_words
from outlast.kernel.threads.state import copy_state
from outlast.kernel.threads.store import add_thread
from outlast.kernel.threads.tables import messages, threads

SUMMARY_MESSAGE: Final = "Sum up “{title}” up to this point, so that we can go on from here."
"""The message that requests the summary at the beginning of a fork."""


def fork_title(title: str, limit_chars: int) -> str:
    """The title of a fork, with the original's title shortened if needed."""
    room = limit_chars - len('Fork of ""')
    return f'Fork of "{title if len(title) <= room else title[: max(room - 1, 0)] + "…"}"'


def fork_thread(
    tx: Tx,
    parent: ThreadRow,
    actor: Actor,
    message_id: str | None,
    title: str,
    anchor: dict[str, Any] | None = None,
    *,
    with_files: bool = False,
) -> str:
    """Create a thread with the parent's profile and anchor (or `anchor`), its state as it is now, and full copies of
    its messages up to `message_id` (None for the last one): parts with their ids, images, models, times, and proposals.
    `with_files`: it works on a copy of the files as they were at that message. The parent is not changed. Returns the
    new id; not announced yet. Raises `NotFound` for a message of another thread, or when there is nothing to copy."""
    last = message_in(tx, parent.id, message_id)
    fork_id = add_thread(
        tx,
        parent.project_id,
        actor.user_id,
        title=title,
        profile=parent.profile,
        anchor=anchor or parent.anchor,
        parent_thread_id=parent.id,
        parent_message_id=last.id,
    )
    _copy_messages(tx, parent.id, fork_id, last.position)
    copy_words(tx, parent.id, fork_id, last.position)
    compactions.copy_to_fork(tx, parent.id, fork_id, last.position)
    copy_state(tx, parent.id, fork_id)
    if with_files:
        fork_files(tx, parent, fork_id, last.id)
    return fork_id


def _copy_messages(tx: Tx, from_thread_id: str, to_thread_id: str, upto: int) -> None:
    source = messages.c.thread_id == from_thread_id, messages.c.position <= upto
    rows = tx.rows(MessageRow, sa.select(messages).where(*source).order_by(messages.c.position))
    fresh = {row.id: new_id("message") for row in rows}
    proposed = registry.copy_to_fork(tx, from_thread_id, to_thread_id, fresh)
    copies = [
        row._replace(
            id=fresh[row.id],
            thread_id=to_thread_id,
            reply_to=None if row.reply_to is None else fresh.get(row.reply_to),
            parts=[_mapped(part, proposed, fresh) for part in row.parts],
        )
        for row in rows
    ]
    tx.insert_many(messages, [copy._asdict() for copy in copies])
    copy_thread_files(tx, to_thread_id, [part for row in rows for part in row.parts])
    tx.update(threads, {"id": to_thread_id}, message_count=len(copies), last_position=upto)


def _mapped(part: dict[str, Any], proposed: Mapping[str, str], fresh: Mapping[str, str]) -> dict[str, Any]:
    """The part, showing the fork's own copy of a proposal or message."""
    copies = {"proposal": proposed, "message": fresh}.get(part["type"])
    if copies is None:
        return part
    name = f"{part['type']}_id"
    return {**part, name: copies.get(part[name], part[name])}
