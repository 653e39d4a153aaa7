"""One thing that waits for somebody."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from outlast.base.document_data import InboxChanged

Kind = Literal["approval", "question", "proposal", "handover", "mention", "assigned"]
INBOX: Literal["inbox.changed"] = "inbox.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """One thing that waits for the reader. `id` is the approval's, question's, proposal's or mention's, or that of the
    thread or section whose lock is asked for. `text` says in one line what is asked, `by` who asks. The rest is where
    to go: a message of a thread, a comment, a section or block of a document."""

    kind: Kind
    id: str
    project_id: str
    text: str
    created_at: str
    by: str | None = None
    by_name: str | None = None
    thread_id: str | None = None
    thread_title: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    tool: str | None = None
    document_id: str | None = None
    document_title: str | None = None
    section_id: str | None = None
    block_id: str | None = None
    comment_id: str | None = None


def came(item: InboxItem, user_id: str | None) -> InboxChanged:
    """News: this waits now, for one user (None: for all who may decide)."""
    shown: dict[str, Any] = asdict(item)
    return InboxChanged(user_id=user_id, kind=item.kind, item=shown)


def went(kind: Kind, user_id: str | None) -> InboxChanged:
    """News: something of this kind does not wait any more."""
    return InboxChanged(user_id=user_id, kind=kind)
