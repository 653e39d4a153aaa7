"""The closed list of events; the parts of a message that they build are in parts.py, what those of
threads, sandboxes, screens, pages and documentation carry in thread_data.py, sandbox_data.py and so on.

Every event has the envelope `{id, event, data, timestamp, sequenceNumber}` (AgentKit's names); `timestamp` is ISO
8601 in UTC, `sequenceNumber` counts upwards in the log that holds the event, `id` is that log's id, a colon and the
number. The union discriminates on `event`; clients ignore names they do not know. To add one: a data model, an
event class, its name in `Event`, a fold case in `core/streams/fold.py` and in the TypeScript twin, then `make gen`.
"""
# ruff: noqa: PLC0414 - whoever builds or reads events takes the parts from here too

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from outlast.base.knowledge_data import SourceChanged as SourceChanged
from outlast.base.knowledge_data import SourceData as SourceData
from outlast.base.knowledge_data import SourceRemoved as SourceRemoved
from outlast.base.page_data import ModuleData as ModuleData
from outlast.base.page_data import ModulesSaved as ModulesSaved
from outlast.base.page_data import PageActed as PageActed
from outlast.base.page_data import PageAction as PageAction
from outlast.base.page_data import PageChanged as PageChanged
from outlast.base.page_data import PageData as PageData
from outlast.base.page_data import PageDeleted as PageDeleted
from outlast.base.page_data import PageHtml as PageHtml
from outlast.base.page_data import PagePatched as PagePatched
from outlast.base.page_data import PageStats as PageStats
from outlast.base.page_data import PageVersion as PageVersion
from outlast.base.page_data import Patch as Patch
from outlast.base.parts import PART_ADAPTER as PART_ADAPTER
from outlast.base.parts import Frozen as Frozen
from outlast.base.parts import ImagePart as ImagePart
from outlast.base.parts import NoticePart as NoticePart
from outlast.base.parts import PagePart as PagePart
from outlast.base.parts import Part as Part
from outlast.base.parts import ReasoningPart as ReasoningPart
from outlast.base.parts import TextPart as TextPart
from outlast.base.parts import ToolCallPart as ToolCallPart
from outlast.base.parts import ToolStatus as ToolStatus
from outlast.base.sandbox_data import CheckpointCreated as CheckpointCreated
from outlast.base.sandbox_data import CheckpointData as CheckpointData
from outlast.base.sandbox_data import ContextLost as ContextLost
from outlast.base.sandbox_data import FileChange as FileChange
from outlast.base.sandbox_data import FilesChanged as FilesChanged
from outlast.base.sandbox_data import SandboxStateData as SandboxStateData
from outlast.base.sandbox_data import ServiceStateData as ServiceStateData
from outlast.base.sandbox_data import SnapshotProgress as SnapshotProgress
from outlast.base.screen_data import ScreenChanged as ScreenChanged
from outlast.base.screen_data import ScreenData as ScreenData
from outlast.base.screen_data import ScreenDeleted as ScreenDeleted
from outlast.base.screen_data import WorkflowStep as WorkflowStep
from outlast.base.thread_data import ApprovalData as ApprovalData
from outlast.base.thread_data import ErrorData as ErrorData
from outlast.base.thread_data import LockData as LockData
from outlast.base.thread_data import MemberData as MemberData
from outlast.base.thread_data import MessageData as MessageData
from outlast.base.thread_data import QuestionData as QuestionData
from outlast.base.thread_data import QuestionItem as QuestionItem
from outlast.base.thread_data import ThreadData as ThreadData
from outlast.base.thread_data import UsageData as UsageData

# --- what events carry ------------------------------------------------------------------------------------------------


RunStatus = Literal["queued", "running", "awaiting_approval", "paused", "completed", "cancelled", "error"]


class RunQueued(Frozen):
    """A run was asked for. `after_run_id`: it waits behind that one."""

    run_id: str
    thread_id: str
    message_id: str
    profile: str
    model: str
    started_by: str
    after_run_id: str | None = None
    parent_run_id: str | None = None


class RunStarted(Frozen):
    """A worker took the run up; `attempt` above 1: after a break."""

    run_id: str
    attempt: int


class RunStatusChanged(Frozen):
    """The run waits for a person, is paused, or goes on; `retry_at`: the model is asked again then."""

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
    """The run ended in an error; what there was of an answer is saved."""

    run_id: str
    message_id: str | None
    stop_reason: str
    error: ErrorData


class RunCancelled(Frozen):
    """The run was cancelled; what there was of an answer is saved."""

    run_id: str
    message_id: str | None
    stop_reason: str
    by: str | None = None


class RunReference(Frozen):
    """Nothing more comes in this log."""

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
    """Everything shown of `step` is replaced by `parts` (empty where the model is asked again)."""

    run_id: str
    step: int
    attempt: int
    parts: list[Part]


