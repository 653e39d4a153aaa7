"""Shapes of proposals and decisions."""

from typing import Literal

from pydantic import Field

from outlast.apps.documents.edits.merge import MergeHunk
from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request

EditOp = Literal[
    "replace",  # a block's text becomes `new_text`
    "insert",  # blocks after `after_id` (null: first) of a section
    "delete",  # the block is deleted
    "move",  # the block moves after `after_id` (null: first) of a section
    "insert_section",  # a section after the section `after_id` (null: first), with a heading and blocks
]
EditState = Literal[
    "open", "accepted", "rejected", "superseded"  # replaced by something newer, see `superseded_by`
]
Decision = Literal["accept", "reject", "reopen"]
DECISIONS_CHARS = 200_000  # of a person's own texts in one request: they are parsed while others wait


class EditData(Frozen):
    """One proposed change. In a fork, an edit and its original count once while both are open and say the same."""

    id: str
    proposal_id: str
    document_id: str
    ordinal: int
    op: EditOp
    block_id: str | None
    section_id: str | None
    after_id: str | None
    heading: str | None = None
    level: int | None = None
    old_text: str
    new_text: str
    state: EditState
    applied_text: str | None = None
    decided_by: str | None = None
    decided_by_name: str | None = None
    decided_at: str | None = None
    version: int | None = None
    superseded_by: str | None = None
    reason: str = ""
    reopened: int = 0
    origin_id: str | None = None


class ProposalData(Frozen):
    """Edits that an agent proposes. Closed once no edit is open."""

    id: str
    project_id: str
    document_id: str
    thread_id: str
    message_id: str | None
    run_id: str | None
    summary: str
    state: Literal["open", "closed"]
    edits: list[EditData]
    created_at: str


class ProposalCreated(Frozen):
    """An agent proposed edits, or their places changed. In the logs of the thread and the project."""

    proposal: ProposalData


class EditsSuperseded(Frozen):
    """Newer changes replaced these edits. In the logs of the thread and the project."""

    proposal_id: str
    document_id: str
    edits: list[EditData]


class EditsResolved(EditsSuperseded):
    """Edits were accepted or rejected together. In the logs of the thread and the project."""

    version: int | None = None
    by: str | None = None


class EditsReopened(EditsResolved):
    """Decisions about edits were undone. In the logs of the thread and the project."""


class DecisionRequest(Request):
    """A decision about one edit."""

    decision: Decision
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


class MergeAnswer(Answer):
    """The result of accepting an edit, and its three sources. The hunks in order make up each text."""

    base: str
    current: str
    wanted: str
    text: str | None
    hunks: list[MergeHunk]
