"""Runs, their steps, and the questions they wait with."""

from typing import Annotated, Any, Literal

from pydantic import Field

from outlast.base.events import ApprovalData, ErrorData, Part, QuestionData, RunStatus, UsageData
from outlast.base.page_data import ModuleData, PageStats
from outlast.base.screen_data import WorkflowStep
from outlast.kernel.http.shapes import Answer, Request

OnBusy = Literal["reject", "enqueue", "interrupt"]


class StartedAnswer(Answer):
    """The run. Follow its events from `cursor`."""

    run_id: str
    thread_id: str
    message_id: str
    cursor: int


class AgainRequest(Request):
    """Retry or continue, perhaps with another model."""

    model: str | None = None


class RunSummaryAnswer(Answer):
    id: str
    thread_id: str
    project_id: str
    thread_title: str
    profile: str
    model: str
    status: RunStatus
    stop_reason: str | None
    waiting_for: Literal["approval", "answer"] | None
    problems: list[str]
    parent_run_id: str | None
    after_run_id: str | None
    started_by: str
    started_by_name: str
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
    """How much of a model's prompts its provider read from a cache."""

    provider: str
    model: str
    runs: int
    input_tokens: int
    cached_tokens: int
    cached_share: float


StepKind = Literal["start", "prepare", "model", "tool", "check", "wait", "settle"]


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
    """A timer, and what happens when it fires."""

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


class DecisionAnswer(Answer):
    id: str
    run_id: str
    decision: str
    reason: str
    by: str | None
    decided_at: str | None


class AnswersRequest(Request):
    """Answers to an agent's questions."""

    answers: dict[str, str | list[str]]
