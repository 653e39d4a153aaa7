"""Shapes of screens and themes."""

from typing import Literal

from pydantic import Field

from outlast.base.events import CheckpointData
from outlast.base.screen_data import TemplateName, ThemeTokens
from outlast.kernel.http.shapes import Answer, Request

MOST_MOVED = 500
FAR = 2**31 - 1


class PlaceRequest(Request):
    """Where on the canvas, in its CSS pixels."""

    x: int | None = Field(None, ge=-FAR, le=FAR)
    y: int | None = Field(None, ge=-FAR, le=FAR)


class CopyRequest(PlaceRequest):
    """Where the copy goes; without: beside the first."""


class FrameRequest(PlaceRequest):
    """Where on the canvas, and how large."""

    width: int | None = Field(None, ge=1, le=FAR)
    height: int | None = Field(None, ge=1, le=FAR)


class TokensRequest(Request):
    """A theme's colours and measures by token name."""

    light: dict[str, str] = Field(default_factory=dict, max_length=100)
    dark: dict[str, str] = Field(default_factory=dict, max_length=100)

    def tokens(self) -> ThemeTokens:
        return ThemeTokens(light=self.light, dark=self.dark)


class ScreenRequest(FrameRequest):
    """What a new screen is to be; what is left out the server chooses. `theme_tokens` make a custom theme."""

    title: str | None = None
    template: TemplateName | None = None
    theme: str | None = None
    theme_tokens: TokensRequest | None = None


class ScreenPatch(FrameRequest):
    """What is to be different. `theme_tokens` make the theme a custom one."""

    title: str | None = None
    theme: str | None = None
    theme_tokens: TokensRequest | None = None


class MoveRequest(Request):
    """Where one screen goes, and how large it is there."""

    id: str
    x: int = Field(ge=-FAR, le=FAR)
    y: int = Field(ge=-FAR, le=FAR)
    width: int | None = Field(None, ge=1, le=FAR)
    height: int | None = Field(None, ge=1, le=FAR)


class MovesRequest(Request):
    items: list[MoveRequest] = Field(min_length=1, max_length=MOST_MOVED)


class ScreenPreviewRequest(Request):
    """Where in the app to begin."""

    path: str = Field("/", max_length=2_000, pattern="^/", description="Path and query to begin with.")


class ThemeAnswer(Answer):
    """A named look: a CSS value for every token."""

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
    """A line that holds what was searched for; lines count from 1."""

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
    """What a run changed: from the files as it found them (`before`; null: none were kept) to those that it left."""

    run_id: str | None
    before: CheckpointData | None
    after: CheckpointData | None
    items: list[FileChangeAnswer]
    truncated: bool


class ImageHostAnswer(Answer):
    """A host of other sites' pictures; `allowed_at` null: they were blocked, and nobody has allowed them."""

    host: str
    asked_at: str
    allowed_by: str | None
    allowed_at: str | None
