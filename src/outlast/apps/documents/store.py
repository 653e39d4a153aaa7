"""Documents in the database, and their events. First argument: the open transaction.

To change a document, hold its row (`hold`), before its thread's and its project's, and announce it in the same
transaction. Content is written by `edits/write.py` only.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents.content.records import in_order
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.rows import BlockRow, DocumentRow, SectionRow
from outlast.apps.documents.shapes import (
    BlockData,
    DocumentChanged,
    DocumentData,
    DocumentDeleted,
    SectionData,
    SectionHead,
)
from outlast.apps.documents.tables import blocks, comments, documents, edits, proposals, sections
from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.locks.store import locks_of
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.inbox_items import INBOX, went
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append
from outlast.kernel.subjects.store import SubjectStore
from outlast.kernel.threads.tables import threads

FEW: Final = 8  # for so few, a prepared statement per id is faster than a new statement for all

_open_comments = (
    sa.select(sa.func.count())
    .where(comments.c.document_id == documents.c.id, comments.c.status == "open", comments.c.parent_id.is_(None))
    .scalar_subquery()
    .label("open_comments")
)
_same = edits.alias("same")  # the original of a copy in a fork, or an older copy of it
_is_double = (
    sa.select(_same.c.id)
    .where(
        sa.or_(_same.c.id == edits.c.origin_id, (_same.c.origin_id == edits.c.origin_id) & (_same.c.id < edits.c.id)),
        _same.c.state == "open",
        _same.c.op == edits.c.op,
        _same.c.new_text == edits.c.new_text,
    )
    .exists()
)
_open_edits = (
    sa.select(sa.func.count())
    .where(edits.c.document_id == documents.c.id, edits.c.state == "open", ~_is_double)
    .scalar_subquery()
    .label("open_edits")
)
_SECTIONS: Final = sa.select(sections).where(sections.c.document_id == sa.bindparam("document"))
_BLOCKS: Final = sa.select(blocks).where(blocks.c.document_id == sa.bindparam("document"))
_BLOCKS_OF_SECTION: Final = sa.select(blocks).where(blocks.c.section_id == sa.bindparam("section"))
_BLOCK_COUNT: Final = sa.select(sa.func.count()).where(blocks.c.document_id == sa.bindparam("document"))


class ShownDocument(NamedTuple):
    document: DocumentRow
    open_comments: int
    open_edits: int
    active_run_id: str | None


DOCUMENTS: Final = SubjectStore(
    "document",
    documents,
    DocumentRow,
    shown=ShownDocument,
    listed=sa.select(documents, _open_comments, _open_edits, threads.c.active_run_id).join(
        threads, threads.c.id == documents.c.thread_id
    ),
    to_data=lambda row: shape_of(DocumentData, row.document, row),
    changed=DocumentChanged,
    deleted=DocumentDeleted,
)
require_document, document_of, hold = DOCUMENTS.require, DOCUMENTS.get, DOCUMENTS.hold
document_data, list_documents, count = DOCUMENTS.data, DOCUMENTS.of_project, DOCUMENTS.count
update, announce = DOCUMENTS.update, DOCUMENTS.announce


def add(tx: Tx, document_id: str, project_id: str, created_by: str, *, thread_id: str, title: str) -> None:
    """Add the row of an empty document at version 0. Its thread exists already. Not announced yet."""
    tx.insert(
        documents,
        id=document_id,
        project_id=project_id,
        thread_id=thread_id,
        title=title,
        version=0,
        words=0,
        created_by=created_by,
        created_at=tx.now,
        updated_at=tx.now,
    )


def tree(tx: Tx, document_id: str) -> Tree:
    """The document's content now. Raises `NotFound`."""
    row = document_of(tx, document_id)
    blocks_of = [_block(block) for block in tx.rows(BlockRow, _BLOCKS, {"document": document_id})]
    return Tree(document_id, row.version, in_order(_sections(tx, document_id), blocks_of))


