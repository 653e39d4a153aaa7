"""Kinds of events of the kernel. An app's are in its `App`; the list of both is closed."""

from typing import Final

from outlast.base.events import EventType
from outlast.kernel.compactions.shapes import ThreadCompacted
from outlast.kernel.credits.shapes import CreditLow, CreditSettled
from outlast.kernel.files.shapes import ArtifactChanged, ArtifactDeleted
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.locks.shapes import LockChanged
from outlast.kernel.projects.shapes import MemberChanged, MemberRemoved, ProjectUpdated
from outlast.kernel.runs import shapes as runs
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointCreated
from outlast.kernel.sandboxes.shapes import ContextLost, FilesChanged, SandboxStateData, SnapshotProgress
from outlast.kernel.schedules.shapes import ScheduleChanged
from outlast.kernel.threads.shapes import MessageCreated, StateChanged, ThreadDeleted, ThreadUpdated

KERNEL_EVENTS: Final = (
    EventType("RunQueuedEvent", runs.RunQueued, "run.queued", for_webhooks=True),
    EventType("RunStartedEvent", runs.RunStarted, "run.started", for_webhooks=True),
    EventType("RunStatusEvent", runs.RunStatusChanged, "run.status"),
    EventType("RunCompletedEvent", runs.RunCompleted, "run.completed", for_webhooks=True),
    EventType("RunErrorEvent", runs.RunFailed, "run.error", for_webhooks=True),
    EventType("RunCancelledEvent", runs.RunCancelled, "run.cancelled", for_webhooks=True),
    EventType("StreamEndedEvent", runs.RunReference, "stream.ended"),
    EventType("StepStartedEvent", runs.StepStarted, "step.started"),
    EventType("StepCompletedEvent", runs.StepCompleted, "step.completed"),
    EventType("StepResetEvent", runs.StepReset, "step.reset"),
    EventType("PartCreatedEvent", runs.PartCarrier, "part.created"),
    EventType("PartCompletedEvent", runs.PartCarrier, "part.completed"),
    EventType("PartSnapshotEvent", runs.PartCarrier, "part.snapshot"),
    EventType("TextDeltaEvent", runs.Delta, "text.delta"),
    EventType("ReasoningDeltaEvent", runs.Delta, "reasoning.delta"),
    EventType("ToolArgumentsDeltaEvent", runs.Delta, "tool_call.arguments.delta"),
    EventType("ToolOutputDeltaEvent", runs.Delta, "tool_call.output.delta"),
    EventType("ToolResultEvent", runs.ToolResultData, "tool_call.result"),
    EventType("ApprovalRequestedEvent", runs.ApprovalRequested, "approval.requested", for_webhooks=True),
    EventType("ApprovalResolvedEvent", runs.ApprovalResolved, "approval.resolved", for_webhooks=True),
    EventType("QuestionAskedEvent", runs.QuestionAsked, "question.asked", for_webhooks=True),
    EventType("QuestionAnsweredEvent", runs.QuestionAnswered, "question.answered", for_webhooks=True),
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
    EventType("ThreadCompactedEvent", ThreadCompacted, "thread.compacted"),
    EventType("StateChangedEvent", StateChanged, "state.changed"),
    EventType(
        "LockEvent",
        LockChanged,
        "lock.acquired",
        "lock.released",
        "lock.requested",
        "lock.handed_over",
        "lock.taken_over",
    ),
    EventType("MemberChangedEvent", MemberChanged, "member.added", "member.changed", for_webhooks=("member.added",)),
    EventType("MemberRemovedEvent", MemberRemoved, "member.removed", for_webhooks=True),
    EventType("ProjectUpdatedEvent", ProjectUpdated, "project.updated"),
    EventType("WorkflowStepEvent", runs.WorkflowStep, "workflow.step"),
    EventType(
        "ArtifactChangedEvent",
        ArtifactChanged,
        "artifact.created",
        "artifact.updated",
        for_webhooks=("artifact.created",),
    ),
    EventType("ArtifactDeletedEvent", ArtifactDeleted, "artifact.deleted", for_webhooks=True),
    EventType("ScheduleChangedEvent", ScheduleChanged, "schedule.changed"),
    EventType("InboxChangedEvent", InboxChanged, "inbox.changed"),
)
