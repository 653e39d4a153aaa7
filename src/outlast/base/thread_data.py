"""What events carry of threads, messages, locks, members and what waits for a person."""

from typing import Any, Literal

from outlast.base.parts import Frozen, Part

ThreadRunStatus = Literal["idle", "generating", "awaiting_approval", "paused", "complete", "error"]


class UsageData(Frozen):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None


class ErrorData(Frozen):
    code: str
    message: str
    hint: str = ""
    retry_after_s: float | None = None


class LockData(Frozen):
    """Who drives a thread or edits a section."""

    resource_type: Literal["thread", "section"]
    resource_id: str
    holder_id: str
    holder_name: str
    acquired_at: str
    expires_at: str
    requested_by: str | None = None
    requested_by_name: str | None = None


class ApprovalData(Frozen):
    """One question to a person about one tool call, bound to the exact arguments."""

    id: str
    run_id: str
    thread_id: str
    part_id: str
    call_id: str
    tool: str
    arguments: str
    reason: str = ""
    created_at: str


class QuestionItem(Frozen):
    id: str
    question: str
    options: list[str] = []  # noqa: RUF012 - pydantic copies it
    multiple: bool = False
    placeholder: str = ""


class QuestionData(Frozen):
    id: str
    run_id: str
    thread_id: str
    part_id: str
    call_id: str
    questions: list[QuestionItem]
    created_at: str


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


class MemberData(Frozen):
    user_id: str
    name: str
    role: Literal["owner", "editor", "viewer"]