def partial_tree(tx: Tx, row: DocumentRow, wanted: Collection[str], *, preamble: bool) -> Tree:
    """The document's sections, with the blocks of the wanted ones only; with `preamble` also of the first one, if it
    has no heading."""
    found = _sections(tx, row.id)
    read = [one for one in found if one.id in wanted or (preamble and one.level == 0)]
    below = [_block(block) for one in read for block in tx.rows(BlockRow, _BLOCKS_OF_SECTION, {"section": one.id})]
    total = int(tx.execute(_BLOCK_COUNT, {"document": row.id}).scalar_one())
    return Tree(row.id, row.version, in_order(found, below), unread=total - len(below))


def section_of_block(tx: Tx, document_id: str, block_id: str) -> str | None:
    """The section that contains a block of the document, or None if there is no such block."""
    found: str | None = tx.value(blocks.c.section_id, {"id": block_id, "document_id": document_id})
    return found


def sections_data(tx: Tx, content: Tree, *, past: bool = False) -> list[SectionData]:
    """A tree as shown in the API, with the editors' names, and (unless it is `past`) the locks of its sections."""
    names = names_of(tx, {block.editor_id for block in content.blocks()})
    held = {} if past else locks_of(tx, [section.id for section in content.sections])
    return [
        SectionData(
            **dict(section_head(content.document_id, section, held)),
            blocks=[block_data(block, names) for block in section.blocks],
        )
        for section in content.sections
    ]


def section_head(document_id: str, section: Section, held: Mapping[str, LockData]) -> SectionHead:
    return SectionHead(
        id=section.id,
        document_id=document_id,
        heading=section.heading,
        level=section.level,
        version=section.version,
        lock=held.get(section.id),
    )


def block_data(block: Block, names: dict[str, str]) -> BlockData:
    return BlockData(
        id=block.id,
        section_id=block.section_id,
        kind=block.kind,
        markdown=block.markdown,
        version=block.version,
        editor_kind=block.editor_kind,
        editor_id=block.editor_id,
        editor_name=names.get(block.editor_id or ""),
        updated_at=block.at,
    )


class _NamedUser(NamedTuple):
    id: str
    name: str


def names_of(tx: Tx, user_ids: Iterable[str | None]) -> dict[str, str]:
    """The users' names by id."""
    wanted = sorted({user_id for user_id in user_ids if user_id is not None})
    if not wanted:
        return {}
    if len(wanted) <= FEW:
        found = [tx.find(_NamedUser, users, {"id": user_id}) for user_id in wanted]
        return {row.id: row.name for row in found if row is not None}
    rows = tx.rows(_NamedUser, sa.select(users.c.id, users.c.name).where(users.c.id.in_(wanted)))
    return {row.id: row.name for row in rows}


def threads_about(tx: Tx, row: DocumentRow) -> list[str]:
    """The ids of a document's own thread and of those about it or a part of it, oldest first."""
    mine = (threads.c.project_id == row.project_id) & (threads.c.document_id == row.id)
    found = tx.execute(sa.select(threads.c.id).where(mine)).scalars()
    return sorted({row.thread_id, *found})


def delete(tx: Tx, document_id: str) -> None:
    """Remove a document's row, with its content, history, comments and proposals, and announce it. The caller removes
    its threads and locks."""
    project_id = document_of(tx, document_id).project_id
    news = mentions.forget(tx, "document_id", document_id)
    if tx.exists(proposals, {"document_id": document_id, "state": "open"}):
        news.append(went("proposal", None))
    DOCUMENTS.delete(tx, document_id)
    tell_inbox(tx, project_id, news)


def tell_inbox(tx: Tx, project_id: str, news: Iterable[InboxChanged]) -> None:
    """Publish the changes of inboxes."""
    events = [(INBOX, one) for one in news]
    if events:
        append(tx, project_id, events)


def _sections(tx: Tx, document_id: str) -> list[Section]:
    return [
        Section(row.id, row.rank, row.heading, row.level, row.version, iso(row.updated_at))
        for row in tx.rows(SectionRow, _SECTIONS, {"document": document_id})
    ]


def _block(row: BlockRow) -> Block:
    editor = row.editor_kind, row.editor_id
    return Block(row.id, row.section_id, row.rank, row.kind, row.markdown, row.version, *editor, iso(row.updated_at))
