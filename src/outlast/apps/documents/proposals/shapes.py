"""Shapes of deciding about what agents propose."""

from typing import Literal

from pydantic import Field

from outlast.apps.documents.edits.merge import HunkKind
from outlast.base.document_data import EditData
from outlast.kernel.http.shapes import Answer, Request


class DecisionRequest(Request):
    """About one edit. `text`: what is written in the place of what was proposed. `old`: the block's text that the
    decision was made from, after `text_changed`. `reopen` takes a decision back; `decided_at` says which one (left out:
    whichever it is)."""

    decision: Literal["accept", "reject", "reopen"]
    text: str | None = None
    old: str | None = None
    decided_at: str | None = None


class NamedDecision(DecisionRequest):
    """The same, saying which edit."""

    edit_id: str


class DecisionsRequest(Request):
    """Decisions about edits of one proposal: all or none of them. With `possible`, edits that cannot be accepted now
    stay open and are named in `left`."""

    decisions: list[NamedDecision] = Field(min_length=1, max_length=1000)
    possible: bool = False


class LeftEdit(Answer):
    """An edit that stays open: its text changed since (`text_changed`), or somebody else keeps its section
    (`section_locked`)."""

    edit_id: str
    code: Literal["text_changed", "section_locked"]
    message: str


class DecidedAnswer(Answer):
    """`version`: the document's, made by what was accepted or reopened; null: nothing is different. The edits as they
    are now, and which of them could not be accepted."""

    version: int | None
    edits: list[EditData]
    left: list[LeftEdit] = Field(default_factory=list)


class MergeHunk(Answer):
    """A stretch of three texts. `conflict`: both changed it, and not the same."""

    kind: HunkKind
    base: str
    current: str
    wanted: str


class MergeAnswer(Answer):
    """What accepting an edit would write (`text`; null: there are conflicts), of what the agent saw (`base`), what the
    block says now (`current`) and what the agent wants (`wanted`). The hunks in order are all three texts."""

    base: str
    current: str
    wanted: str
    text: str | None
    hunks: list[MergeHunk]
