"""Shapes of documents and what people write in them."""

from typing import Annotated, Literal

from pydantic import Field

from outlast.apps.documents.edits import changes
from outlast.apps.documents.edits.changes import Change
from outlast.base.document_data import DocumentVersion
from outlast.kernel.http.shapes import Answer, Request

MOST = 2**31 - 1  # versions
Id = Annotated[str, Field(max_length=200)]
Ref = Annotated[str, Field(min_length=1, max_length=100)]


class DocumentRequest(Request):
    """A new document. Without a title it gets that of its first heading."""

    title: str | None = None
    markdown: str = ""


class DocumentPatch(Request):
    """What to change; properties that you leave out stay as they are."""

    title: str


class InsertBlockChange(Request):
    """Insert a block into a section."""

    op: Literal["insert_block"]
    section_id: Id | None
    after: Id | None
    markdown: str
    ref: Ref | None = None

    def change(self) -> Change:
        return changes.InsertBlock(self.section_id, self.after, self.markdown, self.ref)


class EditBlockChange(Request):
    """Change the text of a block. If others changed it meanwhile, the texts are merged."""

    op: Literal["edit_block"]
    block_id: Id
    markdown: str
    old: str

    def change(self) -> Change:
        return changes.EditBlock(self.block_id, self.markdown, self.old)


class MoveBlockChange(Request):
    """Move a block."""

    op: Literal["move_block"]
    block_id: Id
    section_id: Id | None
    after: Id | None

    def change(self) -> Change:
        return changes.MoveBlock(self.block_id, self.section_id, self.after)


class DeleteBlockChange(Request):
    """Delete a block."""

    op: Literal["delete_block"]
    block_id: Id
    old: str

    def change(self) -> Change:
        return changes.DeleteBlock(self.block_id, self.old)


class InsertSectionChange(Request):
    """Insert a section."""

    op: Literal["insert_section"]
    after: Id | None
    heading: str
    level: int = Field(2, ge=1, le=6)
    markdown: str = ""
    ref: Ref | None = None

    def change(self) -> Change:
        return changes.InsertSection(self.after, self.heading, self.level, self.markdown, self.ref)


class EditSectionChange(Request):
    """Change a section's heading or level."""

    op: Literal["edit_section"]
    section_id: Id
    heading: str | None = None
    level: int | None = Field(None, ge=0, le=6)
    old: str | None = None

    def change(self) -> Change:
        return changes.EditSection(self.section_id, self.heading, self.level, self.old)


class MoveSectionChange(Request):
    """Move a section, with those below it in the outline or without."""

    op: Literal["move_section"]
    section_id: Id
    after: Id | None
    whole: bool = False

    def change(self) -> Change:
        return changes.MoveSection(self.section_id, self.after, self.whole)


class DeleteSectionChange(Request):
    """Delete a section, with its blocks or without."""

    op: Literal["delete_section"]
    section_id: Id
    keep_blocks: bool = False
    seen: int | None = Field(None, ge=0, le=MOST)

    def change(self) -> Change:
        return changes.DeleteSection(self.section_id, self.keep_blocks, self.seen)


AnyChange = Annotated[
    InsertBlockChange
    | EditBlockChange
    | MoveBlockChange
    | DeleteBlockChange
    | InsertSectionChange
    | EditSectionChange
    | MoveSectionChange
    | DeleteSectionChange,
    Field(discriminator="op"),
]


class ChangesRequest(Request):
    """Changes to a document. All are made, as one version, or none."""

    changes: list[AnyChange] = Field(min_length=1, max_length=1000)
    summary: str = Field("", max_length=2000)
    since: int | None = Field(None, ge=0, le=MOST)


class ImportRequest(Request):
    """Markdown to insert behind a section, or to replace the document with."""

    markdown: str
    after_section_id: Id | None = None
    replace: bool = False
    seen: int | None = Field(None, ge=0, le=MOST)


class RestoreDocumentRequest(Request):
    """Restore the text of an earlier version."""

    version: int = Field(ge=0, le=MOST)
    seen: int | None = Field(None, ge=0, le=MOST)


class DocumentVersionsAnswer(Answer):
    """Versions, newest first; `next` is the `before` of older ones."""

    items: list[DocumentVersion]
    next: int | None
