"""Shapes of comments."""

from typing import Literal

from pydantic import Field

from outlast.base.document_data import CommentData
from outlast.kernel.http.shapes import Answer, Request


class QuoteInput(Request):
    """Selected text of a block: as it is shown or as Markdown, with what stands before and after it."""

    text: str
    prefix: str = ""
    suffix: str = ""


class CommentRequest(Request):
    """A remark on a place of the document (none: the whole of it), or with `parent_id` an answer. `mentions`: users
    that were picked; names in the text (`@Ada`) count too. `assign`: `agent`, or a user's id."""

    body: str
    section_id: str | None = None
    block_id: str | None = None
    quote: QuoteInput | None = None
    parent_id: str | None = None
    linked_sections: list[str] = Field(default_factory=list)
    mentions: list[str] = Field(default_factory=list)
    assign: str | None = None


class CommentPatch(Request):
    """What is to be different."""

    body: str | None = None
    status: Literal["open", "resolved"] | None = None
    linked_sections: list[str] | None = None


class AssignRequest(Request):
    """Who takes care of it: `agent`, a user's id, or null for nobody. `message`: what the agent is told (without one:
    the comment's words)."""

    to: str | None
    message: str | None = None
    model: str | None = None


class AssignedAnswer(Answer):
    """The comment; the conversation about it; the run that was started."""

    comment: CommentData
    thread_id: str | None
    run_id: str | None
