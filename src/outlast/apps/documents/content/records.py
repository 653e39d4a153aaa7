"""Sections and blocks as stored in the history, and a document's state rebuilt from them. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.tree_diff import Delta

Record = dict[str, Any]
_SECTION: Final = ("rank", "heading", "level", "version", "at")
_BLOCK: Final = ("section_id", "rank", "kind", "markdown", "version", "editor_kind", "editor_id", "at")


def change_of(delta: Delta) -> Record:
    """A difference as stored: the thing before and after (null if it did not exist)."""
    before, after = (None if side is None else record_of(side) for side in (delta.before, delta.after))
    change: Record = {"noun": delta.noun, "id": delta.id, "before": before, "after": after}
    return change | {"quiet": True} if delta.quiet else change


def state_of(tree: Tree) -> Record:
    """A whole document as stored."""
    return {
        "sections": {section.id: record_of(section) for section in tree.sections},
        "blocks": {block.id: record_of(block) for block in tree.blocks()},
    }


def step_back(state: Record, changes: Iterable[Record]) -> None:
    """Turn a state into the one before these changes."""
    for change in changes:
        things = state[f"{change['noun']}s"]
        if change["before"] is None:
            things.pop(change["id"], None)
        else:
            things[change["id"]] = change["before"]


def tree_of(document_id: str, version: int, state: Record) -> Tree:
    """The tree that a state describes, in order."""
    blocks = [Block(key, **record) for key, record in state["blocks"].items()]
    sections = [Section(key, **record) for key, record in state["sections"].items()]
    return Tree(document_id, version, in_order(sections, blocks))


def in_order(sections: Iterable[Section], blocks: Iterable[Block]) -> tuple[Section, ...]:
    """Sections with their blocks, each sorted by rank."""
    below: dict[str, list[Block]] = {}
    for block in blocks:
        below.setdefault(block.section_id, []).append(block)
    return tuple(
        replace(section, blocks=tuple(sorted(below.get(section.id, ()), key=lambda block: block.rank)))
        for section in sorted(sections, key=lambda section: section.rank)
    )


def record_of(thing: Section | Block) -> Record:
    """The fields of a section (without its blocks) or a block, except the id."""
    names = _BLOCK if isinstance(thing, Block) else _SECTION
    return {name: getattr(thing, name) for name in names}
