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
    """What a new document is to be: without a title it gets that of its first heading."""

    title: str | None = None
    markdown: str = ""


class DocumentPatch(Request):
    """What is to be different."""

    title: str


class InsertBlockChange(Request):
    """New text in a section (null: before the first heading), behind one of its blocks (null: first)."""

    op: Literal["insert_block"]
    section_id: Id | None
    after: Id | None
    markdown: str
    ref: Ref | None = None

    def change(self) -> Change:
        return changes.InsertBlock(self.section_id, self.after, self.markdown, self.ref)


class EditBlockChange(Request):
    """Other text for a block; `old` is the text it started from. A text that somebody changed meanwhile is merged."""

    op: Literal["edit_block"]
    block_id: Id
    markdown: str
    old: str

    def change(self) -> Change:
        return changes.EditBlock(self.block_id, self.markdown, self.old)


class MoveBlockChange(Request):
    """A block to another place (`section_id` null: before the first heading)."""

    op: Literal["move_block"]
    block_id: Id
    section_id: Id | None
    after: Id | None

    def change(self) -> Change:
        return changes.MoveBlock(self.block_id, self.section_id, self.after)


class DeleteBlockChange(Request):
    """A block away; `old` is the text that was seen."""

    op: Literal["delete_block"]
    block_id: Id
    old: str

    def change(self) -> Change:
        return changes.DeleteBlock(self.block_id, self.old)


class InsertSectionChange(Request):
    """A new section behind another one (null: first)."""

    op: Literal["insert_section"]
    after: Id | None
    heading: str
    level: int = Field(2, ge=1, le=6)
    markdown: str = ""
    ref: Ref | None = None

    def change(self) -> Change:
        return changes.InsertSection(self.after, self.heading, self.level, self.markdown, self.ref)


class EditSectionChange(Request):
    """Another heading, or level; `old` is the heading it started from."""

    op: Literal["edit_section"]
    section_id: Id
    heading: str | None = None
    level: int | None = Field(None, ge=0, le=6)
    old: str | None = None

    def change(self) -> Change:
        return changes.EditSection(self.section_id, self.heading, self.level, self.old)


class MoveSectionChange(Request):
    """A section to another place; `whole`: with those below it in the outline."""

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
