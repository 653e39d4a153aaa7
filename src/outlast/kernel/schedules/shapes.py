"""Shapes of schedules."""

from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from outlast.base.events import Frozen
from outlast.kernel.agents.shapes import AgentName
from outlast.kernel.http.shapes import Answer, Name, Request
from outlast.kernel.runs.shapes import ErrorData, RunStatus

OnMissed = Literal["skip", "one"]
ThreadChoice = Literal["same", "new"]
Cron = Annotated[str, StringConstraints(max_length=200)]
Zone = Annotated[str, StringConstraints(max_length=100)]
Model = Annotated[str, StringConstraints(max_length=200)]


class ScheduleChanged(Frozen):
    """A schedule was made, changed or deleted, or came due: read it again."""

    schedule_id: str


class ScheduledRunAnswer(Answer):
    """The newest run of a schedule."""

    id: str
    thread_id: str
    status: RunStatus
    created_at: str


class ScheduleAnswer(Answer):
    id: str
    project_id: str
    title: str
    origin: Literal["person", "code"]
    created_by: str
    created_by_name: str
    agent: str
    message: str
    model: str | None
    cron: str
    zone: str
    on_missed: OnMissed
    thread: ThreadChoice
    enabled: bool
    next_times: list[str]
    thread_id: str | None
    last_run: ScheduledRunAnswer | None
    problem: ErrorData | None
    created_at: str
    updated_at: str


class ScheduleRequest(Request):
    """A new schedule. It starts runs as the caller."""

    title: Name
    agent: AgentName
    message: str = ""
    model: Model | None = None
    cron: Cron
    zone: Zone = "UTC"
    on_missed: OnMissed = "skip"
    thread: ThreadChoice = "new"
    enabled: bool = True


class ScheduleChangeRequest(Request):
    """Fields to change; those left out stay."""

    title: Name | None = None
    agent: AgentName | None = None
    message: str | None = None
    model: Model | None = None
    cron: Cron | None = None
    zone: Zone | None = None
    on_missed: OnMissed | None = None
    thread: ThreadChoice | None = None
    enabled: bool | None = None

    def changes(self) -> dict[str, Any]:
        """The fields that were sent; only `model` can be null."""
        sent = self.model_dump(exclude_unset=True)
        return {name: value for name, value in sent.items() if value is not None or name == "model"}


class ScheduleTimesAnswer(Answer):
    """The next times of a cron expression."""

    next_times: list[str]
