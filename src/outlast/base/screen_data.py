"""What events carry of screens, and of the named steps that a run of one goes through."""

from collections.abc import Mapping
from typing import Literal

from outlast.base.parts import Frozen

ScreenState = Literal[
    "new",  # nothing was asked for yet
    "working",  # a run is queued or running
    "waiting",  # a run waits for a person
    "ready",  # its last run went well
    "problems",  # its last run left type errors or a page that throws
    "failed",  # its last run ended with an error
]
TemplateName = Literal["next", "vite"]
WorkflowStatus = Literal["started", "done", "failed", "skipped", "cancelled"]


class ScreenFile(Frozen):
    """A file that the agent described when it had finished."""

    path: str
    description: str


class ThemeTokens(Frozen):
    """A theme's colours and measures by token name (`background`, `primary`, `radius` …), as CSS values."""

    light: Mapping[str, str]
    dark: Mapping[str, str]


class ScreenData(Frozen):
    """An app on the canvas. Place and size are in CSS pixels."""

    id: str
    project_id: str
    thread_id: str
    workspace_id: str
    title: str
    template: TemplateName
    theme: str
    theme_tokens: ThemeTokens | None = None
    x: int
    y: int
    width: int
    height: int
    files: list[ScreenFile]
    problems: list[str]
    picture_id: str | None
    pictured_at: str | None
    state: ScreenState
    active_run_id: str | None
    sandbox_id: str | None
    preview_url: str | None = None
    trouble: str | None = None
    created_by: str
    created_at: str
    updated_at: str


class ScreenChanged(Frozen):
    """A screen as it is now. `by` is the user who did it (None: a run, or the server itself)."""

    screen: ScreenData
    by: str | None = None


class ScreenDeleted(Frozen):
    """A screen was deleted with its thread and files."""

    screen_id: str


class WorkflowStep(Frozen):
    """One named step of a run. The agent names its own; the server adds those around them."""

    run_id: str
    name: str
    status: WorkflowStatus
    detail: str = ""
    duration_s: float | None = None
