"""A document's content as plain data: sections in order, each with its blocks in order. Pure.

A tree may be partial: sections whose blocks are not needed are read without them (`Tree.unread` counts those blocks).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from outlast.apps.documents.content.markdown_parse import BlockKind
from outlast.apps.documents.shapes import EditorKind
from outlast.base.errors import NotFound
from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """One block of Markdown. `version` is the document version that changed it last, at `at` (ISO 8601); the editor is
    the author of its text."""

    id: str
    section_id: str
    rank: str
    kind: BlockKind
    markdown: str
    version: int = 0
    editor_kind: EditorKind = "person"
    editor_id: str | None = None
    at: str = ""

    @property
    def text(self) -> str:
        return self.markdown


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its blocks, in order. Level 0 (only the first section): the text before the first heading; it has
    no heading, and exists only while it has blocks."""

    id: str
    rank: str
    heading: str
    level: int
    version: int = 0
    at: str = ""
    blocks: tuple[Block, ...] = ()

    @property
    def text(self) -> str:
        return self.heading


@dataclass(frozen=True, slots=True)
class Tree:
    """A document's sections in order, at one version."""

    document_id: str
    version: int
    sections: tuple[Section, ...] = ()
    unread: int = 0

    def find_section(self, section_id: str) -> Section | None:
        return next((section for section in self.sections if section.id == section_id), None)

    def section(self, section_id: str) -> Section:
        """The section of this id. Raises `NotFound`."""
        found = self.find_section(section_id)
        if found is None:
            raise missing("section", self.document_id, section_id)
        return found

    def find_block(self, block_id: str) -> Block | None:
        return next((block for block in self.blocks() if block.id == block_id), None)

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of the text."""
        for section in self.sections:
            yield from section.blocks


def count_words(text: str) -> int:
    """The number of words: runs of characters between spaces."""
    return len(text.split())


def last_before(ids: Sequence[str], one: str | None, counts: Callable[[str], bool]) -> str | None:
    """The nearest id before this one that counts, or None if there is none or this one is missing."""
    before = ids[: ids.index(one)] if one in ids else ()
    return next((key for key in reversed(before) if counts(key)), None)


def missing(noun: Literal["section", "block"], document_id: str, thing_id: str) -> NotFound:
    """The error about a missing section or block."""
    return NotFound(
        f"This {noun} is no longer in the document.",
        hint="It may have been deleted. Read the document again.",
        noun=noun,
        id=thing_id,
        document_id=document_id,
    )
