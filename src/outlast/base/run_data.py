"""What events carry of runs and their steps, of what threads and projects tell beside them."""

from typing import Any, Literal

from outlast.base.parts import Frozen, Part, ToolStatus
from outlast.base.thread_data import (
    ApprovalData,
    ErrorData,
    LockData,
    MemberData,
    MessageData,
    QuestionData,
    ThreadData,
    UsageData,
)

RunStatus = Literal["queued", "running", "awaiting_approval", "paused", "completed", "cancelled", "error"]


class RunQueued(Frozen):
    """A run was started."""

    run_id: str
    thread_id: str
    message_id: str
    profile: str
    model: str
    started_by: str
    after_run_id: str | None = None
    parent_run_id: str | None = None


class RunStarted(Frozen):
    """A worker claimed the run."""

    run_id: str
    attempt: int


class RunStatusChanged(Frozen):
    """The run has another status."""

    run_id: str
    status: RunStatus
    waiting_for: Literal["approval", "answer"] | None = None
    retry_at: str | None = None
    reason: str | None = None


class RunCompleted(Frozen):
    """The run ended with a saved answer."""

    run_id: str
    message_id: str | None
    stop_reason: str
    problems: list[str] = []  # noqa: RUF012 - pydantic copies it
    usage: UsageData = UsageData()
    credits: int = 0


class RunFailed(Frozen):
    """The run ended in an error; its partial answer is saved."""

    run_id: str
    message_id: str | None
    stop_reason: str
    error: ErrorData


class RunCancelled(Frozen):
    """The run was cancelled; its partial answer is saved."""

    run_id: str
    message_id: str | None
    stop_reason: str
    by: str | None = None


class RunReference(Frozen):
    """The log ends here."""

    run_id: str


class StepStarted(Frozen):
    """A model turn begins."""

    run_id: str
    step: int
    attempt: int


class StepCompleted(Frozen):
    """A model turn ended; its tool calls follow."""

    run_id: str
    step: int
    finish: str
    usage: UsageData


class StepReset(Frozen):
    """`parts` replace everything shown of this step."""

    run_id: str
    step: int
    attempt: int
    parts: list[Part]


class PartCarrier(Frozen):
    """A whole part: a new one, or one that replaces the part with its id."""

    part: Part


class Delta(Frozen):
    """Text to append to a part."""

    part_id: str
    delta: str


class ToolResultData(Frozen):
    """A tool call ended."""

    part_id: str
    call_id: str
    status: ToolStatus
    result: str
    duration_s: float | None = None


class ApprovalRequested(Frozen):
    """A tool call waits for a person."""

    approval: ApprovalData


class ApprovalResolved(Frozen):
    """The approval was decided, or the run ended first (`cancelled`)."""

    approval_id: str
    part_id: str
    decision: Literal["approve", "deny", "cancelled"]
    reason: str = ""
    by: str | None = None
    arguments: str | None = None
    remember: Literal["thread"] | None = None


class QuestionAsked(Frozen):
    """An agent waits for answers."""

    question: QuestionData


class QuestionAnswered(Frozen):
    """The questions were answered, or the run ended first (`cancelled`)."""

    question_id: str
    part_id: str
    answers: dict[str, Any]
    by: str | None = None
    cancelled: bool = False


class CreditSettled(Frozen):
    """Credits held for a run were charged (`settle`) or given back (`release`); `balance` null: unlimited."""

    run_id: str
    kind: Literal["settle", "release"]
    credits: int
    balance: int | None


class CreditLow(Frozen):
    """The balance of the user who started the run is low."""

    balance: int


class MessageCreated(Frozen):
    """A message was added, or its final form saved."""

    message: MessageData


class ThreadUpdated(Frozen):
    """A thread's title, status, active run or lock changed."""

    thread: ThreadData


class ThreadDeleted(Frozen):
    """A thread was deleted; its own log is gone. In the project's log."""

    thread_id: str


class LockChanged(Frozen):
    """The lock of a thread (its log) or of a document's section (project's log) changed, or was asked for."""

    thread_id: str = ""
    section_id: str = ""
    document_id: str = ""
    lock: LockData | None


class MemberChanged(Frozen):
    """A member joined or has another role."""

    member: MemberData


class MemberRemoved(Frozen):
    user_id: str


class ProjectUpdated(Frozen):
    project_id: str
    name: str
