"""Threads, messages, forks, locks."""

from typing import Annotated, Any, Literal

from pydantic import Field

from outlast.base.events import Frozen
from outlast.kernel.compactions.shapes import CompactionData
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.projects.shapes import RoleName
from outlast.kernel.runs.shapes import ErrorData, RunAnswer
from outlast.kernel.threads.parts import Part

ThreadRunStatus = Literal["idle", "generating", "awaiting_approval", "paused", "complete", "error"]


class MessageData(Frozen):
    """A message of a thread."""

    id: str
    thread_id: str
    position: int
    role: Literal["user", "assistant", "tool", "system"]
    sender_id: str | None = None
    sender_name: str | None = None
    status: Literal["complete", "partial", "cancelled", "error"]
    parts: list[Part]
    model: str | None = None
    profile: str | None = None
    run_id: str | None = None
    credits: int | None = None
    error: ErrorData | None = None
    stop_reason: str | None = None
    created_at: str


class ThreadData(Frozen):
    """A thread as lists show it."""

    id: str
    project_id: str
    title: str
    profile: str
    status: Literal["open", "archived"]
    run_status: ThreadRunStatus
    active_run_id: str | None = None
    sandbox_id: str | None = None
    anchor: dict[str, Any] | None = None
    parent_thread_id: str | None = None
    parent_message_id: str | None = None
    lock: LockData | None = None
    message_count: int = 0
    created_by: str
    created_at: str
    updated_at: str


class StateData(Frozen):
    """The state of a thread: an object that its agents keep there. `revision` rises at each change."""

    thread_id: str
    revision: int
    values: dict[str, Any]


class StateChanged(Frozen):
    """An agent has changed the state of the thread: the new values of these keys, and the keys that are gone."""

    thread_id: str
    run_id: str
    revision: int
    values: dict[str, Any]
    removed: list[str]


class MessageCreated(Frozen):
    """A message was added, or its final form saved."""

    message: MessageData


class ThreadUpdated(Frozen):
    """A thread's title, status, active run or lock changed."""

    thread: ThreadData


class ThreadDeleted(Frozen):
    """A thread was deleted; its own log is gone. In the project's log."""

    thread_id: str


class ThreadRequest(Request):
    title: str | None = None
    profile: str | None = None
    anchor: dict[str, Any] | None = None


class TitleRequest(Request):
    title: str


class Match(Answer):
    """The match of a search: the text around it, and its message; null for the title."""

    snippet: str
    message_id: str | None


class ListedThreadAnswer(ThreadData):
    match: Match | None


class WatcherAnswer(Answer):
    user_id: str
    name: str


class LineageAnswer(Answer):
    id: str
    title: str


class QueuedRunAnswer(Answer):
    run_id: str
    message_id: str


class AboutAnswer(Answer):
    """The subject of a thread in a document."""

    document_id: str
    document_title: str
    section_id: str | None
    heading: str | None
    block_id: str | None
    comment_id: str | None
    text: str
    gone: bool


class ContextAnswer(Answer):
    """How full the context of the thread's model is, by its last turn."""

    used_tokens: int
    limit_tokens: int


class ThreadAnswer(ThreadData):
    """A thread. Load its messages, then follow it from `cursor`."""

    cursor: str
    watching: list[WatcherAnswer]
    lineage: list[LineageAnswer]
    active_run: RunAnswer | None
    queued_runs: list[QueuedRunAnswer]
    about: AboutAnswer | None
    compaction: CompactionData | None
    context: ContextAnswer | None
    state: StateData
    project_role: RoleName


class TextInput(Request):
    type: Literal["text"]
    text: str


class ImageInput(Request):
    type: Literal["image"]
    attachment_id: str


class FileInput(Request):
    type: Literal["file"]
    attachment_id: str


PartInput = Annotated[TextInput | ImageInput | FileInput, Field(discriminator="type")]


class MessageRequest(Request):
    """A message: `content` is short for one text part, `images` and `files` for parts with attachments."""

    content: str | None = None
    parts: list[PartInput] | None = None
    images: list[str] = Field(default_factory=list)
    files: list[str] = Field(default_factory=list)
    mentions: list[str] = Field(
        default_factory=list,
        max_length=100,
        description="Users that the writer picked; `@Name` in the text counts too.",
    )


class PostedAnswer(MessageData):
    """The message, and the run that it started by naming the agent."""

    started_run_id: str | None


class ForkRequest(Request):
    """Fork a thread. With `summary`, a run writes a summary instead of copying the messages."""

    message_id: str | None = None
    title: str | None = None
    summary: bool = False
    model: str | None = None


class ForkAnswer(ThreadData):
    """The fork, and the run that writes its summary."""

    run_id: str | None = None


class FamilyThreadAnswer(Answer):
    """A thread and its place in the family."""

    id: str
    title: str
    profile: str
    parent_thread_id: str | None
    parent_message_id: str | None
    status: Literal["open", "archived"]
    run_status: ThreadRunStatus
    message_count: int
    created_by: str
    created_by_name: str | None
    created_at: str


class LockRequest(Request):
    take_over: bool = False


class HandOverRequest(Request):
    user_id: str


class LockAnswer(Answer):
    lock: LockData | None


class TypingRequest(Request):
    typing: bool


class AttachmentAnswer(Answer):
    id: str
    name: str
    media_type: str
    size_bytes: int
    width: int | None
    height: int | None
