"""Kinds of events: the kernel's are declared here, an app's in its `App`; the list of both is closed. The parts of a
message that events build are in parts.py, what they carry in run_data.py, thread_data.py and so on.

Every event has the envelope `{id, event, data, timestamp, sequenceNumber}` (AgentKit's names); `timestamp` is ISO
8601 in UTC, `sequenceNumber` counts upwards in the log that holds the event, `id` is that log's id, a colon and the
number. Clients ignore names they do not know. To add one: a data model, its `EventType`, a fold case in
`kernel/streams/fold.py` and in the TypeScript twin, then `make gen`.
"""
# ruff: noqa: PLC0414 - whoever builds or reads events takes the parts from here too

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Final, Literal, Union

from pydantic import BaseModel, Field, TypeAdapter, create_model

from outlast.base.document_data import ArtifactChanged, ArtifactDeleted, InboxChanged
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
from outlast.base.screen_data import WorkflowStep
from outlast.base.thread_data import ApprovalData as ApprovalData
from outlast.base.thread_data import ErrorData as ErrorData
from outlast.base.thread_data import LockData as LockData
from outlast.base.thread_data import MemberData as MemberData
from outlast.base.thread_data import MessageData as MessageData
from outlast.base.thread_data import QuestionData as QuestionData
from outlast.base.thread_data import QuestionItem as QuestionItem
from outlast.base.thread_data import ThreadData as ThreadData
from outlast.base.thread_data import UsageData as UsageData

DELTA_EVENTS = frozenset({"text.delta", "reasoning.delta", "tool_call.arguments.delta", "tool_call.output.delta"})


class Envelope(Frozen):
    id: str
    timestamp: str
    sequenceNumber: int  # noqa: N815 - AgentKit's name


class EventType:
    """One kind of event: what it carries, and the names (`noun.verb`) that it has. `schema` is its name in
    contract/events.json, unique among all kinds."""

    def __init__(self, schema: str, data: type[Frozen], *names: str) -> None:
        self.schema, self.data, self.names = schema, data, names

    def model(self) -> type[BaseModel]:
        """The envelope with this kind's names and data. An event with one name has it by default."""
        name: Any = (Literal[self.names], self.names[0] if len(self.names) == 1 else ...)
        return create_model(self.schema, __base__=Envelope, event=name, data=(self.data, ...))


@cache
def event_adapter(types: Iterable[EventType]) -> TypeAdapter[Any]:
    """Reads events of these kinds (a tuple) and refuses all others."""
    union: Any = Union[tuple(one.model() for one in types)]  # noqa: UP007 - made from a list
    return TypeAdapter(Annotated[union, Field(discriminator="event")])


KERNEL_EVENTS: Final = (
    EventType("RunQueuedEvent", RunQueued, "run.queued"),
    EventType("RunStartedEvent", RunStarted, "run.started"),
    EventType("RunStatusEvent", RunStatusChanged, "run.status"),
    EventType("RunCompletedEvent", RunCompleted, "run.completed"),
    EventType("RunErrorEvent", RunFailed, "run.error"),
    EventType("RunCancelledEvent", RunCancelled, "run.cancelled"),
    EventType("StreamEndedEvent", RunReference, "stream.ended"),
    EventType("StepStartedEvent", StepStarted, "step.started"),
    EventType("StepCompletedEvent", StepCompleted, "step.completed"),
    EventType("StepResetEvent", StepReset, "step.reset"),
    EventType("PartCreatedEvent", PartCarrier, "part.created"),
    EventType("PartCompletedEvent", PartCarrier, "part.completed"),
    EventType("PartSnapshotEvent", PartCarrier, "part.snapshot"),
    EventType("TextDeltaEvent", Delta, "text.delta"),
    EventType("ReasoningDeltaEvent", Delta, "reasoning.delta"),
    EventType("ToolArgumentsDeltaEvent", Delta, "tool_call.arguments.delta"),
    EventType("ToolOutputDeltaEvent", Delta, "tool_call.output.delta"),
    EventType("ToolResultEvent", ToolResultData, "tool_call.result"),
    EventType("ApprovalRequestedEvent", ApprovalRequested, "approval.requested"),
    EventType("ApprovalResolvedEvent", ApprovalResolved, "approval.resolved"),
    EventType("QuestionAskedEvent", QuestionAsked, "question.asked"),
    EventType("QuestionAnsweredEvent", QuestionAnswered, "question.answered"),
    EventType("FilesChangedEvent", FilesChanged, "files.changed"),
    EventType("SandboxStateEvent", SandboxStateData, "sandbox.state"),
    EventType("ContextLostEvent", ContextLost, "context.lost"),
    EventType("SnapshotProgressEvent", SnapshotProgress, "snapshot.progress"),
    EventType("CheckpointCreatedEvent", CheckpointCreated, "checkpoint.created"),
    EventType("CreditSettledEvent", CreditSettled, "credit.settled"),
    EventType("CreditLowEvent", CreditLow, "credit.low"),
    EventType("MessageCreatedEvent", MessageCreated, "message.created"),
    EventType("ThreadUpdatedEvent", ThreadUpdated, "thread.updated"),
    EventType("ThreadDeletedEvent", ThreadDeleted, "thread.deleted"),
    EventType(
        "LockEvent",
        LockChanged,
        "lock.acquired",
        "lock.released",
        "lock.requested",
        "lock.handed_over",
        "lock.taken_over",
    ),
    EventType("MemberChangedEvent", MemberChanged, "member.added", "member.changed"),
    EventType("MemberRemovedEvent", MemberRemoved, "member.removed"),
    EventType("ProjectUpdatedEvent", ProjectUpdated, "project.updated"),
    EventType("WorkflowStepEvent", WorkflowStep, "workflow.step"),
    EventType("ArtifactChangedEvent", ArtifactChanged, "artifact.created", "artifact.updated"),
    EventType("ArtifactDeletedEvent", ArtifactDeleted, "artifact.deleted"),
    EventType("InboxChangedEvent", InboxChanged, "inbox.changed"),
)


class EphemeralPresence(Frozen):
    """Who watches and types. A frame without id, `event: presence`; it is not logged."""

    thread_id: str = ""
    project_id: str = ""
    document_id: str = ""
    places: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    watching: list[MemberData]
    typing: list[str]
