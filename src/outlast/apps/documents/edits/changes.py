"""What somebody wants to be different in a document. Applied in order, by `apply.py`. Pure.

Markdown means what it would mean in the file: text with several blocks makes several (the first keeps the id), a
heading begins a new section that takes the blocks after it, no text at all deletes the block. `ref` is the caller's
name for what a change makes: later changes of the same set may use it where an id is wanted, and the answer says which
id it got. `after` is the sibling before the new place (None: first).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InsertBlock:
    """New blocks in a section (None: before the first heading), after one of its blocks."""

    section_id: str | None
    after: str | None
    markdown: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class EditBlock:
    """Other text for a block. `old` is the text that the writer started from: where the block says something else by
    now, both are merged. None: whatever it says now was seen (for callers that have just read it in this
    transaction)."""

    block_id: str
    markdown: str
    old: str | None = None


@dataclass(frozen=True, slots=True)
class MoveBlock:
    """A block to another place, in its section or another one (None: before the first heading)."""

    block_id: str
    section_id: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class DeleteBlock:
    """A block away. `old` as in `EditBlock`: a block that says something else by now is not deleted unseen."""

    block_id: str
    old: str | None = None


@dataclass(frozen=True, slots=True)
class InsertSection:
    """A new section after another one (None: first, but behind the text before the first heading)."""

    after: str | None
    heading: str
    level: int = 2
    markdown: str = ""
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class EditSection:
    """Another heading, or level, for a section. `old` is the heading that the writer started from."""

    section_id: str
    heading: str | None = None
    level: int | None = None
    old: str | None = None


@dataclass(frozen=True, slots=True)
class MoveSection:
    """A section with its blocks to another place. With `whole` those below it in the outline (of a deeper level, right
    behind it) come along."""

    section_id: str
    after: str | None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DeleteSection:
    """A section away, with its blocks; with `keep_blocks` only the heading: they join the section before it. `seen` is
    the document's version that the writer saw: text written since is not deleted unseen."""

    section_id: str
    keep_blocks: bool = False
    seen: int | None = None


Change = InsertBlock | EditBlock | MoveBlock | DeleteBlock | InsertSection | EditSection | MoveSection | DeleteSection
