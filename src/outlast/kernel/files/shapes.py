"""Shapes of files' searches and texts."""

from typing import Literal

from pydantic import BaseModel

from outlast.base.events import Frozen


class ArtifactData(Frozen):
    """A file of the project."""

    id: str
    project_id: str
    name: str
    media_type: str
    size_bytes: int
    state: Literal["reading", "ready", "no_text", "failed"]
    pages: int | None = None
    characters: int = 0
    width: int | None = None
    height: int | None = None
    trouble: str | None = None
    created_by: str
    created_by_name: str
    created_at: str


class ArtifactChanged(Frozen):
    """The current state of a file (project log)."""

    artifact: ArtifactData
    by: str | None = None


class ArtifactDeleted(Frozen):
    artifact_id: str


class FileHitAnswer(BaseModel):
    """A passage of a file that matches the search."""

    artifact: ArtifactData
    heading: str
    text: str
    page: int | None
    score: float
    terms: list[str]


class FileSearchAnswer(BaseModel):
    """Passages, best first; `note` is empty, or one sentence about the search."""

    items: list[FileHitAnswer]
    note: str


class FileTextAnswer(BaseModel):
    """One page of a file's text."""

    artifact: ArtifactData
    text: str
    page: int
    pages: int
