"""Shapes of files' searches and texts."""

from pydantic import BaseModel

from outlast.base.document_data import ArtifactData


class FileHitAnswer(BaseModel):
    """A passage of a file that matches the search."""

    artifact: ArtifactData
    heading: str
    text: str
    page: int | None
    score: float
    terms: list[str]


class FileSearchAnswer(BaseModel):
    """Passages, best first."""

    items: list[FileHitAnswer]
    note: str


class FileTextAnswer(BaseModel):
    """One page of a file's text."""

    artifact: ArtifactData
    text: str
    page: int
    pages: int
