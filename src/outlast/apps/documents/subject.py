"""Documents as a subject of conversations."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from outlast.apps.documents import section_locks, store, thread_anchors
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.proposals.fork_copies import copy_proposals
from outlast.apps.documents.proposals.store import outcomes_of_thread
from outlast.apps.documents.tables import documents, proposals
from outlast.base.errors import ThreadOfDocument
from outlast.db.database import Tx
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.mentions.inbox_items import went
from outlast.kernel.subjects.subject import About, Subject, ThreadHooks
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads


class DocumentThreads(ThreadHooks):
    """See `ThreadHooks`: threads about a document, a section, a comment or selected text."""

    def check_anchor(
        self, tx: Tx, project_id: str, profile: str, anchor: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        return thread_anchors.resolved(tx, project_id, profile, anchor)

    def before_delete(self, tx: Tx, thread_id: str, by: str) -> Callable[[], None]:
        thread = tx.find(ThreadRow, threads, {"id": thread_id})
        linked = comments.leave_thread(tx, thread_id)
        own = None if thread is None else {"id": thread.document_id, "project_id": thread.project_id}
        document_id = None if own is None else tx.value(documents.c.id, own)

        def announce() -> None:
            for comment_id in linked:
                comments.announce(tx, comment_id, by=by)
            if document_id is not None:  # the proposals of its agent are deleted with it
                store.announce(tx, document_id, by=by)

        return announce

    def copy_to_fork(self, tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> Mapping[str, str]:
        return copy_proposals(tx, thread_id, fork_id, messages)

    def before_member_leaves(self, tx: Tx, project_id: str, user_id: str) -> Callable[[], None]:
        dropped = section_locks.drop_held(tx, project_id, user_id)
        return lambda: section_locks.tell_dropped(tx, dropped)

    def about(self, tx: Tx, project_id: str, anchor: Mapping[str, Any]) -> About | None:
        return thread_anchors.about(tx, project_id, anchor)

    def removed_from_inbox(self, tx: Tx, thread_id: str) -> Sequence[InboxChanged]:
        waits = tx.exists(proposals, {"thread_id": thread_id, "state": "open"})
        return [went("proposal", None)] if waits else []

    def proposed(self, tx: Tx, thread_id: str, until: datetime) -> Sequence[str]:
        return outcomes_of_thread(tx, thread_id, until)


DOCUMENT: Final = Subject(
    noun="document",
    table=documents,
    thread_does="belongs to",
    thread_error=ThreadOfDocument,
    announce=store.announce,
    threads=DocumentThreads(),
)
