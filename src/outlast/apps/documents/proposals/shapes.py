"""Shapes of deciding about what agents propose."""

from typing import Literal

from pydantic import Field

from outlast.apps.documents.edits.merge import HunkKind
from outlast.base.document_data import EditData
from outlast.kernel.http.shapes import Answer, Request


class DecisionRequest(Request):
    """A decision about one edit."""

    decision: Literal["accept", "reject", "reopen"]
    text: str | None = None
    old: str | None = None
    decided_at: str | None = None


class NamedDecision(DecisionRequest):
    """A decision about one edit, by its id."""

    edit_id: str


class DecisionsRequest(Request):
    """Decisions about edits of one proposal: all are made, or none. `possible` leaves open what cannot be accepted."""

    decisions: list[NamedDecision] = Field(min_length=1, max_length=1000)
    possible: bool = False


class LeftEdit(Answer):
    """An edit that could not be accepted and stays open."""

    edit_id: str
    code: Literal["text_changed", "section_locked"]
    message: str


class DecidedAnswer(Answer):
    """The edits as they are now, and the version of the document that the decisions made."""

    version: int | None
    edits: list[EditData]
    left: list[LeftEdit] = Field(default_factory=list)


class MergeHunk(Answer):
    """A stretch of the three texts."""

    kind: HunkKind
    base: str
    current: str
    wanted: str


class MergeAnswer(Answer):
    """The result of accepting an edit, and its three sources. The hunks in order make up each text."""

    base: str
    current: str
    wanted: str
    text: str | None
    hunks: list[MergeHunk]
