"""Shapes of documents and their changes."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from outlast.apps.documents.content.markdown_parse import BlockKind
from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.locks.shapes import LockData

EditorKind = Literal["person", "agent"]
VersionKind = Literal[
    "created",
    "edit",  # a person wrote
    "agent",  # a person accepted what an agent proposed
    "import",
    "restore",  # an earlier version was restored
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
    """A document as it is now (project log). `by` is the user who changed it (None: a run, or the server itself)."""

    document: DocumentData
    by: str | None = None


class DocumentDeleted(Frozen):
    """A document was deleted, with its threads, comments and history (project log)."""

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
    """The change of a block."""

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
    """The differences between two versions of a document."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    from_version: int = Field(alias="from")
    to_version: int = Field(alias="to")
    sections: list[SectionDifference]


class VersionCreated(Frozen):
    """A document has a new version. In the project's log, and in the log of the thread that proposed it."""

    version: DocumentVersion


MAX_VERSION = 2**31 - 1  # versions
CHANGE_CHARS = 200_000  # of one change's text; an import may be longer
CHANGES_CHARS = 400_000  # of all texts of a request
Id = Annotated[str, Field(max_length=200)]
Ref = Annotated[str, Field(min_length=1, max_length=100)]


class DocumentRequest(Request):
    """A new document. Without a title it gets that of its first heading."""

    title: str | None = None
    markdown: str = ""


class DocumentPatch(Request):
    """The new values; properties that you leave out stay as they are."""

    title: str


# Changes are made in order, all or none (`edits/apply.py`). Markdown has the meaning that it has in a file: a text with
# several blocks makes several (the first keeps the id), a heading begins a new section that takes the blocks after it,
# an empty text deletes the block. `ref` is the caller's name for a new thing: later changes of one request may
# use it in place of an id, and the answer has its id. `after` is the sibling before the new place (None:
# first; a new section then comes behind the text before the first heading).


class InsertBlockChange(Request):
    """Insert a block into a section."""

    op: Literal["insert_block"]
    section_id: Id | None
    after: Id | None
    markdown: str
    ref: Ref | None = None


class EditBlockChange(Request):
    """Change the text of a block. If others changed it meanwhile, the texts are merged."""

    op: Literal["edit_block"]
    block_id: Id
    markdown: str
    old: str


class MoveBlockChange(Request):
    """Move a block."""

    op: Literal["move_block"]
    block_id: Id
    section_id: Id | None
    after: Id | None


class DeleteBlockChange(Request):
    """Delete a block."""

    op: Literal["delete_block"]
    block_id: Id
    old: str


class InsertSectionChange(Request):
    """Insert a section."""

    op: Literal["insert_section"]
    after: Id | None
    heading: str
    level: int = Field(2, ge=1, le=6)
    markdown: str = ""
    ref: Ref | None = None


class EditSectionChange(Request):
    """Change a section's heading or level."""

    op: Literal["edit_section"]
    section_id: Id
    heading: str | None = None
    level: int | None = Field(None, ge=0, le=6)
    old: str | None = None


class MoveSectionChange(Request):
    """Move a section, with those below it in the outline or without."""

    op: Literal["move_section"]
    section_id: Id
    after: Id | None
    whole: bool = False


class DeleteSectionChange(Request):
    """Delete a section, with its blocks or without."""

    op: Literal["delete_section"]
    section_id: Id
    keep_blocks: bool = False
    seen: int | None = Field(None, ge=0, le=MAX_VERSION)


BlockChange = InsertBlockChange | EditBlockChange | MoveBlockChange | DeleteBlockChange
SectionChange = InsertSectionChange | EditSectionChange | MoveSectionChange | DeleteSectionChange
Change = BlockChange | SectionChange


class ChangesRequest(Request):
    """Changes to a document. All are made, as one version, or none."""

    changes: list[Annotated[Change, Field(discriminator="op")]] = Field(min_length=1, max_length=1000)
    summary: str = Field("", max_length=2000)
    since: int | None = Field(None, ge=0, le=MAX_VERSION)


class ImportRequest(Request):
    """Markdown to insert behind a section, or to replace the document with."""

    markdown: str
    after_section_id: Id | None = None
    replace: bool = False
    seen: int | None = Field(None, ge=0, le=MAX_VERSION)


class RestoreDocumentRequest(Request):
    """Restore the text of an earlier version."""

    version: int = Field(ge=0, le=MAX_VERSION)
    seen: int | None = Field(None, ge=0, le=MAX_VERSION)


class DocumentVersionsAnswer(Answer):
    """Versions, newest first; `next` is the `before` of older ones."""

    items: list[DocumentVersion]
    next: int | None


class PlaceRequest(Request):
    """The block where you are; `typing` if you type."""

    block_id: str | None = Field(None, max_length=40)
    typing: bool = False
