"""The closed list of events; the parts of a message that they build are in parts.py, what those of
runs, threads, sandboxes, screens, pages, documents and documentation carry in run_data.py, thread_data.py and so on.

Every event has the envelope `{id, event, data, timestamp, sequenceNumber}` (AgentKit's names); `timestamp` is ISO
8601 in UTC, `sequenceNumber` counts upwards in the log that holds the event, `id` is that log's id, a colon and the
number. The union discriminates on `event`; clients ignore names they do not know. To add one: a data model, an
event class, its name in `Event`, a fold case in `kernel/streams/fold.py` and in the TypeScript twin, then `make gen`.
"""
# ruff: noqa: PLC0414 - whoever builds or reads events takes the parts from here too

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from outlast.base.document_data import ArtifactChanged as ArtifactChanged
from outlast.base.document_data import ArtifactData as ArtifactData
from outlast.base.document_data import ArtifactDeleted as ArtifactDeleted
from outlast.base.document_data import BlockData as BlockData
from outlast.base.document_data import CommentChanged as CommentChanged
from outlast.base.document_data import CommentData as CommentData
from outlast.base.document_data import CommentDeleted as CommentDeleted
from outlast.base.document_data import DocumentChanged as DocumentChanged
from outlast.base.document_data import DocumentData as DocumentData
from outlast.base.document_data import DocumentDeleted as DocumentDeleted
from outlast.base.document_data import DocumentVersion as DocumentVersion
from outlast.base.document_data import EditData as EditData
from outlast.base.document_data import EditsReopened as EditsReopened
from outlast.base.document_data import EditsResolved as EditsResolved
from outlast.base.document_data import EditsSuperseded as EditsSuperseded
from outlast.base.document_data import InboxChanged as InboxChanged
from outlast.base.document_data import ProposalCreated as ProposalCreated
from outlast.base.document_data import ProposalData as ProposalData
from outlast.base.document_data import Quote as Quote
from outlast.base.document_data import SectionData as SectionData
from outlast.base.document_data import VersionCreated as VersionCreated
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
from outlast.base.parts import ProposalPart as ProposalPart
from outlast.base.parts import ReasoningPart as ReasoningPart
from outlast.base.parts import TextPart as TextPart
from outlast.base.parts import ToolCallPart as ToolCallPart
from outlast.base.parts import ToolStatus as ToolStatus
from outlast.base.run_data import ApprovalRequested as ApprovalRequested
from outlast.base.run_data import ApprovalResolved as ApprovalResolved
from outlast.base.run_data import CreditLow as CreditLow
from outlast.base.run_data import CreditSettled as CreditSettled
from outlast.base.run_data import Delta as Delta
from outlast.base.run_data import LockChanged as LockChanged
from outlast.base.run_data import MemberChanged as MemberChanged
from outlast.base.run_data import MemberRemoved as MemberRemoved
from outlast.base.run_data import MessageCreated as MessageCreated
from outlast.base.run_data import PartCarrier as PartCarrier
from outlast.base.run_data import ProjectUpdated as ProjectUpdated
from outlast.base.run_data import QuestionAnswered as QuestionAnswered
from outlast.base.run_data import QuestionAsked as QuestionAsked
from outlast.base.run_data import RunCancelled as RunCancelled
from outlast.base.run_data import RunCompleted as RunCompleted
from outlast.base.run_data import RunFailed as RunFailed
from outlast.base.run_data import RunQueued as RunQueued
from outlast.base.run_data import RunReference as RunReference
from outlast.base.run_data import RunStarted as RunStarted
from outlast.base.run_data import RunStatus as RunStatus
from outlast.base.run_data import RunStatusChanged as RunStatusChanged
from outlast.base.run_data import StepCompleted as StepCompleted
from outlast.base.run_data import StepReset as StepReset
from outlast.base.run_data import StepStarted as StepStarted
from outlast.base.run_data import ThreadDeleted as ThreadDeleted
from outlast.base.run_data import ThreadUpdated as ThreadUpdated
from outlast.base.run_data import ToolResultData as ToolResultData
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


class DocumentChangedEvent(Envelope):
    event: Literal["document.created", "document.updated"]
    data: DocumentChanged


class DocumentDeletedEvent(Envelope):
    event: Literal["document.deleted"] = "document.deleted"
    data: DocumentDeleted


class VersionCreatedEvent(Envelope):
    event: Literal["version.created"] = "version.created"
    data: VersionCreated


class CommentChangedEvent(Envelope):
    event: Literal["comment.created", "comment.updated"]
    data: CommentChanged


class CommentDeletedEvent(Envelope):
    event: Literal["comment.deleted"] = "comment.deleted"
    data: CommentDeleted


class ProposalCreatedEvent(Envelope):
    event: Literal["proposal.created"] = "proposal.created"
    data: ProposalCreated


class EditsResolvedEvent(Envelope):
    event: Literal["edit.resolved"] = "edit.resolved"
    data: EditsResolved


class EditsReopenedEvent(Envelope):
    event: Literal["edit.reopened"] = "edit.reopened"
    data: EditsReopened


class EditsSupersededEvent(Envelope):
    event: Literal["edit.superseded"] = "edit.superseded"
    data: EditsSuperseded


class ArtifactChangedEvent(Envelope):
    event: Literal["artifact.created", "artifact.updated"]
    data: ArtifactChanged


class ArtifactDeletedEvent(Envelope):
    event: Literal["artifact.deleted"] = "artifact.deleted"
    data: ArtifactDeleted


class InboxChangedEvent(Envelope):
    event: Literal["inbox.changed"] = "inbox.changed"
    data: InboxChanged


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
    | SourceRemovedEvent
    | DocumentChangedEvent
    | DocumentDeletedEvent
    | VersionCreatedEvent
    | CommentChangedEvent
    | CommentDeletedEvent
    | ProposalCreatedEvent
    | EditsResolvedEvent
    | EditsReopenedEvent
    | EditsSupersededEvent
    | ArtifactChangedEvent
    | ArtifactDeletedEvent
    | InboxChangedEvent,
    Field(discriminator="event"),
]

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
DELTA_EVENTS = frozenset(
    {"text.delta", "reasoning.delta", "tool_call.arguments.delta", "tool_call.output.delta"}
)


class EphemeralPresence(Frozen):
    """Shown, never logged: an SSE frame without id, `event: presence`. In a thread's stream `thread_id` is given; in a
    project's `project_id`, and nobody types, or with `document_id` for who has that document open. `places`: the block
    that a user (by id) is at there."""

    thread_id: str = ""
    project_id: str = ""
    document_id: str = ""
    places: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    watching: list[MemberData]
    typing: list[str]
