"""Writes what differs between two states of a document, and nothing else. First argument: the open transaction."""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from outlast.apps.documents.content.records import record_of
from outlast.apps.documents.edits.tree_diff import Delta, gone
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.tables import blocks, sections
from outlast.db.database import Tx

_DROP_BLOCK: Final = sa.delete(blocks).where(blocks.c.id == sa.bindparam("block"))
_DROP_SECTION: Final = sa.delete(sections).where(sections.c.id == sa.bindparam("section"))


def write(tx: Tx, document: DocumentRow, found: Sequence[Delta]) -> None:
    """Write sections and blocks as they are now. New sections come first, gone ones last: blocks move between them."""
    home = {"document_id": document.id}
    _put(tx, sections, [one for one in found if one.noun == "section"], home | {"project_id": document.project_id})
    _put(tx, blocks, [one for one in found if one.noun == "block"], home)
    for block_id in gone(found, "block"):
        tx.execute(_DROP_BLOCK, {"block": block_id})
    for section_id in gone(found, "section"):
        tx.execute(_DROP_SECTION, {"section": section_id})


def _put(tx: Tx, table: sa.Table, found: Sequence[Delta], home: dict[str, str]) -> None:
    """Update the rows that are there, and add all new ones in one go."""
    fresh: list[dict[str, Any]] = []
    for delta in found:
        if delta.after is None:
            continue
        if delta.quiet:
            tx.update(table, {"id": delta.id}, rank=delta.after.rank)
            continue
        values = record_of(delta.after) | {"updated_at": tx.now}
        del values["at"]
        if delta.before is None:
            fresh.append({"id": delta.id, **home, **values})
        else:
            tx.update(table, {"id": delta.id}, **values)
    tx.insert_many(table, fresh)