class PartCarrier(Frozen):
    """A whole part: it is new, or takes the place of the part of the same id."""

    part: Part


class Delta(Frozen):
    """Text to append to a part."""

    part_id: str
    delta: str


class ToolResultData(Frozen):
    """A tool call ended; `result` is what the model is told."""

    part_id: str
    call_id: str
    status: ToolStatus
    result: str
    duration_s: float | None = None


class ApprovalRequested(Frozen):
    """A tool call waits for a person."""

    approval: ApprovalData


class ApprovalResolved(Frozen):
    """Somebody decided, or the run ended first (`cancelled`)."""

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
    """Somebody answered, or the run ended first (`cancelled`)."""

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
    """The balance of whoever started the run is low."""

    balance: int


class MessageCreated(Frozen):
    """A message was added, or its final form saved."""

    message: MessageData


class ThreadUpdated(Frozen):
    """A thread's title, status, active run or lock changed."""

    thread: ThreadData


class ThreadDeleted(Frozen):
    """Told in the project's log; the thread's own log is gone with it and its streams end."""

    thread_id: str


class LockChanged(Frozen):
    """Who drives a thread changed, or somebody asked to; `lock` null: nobody drives."""

    thread_id: str
    lock: LockData | None


class MemberChanged(Frozen):
    """Somebody joined or has another role."""

    member: MemberData


class MemberRemoved(Frozen):
    user_id: str


class ProjectUpdated(Frozen):
    project_id: str
    name: str


# --- the union --------------------------------------------------------------------------------------------------------


class Envelope(Frozen):
    id: str
    timestamp: str
    sequenceNumber: int  # noqa: N815 - AgentKit's name


class RunQueuedEvent(Envelope):
    event: Literal["run.queued"] = "run.queued"
    data: RunQueued


class RunStartedEvent(Envelope):
    event: Literal["run.started"] = "run.started"
    data: RunStarted


class RunStatusEvent(Envelope):
    event: Literal["run.status"] = "run.status"
    data: RunStatusChanged


class RunCompletedEvent(Envelope):
    event: Literal["run.completed"] = "run.completed"
    data: RunCompleted


class RunErrorEvent(Envelope):
    event: Literal["run.error"] = "run.error"
    data: RunFailed


class RunCancelledEvent(Envelope):
    event: Literal["run.cancelled"] = "run.cancelled"
    data: RunCancelled


class StreamEndedEvent(Envelope):
    event: Literal["stream.ended"] = "stream.ended"
    data: RunReference


class StepStartedEvent(Envelope):
    event: Literal["step.started"] = "step.started"
    data: StepStarted


class StepCompletedEvent(Envelope):
    event: Literal["step.completed"] = "step.completed"
    data: StepCompleted


class StepResetEvent(Envelope):
    event: Literal["step.reset"] = "step.reset"
    data: StepReset


class PartCreatedEvent(Envelope):
    event: Literal["part.created"] = "part.created"
    data: PartCarrier


class PartCompletedEvent(Envelope):
    event: Literal["part.completed"] = "part.completed"
    data: PartCarrier


class PartSnapshotEvent(Envelope):
    event: Literal["part.snapshot"] = "part.snapshot"
    data: PartCarrier


class TextDeltaEvent(Envelope):
    event: Literal["text.delta"] = "text.delta"
    data: Delta


class ReasoningDeltaEvent(Envelope):
    event: Literal["reasoning.delta"] = "reasoning.delta"
    data: Delta


class ToolArgumentsDeltaEvent(Envelope):
    event: Literal["tool_call.arguments.delta"] = "tool_call.arguments.delta"
    data: Delta


class ToolOutputDeltaEvent(Envelope):
    event: Literal["tool_call.output.delta"] = "tool_call.output.delta"
    data: Delta


class ToolResultEvent(Envelope):
    event: Literal["tool_call.result"] = "tool_call.result"
    data: ToolResultData


class ApprovalRequestedEvent(Envelope):
    event: Literal["approval.requested"] = "approval.requested"
    data: ApprovalRequested


class ApprovalResolvedEvent(Envelope):
    event: Literal["approval.resolved"] = "approval.resolved"
    data: ApprovalResolved


class QuestionAskedEvent(Envelope):
    event: Literal["question.asked"] = "question.asked"
    data: QuestionAsked


class QuestionAnsweredEvent(Envelope):
    event: Literal["question.answered"] = "question.answered"
    data: QuestionAnswered


class FilesChangedEvent(Envelope):
    event: Literal["files.changed"] = "files.changed"
    data: FilesChanged


class SandboxStateEvent(Envelope):
    event: Literal["sandbox.state"] = "sandbox.state"
    data: SandboxStateData


class ContextLostEvent(Envelope):
    event: Literal["context.lost"] = "context.lost"
    data: ContextLost


class SnapshotProgressEvent(Envelope):
    event: Literal["snapshot.progress"] = "snapshot.progress"
    data: SnapshotProgress


