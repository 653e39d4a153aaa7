"""Runs, their steps, approvals and questions."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.library.shapes import ModuleData
from outlast.kernel.threads.parts import Part, ToolStatus


class UsageData(Frozen):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    @property
    def cached_share(self) -> float | None:
        """The share of the input that came from the provider's cache, 0 to 1, or None before the first request."""
        return round(min(self.cached_tokens / self.input_tokens, 1.0), 4) if self.input_tokens > 0 else None


class ErrorData(Frozen):
    code: str
    message: str
    hint: str = ""
    retry_after_s: float | None = None


class ApprovalData(Frozen):
    """One question to a user about one tool call, bound to the exact arguments."""

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
    optional: bool = False
    closed: bool = False
    url: str = ""


class AccountData(Frozen):
    """An account that a person needs to connect: the question is answered once they have."""

    server_id: str
    server: str
    host: str
    user_id: str


class QuestionData(Frozen):
    id: str
    run_id: str
    thread_id: str
    part_id: str
    call_id: str
    questions: list[QuestionItem]
    created_at: str
    account: AccountData | None = None


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
    """The status of the run changed."""

    run_id: str
    status: RunStatus
    waiting_for: Literal["approval", "answer", "run", "time"] | None = None
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
    """The run failed; its partial answer is saved."""

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
    """A model turn ended; its tool calls follow. `context_tokens` fit into the model's context (0: not known)."""

    run_id: str
    step: int
    finish: str
    usage: UsageData
    context_tokens: int = 0


class StepReset(Frozen):
    """`parts` replace all shown parts of this step."""

    run_id: str
    step: int
    attempt: int
    parts: list[Part]


class PartCarrier(Frozen):
    """A whole part: a new one, or one that replaces the part with its id."""

    part: Part


def whole_parts(parts: Iterable[Part], step: int) -> list[tuple[str, PartCarrier]]:
    """The events of complete parts of this step."""
    carried = [PartCarrier(part=part.model_copy(update={"step": step})) for part in parts]
    return [(name, part) for part in carried for name in ("part.created", "part.completed")]


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


class PageStats(Frozen):
    """The run's changes to the page, and their cost."""

    page_id: str
    version: int
    run_id: str
    patches: int
    replaced: int
    refused: int
    elements: int
    html_bytes: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cached_share: float | None = None
    told: dict[str, float | str] = {}  # noqa: RUF012 - pydantic copies it


WorkflowStatus = Literal["started", "done", "failed", "skipped", "cancelled"]


class WorkflowStep(Frozen):
    """One named step of a run. The agent names its own steps; the server adds those around them."""

    run_id: str
    name: str
    status: WorkflowStatus
    detail: str = ""
    duration_s: float | None = None


OnBusy = Literal["reject", "enqueue", "interrupt"]


class StartedAnswer(Answer):
    """The run. Follow its events from `cursor`."""

    run_id: str
    thread_id: str
    message_id: str
    cursor: int


class AgainRequest(Request):
    """Retry or continue a run, optionally with another model."""

    model: str | None = None


class TriggerData(Frozen):
    """What started a run instead of a person, and its title at that time."""

    type: Literal["schedule"]
    id: str
    title: str


class RunSummaryAnswer(Answer):
    id: str
    thread_id: str
    project_id: str
    thread_title: str
    profile: str
    model: str
    status: RunStatus
    stop_reason: str | None
    waiting_for: Literal["approval", "answer", "run", "time"] | None
    problems: list[str]
    parent_run_id: str | None
    after_run_id: str | None
    started_by: str
    started_by_name: str
    trigger: TriggerData | None
    message_id: str
    answer_message_id: str | None
    attempt: int
    usage: UsageData
    credits: int
    error: ErrorData | None
    step_count: int
    tool_count: int
    created_at: str
    started_at: str | None
    ended_at: str | None
    duration_s: float | None


class CacheShareAnswer(Answer):
    """The share of a model's prompts that its provider read from a cache."""

    provider: str
    model: str
    runs: int
    input_tokens: int
    cached_tokens: int
    cached_share: float


StepKind = Literal["start", "prepare", "model", "tool", "check", "flow", "ask", "compaction", "wait", "settle"]


class StepAnswer(Answer):
    """One named step of a run."""

    name: str
    kind: StepKind
    step: int | None
    tool: str | None
    status: str
    started_at: str | None
    ended_at: str | None
    duration_s: float | None
    usage: UsageData | None
    cost_usd: float | None
    retries: int
    error: ErrorData | None
    attempt: int


class ClockAnswer(Answer):
    """A timer and its consequence."""

    name: str
    due_at: str
    takes_away: str


class PendingApproval(ApprovalData):
    kind: Literal["approval"]


class PendingQuestion(QuestionData):
    kind: Literal["question"]


class RunPageAnswer(Answer):
    """The run's page as it is now."""

    page_id: str
    version: int
    stats: PageStats | None


class RunAnswer(RunSummaryAnswer):
    parts: list[Part]
    pending: list[Annotated[PendingApproval | PendingQuestion, Field(discriminator="kind")]]
    steps: list[StepAnswer]
    cursor: int
    clocks: list[ClockAnswer]
    workflow: list[WorkflowStep]
    page: RunPageAnswer | None
    modules: list[ModuleData]


class ApprovalRequest(Request):
    """A decision about a tool call."""

    decision: Literal["approve", "deny"]
    reason: str = ""
    arguments: dict[str, Any] | str | None = None
    remember: Literal["thread"] | None = None
    tool_version: str | None = None


class ToolChangeAnswer(Answer):
    """The tool of a call that waits was changed since it asked."""

    tool_version: str
    problem: str | None


class DecisionAnswer(Answer):
    id: str
    run_id: str
    decision: str
    reason: str
    by: str | None
    decided_at: str | None
    tool_change: ToolChangeAnswer | None = None


class AnswersRequest(Request):
    """Answers to an agent's questions."""

    answers: dict[str, str | list[str]]
