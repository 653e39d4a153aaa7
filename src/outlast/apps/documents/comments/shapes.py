"""Shapes of comments."""

from typing import Literal

from pydantic import Field

from outlast.base.document_data import CommentData
from outlast.kernel.http.shapes import Answer, Request


class QuoteInput(Request):
    """Selected text of a block, as it is shown or as Markdown, with the text around it."""

    text: str
    prefix: str = ""
    suffix: str = ""


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
    """What to change; properties that you leave out stay as they are."""

    body: str | None = None
    status: Literal["open", "resolved"] | None = None
    linked_sections: list[str] | None = None


class AssignRequest(Request):
    """Who takes care of a comment."""

    to: str | None
    message: str | None = None
    model: str | None = None


class AssignedAnswer(Answer):
    """The comment, the conversation about it, and the run that was started."""

    comment: CommentData
    thread_id: str | None
    run_id: str | None
