"""What events and the API carry of documents: sections of blocks, versions, comments, proposals, project files."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from outlast.base.parts import Frozen
from outlast.base.thread_data import LockData

BlockKind = Literal["paragraph", "list", "code", "table", "quote", "rule", "html", "front_matter"]
EditorKind = Literal["person", "agent"]
VersionKind = Literal[
    "created",
    "edit",  # a person wrote
    "agent",  # a person accepted what an agent proposed
    "import",
    "restore",  # an earlier version was made the present one
]
EditOp = Literal[
    "replace",  # a block's text becomes `new_text`
    "insert",  # blocks after `after_id` (null: first) of a section
    "delete",  # the block goes
    "move",  # the block goes after `after_id` (null: first) of a section
    "insert_section",  # a section after the section `after_id` (null: first), with a heading and blocks
]
EditState = Literal[
    "open", "accepted", "rejected", "superseded"  # something newer took its place: `superseded_by` says what
]


class BlockData(Frozen):
    """One block of Markdown."""

    id: str
    section_id: str
    kind: BlockKind
    markdown: str
    version: int
    editor_kind: EditorKind
    editor_id: str | None
    editor_name: str | None
    updated_at: str


class SectionHead(Frozen):
    """A section without its blocks."""

    id: str
    document_id: str
    heading: str
    level: int
    version: int
    lock: LockData | None = None


class SectionData(SectionHead):
    """A section: its heading and its blocks, in order."""

    blocks: list[BlockData]


class DocumentData(Frozen):
    """A document, without its text. `thread_id` is its own conversation."""

    id: str
    project_id: str
    thread_id: str
    title: str
    version: int
    words: int
    open_comments: int
    open_edits: int
    active_run_id: str | None
    created_by: str
    created_at: str
    updated_at: str


class DocumentView(DocumentData):
    """A document with its text."""

    sections: list[SectionData]


class DocumentChanges(Frozen):
    """Everything that changed in a document between two versions."""

    version: int
    made: dict[str, str]
    sections: list[SectionHead]
    blocks: list[BlockData]
    removed: list[str]
    section_order: list[str] | None
    block_order: dict[str, list[str]]


class DocumentChanged(Frozen):
    """A document as it is now (project log). `by` is the user who did it (None: a run, or the server itself)."""

    document: DocumentData
    by: str | None = None


class DocumentDeleted(Frozen):
    """A document is gone, with its threads, comments and history (project log)."""

    document_id: str


class DocumentVersion(Frozen):
    """One version in a document's history."""

    document_id: str
    version: int
    kind: VersionKind
    summary: str
    by: str | None
    by_name: str | None = None
    thread_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    proposal_id: str | None = None
    sections: list[str]
    blocks: list[str]
    created_at: str


class DocumentVersionView(DocumentVersion):
    """A version with its text."""

    content: list[SectionData]


DiffState = Literal["same", "added", "removed", "changed", "moved"]


class BlockDifference(Frozen):
    """What changed in a block."""

    id: str
    state: DiffState
    before: str | None
    after: str | None


class SectionDifference(Frozen):
    """Changes of a section and its blocks, in reading order. A section that did not change has no blocks here."""

    id: str
    state: DiffState
    heading_before: str | None
    heading_after: str | None
    blocks: list[BlockDifference]


class DocumentDifference(Frozen):
    """What differs between two versions of a document."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    from_version: int = Field(alias="from")
    to_version: int = Field(alias="to")
    sections: list[SectionDifference]


class VersionCreated(Frozen):
    """A document has a new version. In the project's log, and in the log of the thread that proposed it."""

    version: DocumentVersion


class Quote(Frozen):
    """Selected text in a block with the text around it, by which it is found again (W3C TextQuoteSelector)."""

    text: str
    prefix: str = ""
    suffix: str = ""


class CommentData(Frozen):
    """A comment on a document, or a reply to one."""

    id: str
    document_id: str
    project_id: str
    section_id: str | None
    block_id: str | None
    quote: Quote | None
    orphaned: bool = False
    linked_sections: list[str]
    parent_id: str | None
    body: str
    mentions: list[str]
    status: Literal["open", "resolved"]
    assigned_to: str | None
    assigned_name: str | None = None
    thread_id: str | None
    by: str | None
    by_name: str | None
    resolved_by: str | None
    resolved_by_name: str | None = None
    resolved_at: str | None
    created_at: str
    updated_at: str


class CommentChanged(Frozen):
    """A comment as it is now (project log)."""

    comment: CommentData
    by: str | None = None


class CommentDeleted(Frozen):
    """A comment is gone, with its answers (project log)."""

    comment_id: str
    document_id: str


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


class EditsResolved(Frozen):
    """Edits were accepted or rejected together. In the logs of the thread and the project."""

    proposal_id: str
    document_id: str
    edits: list[EditData]
    version: int | None = None
    by: str | None = None


class EditsReopened(Frozen):
    """Decisions about edits were taken back. In the logs of the thread and the project."""

    proposal_id: str
    document_id: str
    edits: list[EditData]
    version: int | None = None
    by: str | None = None


class EditsSuperseded(Frozen):
    """Newer changes replaced these edits. In the logs of the thread and the project."""

    proposal_id: str
    document_id: str
    edits: list[EditData]


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
    """A file as it is now (project log)."""

    artifact: ArtifactData
    by: str | None = None


class ArtifactDeleted(Frozen):
    artifact_id: str


class InboxChanged(Frozen):
    """An inbox may have changed: read it again. `user_id` null: those of all who may decide. In the project's log."""

    user_id: str | None
    kind: Literal["approval", "question", "proposal", "handover", "mention", "assigned"]
    item: dict[str, Any] | None = None
