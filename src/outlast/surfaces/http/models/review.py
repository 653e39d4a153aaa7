"""Shapes of deciding about what agents propose."""

from typing import Literal

from pydantic import Field

from outlast.base.document_data import EditData
from outlast.core.documents.merge import HunkKind
from outlast.surfaces.http.models.shapes import Answer, Request


class DecisionRequest(Request):
    """About one edit. `text`: what is written in the place of what was proposed. `old`: the block's text that the
    decision was made from, after `text_changed`."""

    decision: Literal["accept", "reject"]
    text: str | None = None
    old: str | None = None


class NamedDecision(DecisionRequest):
    """The same, saying which edit."""

    edit_id: str


class DecisionsRequest(Request):
    """Decisions about edits of one proposal: all or none of them."""

    decisions: list[NamedDecision] = Field(min_length=1, max_length=1000)


class DecidedAnswer(Answer):
    """`version`: the document's, made by what was accepted; null: nothing is different. The edits as they are now."""

    version: int | None
    edits: list[EditData]


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
