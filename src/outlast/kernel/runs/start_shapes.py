"""Requests that start a run or send a message to one."""

from outlast.kernel.runs.shapes import OnBusy
from outlast.kernel.threads.shapes import MessageRequest


class StartRequest(MessageRequest):
    """Post a message to a thread and start a run that answers it."""

    model: str | None = None
    on_busy: OnBusy = "reject"


class SteerRequest(MessageRequest):
    """Post a message that the agent reads before its next turn, or send one that waits in the queue."""

    queued_run_id: str | None = None


class StartThreadRequest(StartRequest):
    """Post a message to a new thread and start a run that answers it."""

    project_id: str | None = None
    profile: str | None = None
    title: str | None = None
