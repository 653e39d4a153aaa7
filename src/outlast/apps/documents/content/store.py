"""Writes what differs between two states of a document, and nothing else. First argument: the open transaction."""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from outlast.apps.documents.content.tree import Block, Section
from outlast.apps.documents.edits.tree_diff import Delta
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.tables import blocks, sections
from outlast.db.database import Tx

_DROP_BLOCK: Final = sa.delete(blocks).where(blocks.c.id == sa.bindparam("block"))
_DROP_SECTION: Final = sa.delete(sections).where(sections.c.id == sa.bindparam("section"))


def write(tx: Tx, document: DocumentRow, found: Sequence[Delta]) -> None:
    """Write sections and blocks as they are now. New sections come first, gone ones last: blocks move between them."""
    fresh: list[dict[str, Any]] = []
    for delta in found:
        if isinstance(delta.after, Section):
            fresh += _section(tx, document, delta, delta.after)
    tx.insert_many(sections, fresh)
    fresh = []
    for delta in found:
        if isinstance(delta.after, Block):
            fresh += _block(tx, document, delta, delta.after)
    tx.insert_many(blocks, fresh)
    for delta in found:
        if isinstance(delta.before, Block) and delta.after is None:
            tx.execute(_DROP_BLOCK, {"block": delta.id})
    for delta in found:
        if isinstance(delta.before, Section) and delta.after is None:
            tx.execute(_DROP_SECTION, {"section": delta.id})


def _section(tx: Tx, document: DocumentRow, delta: Delta, section: Section) -> list[dict[str, Any]]:
    """Write a section that is there; one that is new is a row to be added."""
    if delta.quiet:
        tx.update(sections, {"id": section.id}, rank=section.rank)
        return []
    values: dict[str, Any] = {
        "rank": section.rank,
        "heading": section.heading,
        "level": section.level,
        "version": section.version,
        "updated_at": tx.now,
    }
    if delta.before is None:
        home = {"document_id": document.id, "project_id": document.project_id}
        return [{"id": section.id, **home, **values}]
    tx.update(sections, {"id": section.id}, **values)
    return []


def _block(tx: Tx, document: DocumentRow, delta: Delta, block: Block) -> list[dict[str, Any]]:
    """As `_section`."""
    if delta.quiet:
        tx.update(blocks, {"id": block.id}, rank=block.rank)
        return []
    values: dict[str, Any] = {
        "section_id": block.section_id,
        "rank": block.rank,
        "kind": block.kind,
        "markdown": block.markdown,
        "version": block.version,
        "editor_kind": block.editor_kind,
        "editor_id": block.editor_id,
        "updated_at": tx.now,
    }
    if delta.before is None:
        return [{"id": block.id, "document_id": document.id, **values}]
    tx.update(blocks, {"id": block.id}, **values)
    return []
