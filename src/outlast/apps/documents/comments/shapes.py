"""Shapes of comments."""

from typing import Final, Literal

from pydantic import Field

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request

QUOTE_CHARS: Final = 5_000
AROUND_CHARS: Final = 200  # of the text before a quote, and of the text after it
MAX_LINKED: Final = 50  # linked sections of a comment
MAX_NAMED: Final = 100  # people


class Quote(Frozen):
    """Selected text in a block with the text around it, by which it is found again (W3C TextQuoteSelector)."""

    text: str
    prefix: str = ""
    suffix: str = ""


class CommentData(Frozen):
    """A comment on a document, or a reply to one."""

    id: str
    document_id: str
    project_id: str
    section_id: str | None
    block_id: str | None
    quote: Quote | None
    orphaned: bool = False
    linked_sections: list[str]
    parent_id: str | None
    body: str
    mentions: list[str]
    status: Literal["open", "resolved"]
    assigned_to: str | None
    assigned_name: str | None = None
    thread_id: str | None
    by: str | None
    by_name: str | None
    resolved_by: str | None
    resolved_by_name: str | None = None
    resolved_at: str | None
    created_at: str
    updated_at: str


class CommentChanged(Frozen):
    """A comment as it is now (project log)."""

    comment: CommentData
    by: str | None = None


class CommentDeleted(Frozen):
    """A comment was deleted, with its replies (project log)."""

    comment_id: str
    document_id: str


class QuoteInput(Request, Quote):
    """Selected text of a block, as it is shown or as Markdown, with the text around it."""


class CommentRequest(Request):
    """A comment on a section, a block or a quote of it; on the whole document if no place is given."""

    body: str
    section_id: str | None = None
    block_id: str | None = None
    quote: QuoteInput | None = None
    parent_id: str | None = None
    linked_sections: list[str] = Field(default_factory=list)
    mentions: list[str] = Field(default_factory=list)
    assign: str | None = None


class CommentPatch(Request):
    """The new values; properties that you leave out stay as they are."""

    body: str | None = None
    status: Literal["open", "resolved"] | None = None
    linked_sections: list[str] | None = None


class AssignRequest(Request):
    """The new assignee of a comment."""

    to: str | None
    message: str | None = None
    model: str | None = None


class AssignedAnswer(Answer):
    """The comment, the conversation about it, and the started run."""

    comment: CommentData
    thread_id: str | None
    run_id: str | None
