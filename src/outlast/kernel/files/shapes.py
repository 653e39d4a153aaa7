"""Shapes of files' searches and texts."""

from pydantic import BaseModel

from outlast.base.document_data import ArtifactData


class FileHitAnswer(BaseModel):
    """A passage of a file: `page` of a PDF (null: it has no pages), `terms` the words in it that the query found."""

    artifact: ArtifactData
    heading: str
    text: str
    page: int | None
    score: float
    terms: list[str]


class FileSearchAnswer(BaseModel):
    """Passages, best first; `note` says in a sentence how the search went, or is empty."""

    items: list[FileHitAnswer]
    note: str


class FileTextAnswer(BaseModel):
    """A page of a file's text; texts without pages have one."""

    artifact: ArtifactData
    text: str
    page: int
    pages: int
