"""Writes what differs between two states of a document, and nothing else. First argument: the open transaction."""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from outlast.core.documents.comparing import Delta
from outlast.core.documents.tree import Block, Section
from outlast.db.database import Tx
from outlast.db.tables import blocks, sections

_DROP_BLOCK: Final = sa.delete(blocks).where(blocks.c.id == sa.bindparam("block"))
_DROP_SECTION: Final = sa.delete(sections).where(sections.c.id == sa.bindparam("section"))


def write(tx: Tx, document: sa.RowMapping, found: Sequence[Delta]) -> None:
    """Write sections and blocks as they are now. New sections come first, gone ones last: blocks move between them."""
    for delta in found:
        if isinstance(delta.after, Section):
            _section(tx, document, delta, delta.after)
    for delta in found:
        if isinstance(delta.after, Block):
            _block(tx, document, delta, delta.after)
        elif isinstance(delta.before, Block):
            tx.execute(_DROP_BLOCK, {"block": delta.id})
    for delta in found:
        if isinstance(delta.before, Section) and delta.after is None:
            tx.execute(_DROP_SECTION, {"section": delta.id})


def _section(tx: Tx, document: sa.RowMapping, delta: Delta, section: Section) -> None:
    if delta.quiet:
        tx.update(sections, {"id": section.id}, rank=section.rank)
        return
    values: dict[str, Any] = {
        "rank": section.rank,
        "heading": section.heading,
        "level": section.level,
        "version": section.version,
        "updated_at": tx.now,
    }
    if delta.before is None:
        values |= {"document_id": document["id"], "project_id": document["project_id"]}
        tx.insert(sections, id=section.id, **values)
    else:
        tx.update(sections, {"id": section.id}, **values)


def _block(tx: Tx, document: sa.RowMapping, delta: Delta, block: Block) -> None:
    if delta.quiet:
        tx.update(blocks, {"id": block.id}, rank=block.rank)
        return
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
        tx.insert(blocks, id=block.id, document_id=document["id"], **values)
    else:
        tx.update(blocks, {"id": block.id}, **values)
