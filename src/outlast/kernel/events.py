"""Kinds of events of the kernel. An app's are in its `App`; the list of both is closed."""

from typing import Final

from outlast.base.events import EventType
from outlast.kernel.credits.shapes import CreditLow, CreditSettled
from outlast.kernel.files.shapes import ArtifactChanged, ArtifactDeleted
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.locks.shapes import LockChanged
from outlast.kernel.projects.shapes import MemberChanged, MemberRemoved, ProjectUpdated
from outlast.kernel.runs.shapes import (
    ApprovalRequested,
    ApprovalResolved,
    Delta,
    PartCarrier,
    QuestionAnswered,
    QuestionAsked,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunQueued,
    RunReference,
    RunStarted,
    RunStatusChanged,
    StepCompleted,
    StepReset,
    StepStarted,
    ToolResultData,
    WorkflowStep,
)
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointCreated
from outlast.kernel.sandboxes.shapes import ContextLost, FilesChanged, SandboxStateData, SnapshotProgress
from outlast.kernel.threads.shapes import MessageCreated, ThreadDeleted, ThreadUpdated

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
