"""Shapes of the inbox."""

from typing import Any, Literal

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer


class InboxChanged(Frozen):
    """An inbox may have changed: read it again. `user_id` null: those of all who may decide. In the project's log."""

    user_id: str | None
    kind: Literal["approval", "question", "proposal", "handover", "mention", "assigned"]
    item: dict[str, Any] | None = None


class InboxItemAnswer(Answer):
    """Something that waits for you, and where it is."""

    kind: Literal["approval", "question", "proposal", "handover", "mention", "assigned"]
    id: str
    project_id: str
    text: str
    created_at: str
    by: str | None
    by_name: str | None
    thread_id: str | None
    thread_title: str | None
    message_id: str | None
    run_id: str | None
    tool: str | None
    document_id: str | None
    document_title: str | None
    section_id: str | None
    block_id: str | None
    comment_id: str | None
