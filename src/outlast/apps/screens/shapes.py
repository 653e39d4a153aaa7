"""Shapes of screens and themes."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from outlast.apps.screens.placement import MAX_MOVES
from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData

ScreenState = Literal[
    "new",  # no request yet
    "working",  # a run is queued or running
    "waiting",  # a run waits for a person
    "ready",  # its last run succeeded
    "problems",  # its last run left type errors or a page that throws
    "failed",  # its last run ended with an error
]
TemplateName = Literal["next", "vite"]


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
    """A screen as it is now. `by` is the user who changed it (None: a run, or the server itself)."""

    screen: ScreenData
    by: str | None = None


class ScreenDeleted(Frozen):
    """A screen was deleted with its thread and files."""

    screen_id: str


FAR = 2**31 - 1


class PlaceRequest(Request):
    """A place on the canvas."""

    x: int | None = Field(None, ge=-FAR, le=FAR)
    y: int | None = Field(None, ge=-FAR, le=FAR)


class CopyRequest(PlaceRequest):
    """The place of the copy; next to the original if left out."""


class FrameRequest(PlaceRequest):
    """A place on the canvas, and a size."""

    width: int | None = Field(None, ge=1, le=FAR)
    height: int | None = Field(None, ge=1, le=FAR)


class TokensRequest(Request):
    """Colours and measures of a theme, by token name."""

    light: dict[str, str] = Field(default_factory=dict, max_length=100)
    dark: dict[str, str] = Field(default_factory=dict, max_length=100)


class ScreenRequest(FrameRequest):
    """A new screen. The server chooses what you leave out."""

    title: str | None = None
    template: TemplateName | None = None
    theme: str | None = None
    theme_tokens: TokensRequest | None = None


class ScreenPatch(FrameRequest):
    """The new values; properties that you leave out stay as they are."""

    title: str | None = None
    theme: str | None = None
    theme_tokens: TokensRequest | None = None


class MoveRequest(Request):
    """Place and size of one screen."""

    id: str
    x: int = Field(ge=-FAR, le=FAR)
    y: int = Field(ge=-FAR, le=FAR)
    width: int | None = Field(None, ge=1, le=FAR)
    height: int | None = Field(None, ge=1, le=FAR)


class MovesRequest(Request):
    items: list[MoveRequest] = Field(min_length=1, max_length=MAX_MOVES)


class ScreenPreviewRequest(Request):
    """The start page in the app."""

    path: str = Field("/", max_length=2_000, pattern="^/", description="Path and query to begin with.")


class Theme(Answer):
    """A look: a CSS value for every token, light and dark. A screen names it by `id`."""

    id: str
    name: str
    description: str
    light: dict[str, str]
    dark: dict[str, str]


class ScreenFileAnswer(Answer):
    path: str
    size: int


class ScreenFilesAnswer(Answer):
    """A screen's files, without installed packages and caches."""

    items: list[ScreenFileAnswer]
    checkpoint_id: str | None
    live: bool
    truncated: bool


class CodeHitAnswer(Answer):
    """A line that matches the search."""

    path: str
    line: int
    text: str


class HitsAnswer(Answer):
    items: list[CodeHitAnswer]
    truncated: bool


class FileChangeAnswer(Answer):
    """One file that a run changed."""

    path: str
    status: Literal["added", "changed", "removed"]
    before: str | None
    after: str | None
    before_bytes: int | None
    after_bytes: int | None


class ScreenChangesAnswer(Answer):
    """Files that a run changed."""

    run_id: str | None
    before: CheckpointData | None
    after: CheckpointData | None
    items: list[FileChangeAnswer]
    truncated: bool


class ImageHostAnswer(Answer):
    """A host of pictures that the screen asked for."""

    host: str
    asked_at: str
    allowed_by: str | None
    allowed_at: str | None
