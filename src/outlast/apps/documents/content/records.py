"""Sections and blocks as the history keeps them, and a document's state from them. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.tree_diff import Delta

Record = dict[str, Any]


def change_of(delta: Delta) -> Record:
    """A difference as it is stored: what the thing was and is (null: it was not, is not there)."""
    change: Record = {"noun": delta.noun, "id": delta.id}
    change["before"], change["after"] = _record(delta.before), _record(delta.after)
    return change | {"quiet": True} if delta.quiet else change


def state_of(tree: Tree) -> Record:
    """A whole document as it is stored."""
    return {
        "sections": {section.id: _record(section) for section in tree.sections},
        "blocks": {block.id: _record(block) for block in tree.blocks()},
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
    below: dict[str, list[Block]] = {}
    for key, record in state["blocks"].items():
        block = block_of(key, record)
        below.setdefault(block.section_id, []).append(block)
    sections = [section_of(key, record) for key, record in state["sections"].items()]
    return Tree(document_id, version, in_order(sections, below))


def in_order(sections: Iterable[Section], below: Mapping[str, list[Block]]) -> tuple[Section, ...]:
    """Sections with their blocks, each sorted by rank."""
    return tuple(
        replace(section, blocks=tuple(sorted(below.get(section.id, ()), key=lambda block: block.rank)))
        for section in sorted(sections, key=lambda section: section.rank)
    )


def section_of(key: str, record: Mapping[str, Any]) -> Section:
    return Section(key, record["rank"], record["heading"], record["level"], record["version"], record.get("at", ""))


def block_of(key: str, record: Mapping[str, Any]) -> Block:
    return Block(
        key,
        record["section_id"],
        record["rank"],
        record["kind"],
        record["markdown"],
        record["version"],
        record["editor_kind"],
        record["editor_id"],
        record.get("at", ""),
    )


def _record(thing: Section | Block | None) -> Record | None:
    if thing is None:
        return None
    if isinstance(thing, Section):
        return {
            "rank": thing.rank,
            "heading": thing.heading,
            "level": thing.level,
            "version": thing.version,
            "at": thing.at,
        }
    return {
        "section_id": thing.section_id,
        "rank": thing.rank,
        "kind": thing.kind,
        "markdown": thing.markdown,
        "version": thing.version,
        "editor_kind": thing.editor_kind,
        "editor_id": thing.editor_id,
        "at": thing.at,
    }