class CheckpointCreatedEvent(Envelope):
    event: Literal["checkpoint.created"] = "checkpoint.created"
    data: CheckpointCreated


class CreditSettledEvent(Envelope):
    event: Literal["credit.settled"] = "credit.settled"
    data: CreditSettled


class CreditLowEvent(Envelope):
    event: Literal["credit.low"] = "credit.low"
    data: CreditLow


class MessageCreatedEvent(Envelope):
    event: Literal["message.created"] = "message.created"
    data: MessageCreated


class ThreadUpdatedEvent(Envelope):
    event: Literal["thread.updated"] = "thread.updated"
    data: ThreadUpdated


class ThreadDeletedEvent(Envelope):
    event: Literal["thread.deleted"] = "thread.deleted"
    data: ThreadDeleted


class LockEvent(Envelope):
    event: Literal["lock.acquired", "lock.released", "lock.requested", "lock.handed_over", "lock.taken_over"]
    data: LockChanged


class MemberChangedEvent(Envelope):
    event: Literal["member.added", "member.changed"]
    data: MemberChanged


class MemberRemovedEvent(Envelope):
    event: Literal["member.removed"] = "member.removed"
    data: MemberRemoved


class ProjectUpdatedEvent(Envelope):
    event: Literal["project.updated"] = "project.updated"
    data: ProjectUpdated


class ScreenChangedEvent(Envelope):
    event: Literal["screen.created", "screen.updated"]
    data: ScreenChanged


class ScreenDeletedEvent(Envelope):
    event: Literal["screen.deleted"] = "screen.deleted"
    data: ScreenDeleted


class WorkflowStepEvent(Envelope):
    event: Literal["workflow.step"] = "workflow.step"
    data: WorkflowStep


class PageChangedEvent(Envelope):
    event: Literal["page.created", "page.updated"]
    data: PageChanged


class PageDeletedEvent(Envelope):
    event: Literal["page.deleted"] = "page.deleted"
    data: PageDeleted


class PagePatchEvent(Envelope):
    event: Literal["page.patch"] = "page.patch"
    data: PagePatched


class PageHtmlEvent(Envelope):
    event: Literal["page.html"] = "page.html"
    data: PageHtml


class PageStatsEvent(Envelope):
    event: Literal["page.stats"] = "page.stats"
    data: PageStats


class PageActionEvent(Envelope):
    event: Literal["page.action"] = "page.action"
    data: PageActed


class ModulesSavedEvent(Envelope):
    event: Literal["modules.saved"] = "modules.saved"
    data: ModulesSaved


class SourceChangedEvent(Envelope):
    event: Literal["knowledge.updated"] = "knowledge.updated"
    data: SourceChanged


class SourceRemovedEvent(Envelope):
    event: Literal["knowledge.removed"] = "knowledge.removed"
    data: SourceRemoved


Event = Annotated[
    RunQueuedEvent
    | RunStartedEvent
    | RunStatusEvent
    | RunCompletedEvent
    | RunErrorEvent
    | RunCancelledEvent
    | StreamEndedEvent
    | StepStartedEvent
    | StepCompletedEvent
    | StepResetEvent
    | PartCreatedEvent
    | PartCompletedEvent
    | PartSnapshotEvent
    | TextDeltaEvent
    | ReasoningDeltaEvent
    | ToolArgumentsDeltaEvent
    | ToolOutputDeltaEvent
    | ToolResultEvent
    | ApprovalRequestedEvent
    | ApprovalResolvedEvent
    | QuestionAskedEvent
    | QuestionAnsweredEvent
    | FilesChangedEvent
    | SandboxStateEvent
    | ContextLostEvent
    | SnapshotProgressEvent
    | CheckpointCreatedEvent
    | CreditSettledEvent
    | CreditLowEvent
    | MessageCreatedEvent
    | ThreadUpdatedEvent
    | ThreadDeletedEvent
    | LockEvent
    | MemberChangedEvent
    | MemberRemovedEvent
    | ProjectUpdatedEvent
    | ScreenChangedEvent
    | ScreenDeletedEvent
    | WorkflowStepEvent
    | PageChangedEvent
    | PageDeletedEvent
    | PagePatchEvent
    | PageHtmlEvent
    | PageStatsEvent
    | PageActionEvent
    | ModulesSavedEvent
    | SourceChangedEvent
    | SourceRemovedEvent,
    Field(discriminator="event"),
]

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
DELTA_EVENTS = frozenset(
    {"text.delta", "reasoning.delta", "tool_call.arguments.delta", "tool_call.output.delta"}
)


class EphemeralPresence(Frozen):
    """Shown, never logged: an SSE frame without id, `event: presence`. In a project's stream `project_id` is given (and
    nobody types), in a thread's `thread_id`; the other one is empty."""

    thread_id: str = ""
    project_id: str = ""
    watching: list[MemberData]
    typing: list[str]
