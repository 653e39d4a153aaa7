"""The parts of a message, which events build."""

from typing import Annotated, Literal

from pydantic import Field

from outlast.base.events import Frozen


class _Part(Frozen):
    """The common fields of all parts. `step`: the step of the run that made it, 0 for parts of a user's message."""

    type: str
    id: str
    step: int = 0


class TextPart(_Part):
    """Markdown written by a person or an agent."""

    type: Literal["text"] = "text"
    text: str = ""


class ReasoningPart(_Part):
    """Reasoning of a model."""

    type: Literal["reasoning"] = "reasoning"
    text: str = ""


ToolStatus = Literal[
    "streaming",  # the model is still writing the arguments
    "pending",  # complete, not started
    "waiting",  # an approval or a question is open
    "running",
    "done",
    "error",
    "denied",
    "interrupted",  # the server could neither re-attach nor repeat it
    "cancelled",
]


class ToolCallPart(_Part):
    """One tool call of the model."""

    type: Literal["tool_call"] = "tool_call"
    call_id: str
    tool: str
    arguments: str = ""
    status: ToolStatus = "streaming"
    output: str = ""
    result: str | None = None
    approval_id: str | None = None
    decided_by: str | None = None
    duration_s: float | None = None


class ImagePart(_Part):
    """A stored image. `call_id`: the tool call that returned it; empty for other images."""

    type: Literal["image"] = "image"
    attachment_id: str
    media_type: str
    name: str = ""
    width: int | None = None
    height: int | None = None
    file_name: str = ""
    call_id: str = ""


class FilePart(_Part):
    """A stored file. `about` is its kind in words, `beginning` the first characters of its text; `file_name` is its
    name in the folder `uploads` of the thread's workspace, empty for a file that an agent shows."""

    type: Literal["file"] = "file"
    attachment_id: str
    media_type: str
    name: str = ""
    size_bytes: int = 0
    file_name: str = ""
    about: str = ""
    beginning: str = ""


class NoticePart(_Part):
    """A notice of the server to the reader."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    code: str
    text: str


class PagePart(_Part):
    """The changes of a step on a page."""

    type: Literal["page"] = "page"
    page_id: str
    base_version: int
    version: int
    patches: int = 0
    whole: bool = False
    refused: int = 0
    summary: str = ""


class ProposalPart(_Part):
    """Edits that an agent proposed to a document."""

    type: Literal["proposal"] = "proposal"
    proposal_id: str
    document_id: str
    edits: int
    summary: str = ""


class SubrunPart(_Part):
    """A run of another agent that this one started. It has a thread of its own: follow its stream for its text and its
    approvals. `text` is its message, then its answer or the reason of its failure, at most 300 characters."""

    type: Literal["subrun"] = "subrun"
    run_id: str
    thread_id: str
    agent: str
    title: str = ""
    status: Literal["running", "completed", "cancelled", "error"] = "running"
    text: str = ""


class HandoffPart(_Part):
    """The agent of this answer has handed the conversation over to another one, which answers next in this thread.
    `call_id` is the call of the model that did it."""

    type: Literal["handoff"] = "handoff"
    call_id: str
    by: str
    agent: str
    title: str
    reason: str
    run_id: str


class SourceLink(Frozen):
    """A web page: its address begins with http:// or https://, its title may be empty."""

    url: str
    title: str = ""


class SourcesPart(_Part):
    """The web pages that the result of the tool call `call_id` comes from."""

    type: Literal["sources"] = "sources"
    call_id: str
    sources: list[SourceLink]


class MessagePart(_Part):
    """A person's message that the agent read at this point of its answer."""

    type: Literal["message"] = "message"
    message_id: str
    sender_id: str | None = None
    text: str = ""


Part = Annotated[
    TextPart
    | ReasoningPart
    | ToolCallPart
    | ImagePart
    | FilePart
    | NoticePart
    | PagePart
    | ProposalPart
    | SubrunPart
    | HandoffPart
    | SourcesPart
    | MessagePart,
    Field(discriminator="type"),
]
