"""Versions of a document: list them, rebuild any of them as a tree, and find changes since one. First argument: the
open transaction.

Each version records its sections and blocks before and after. At intervals the whole state is stored too, so
that any version is reached by undoing a few changes from the next stored state (or from the current one)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.content.records import Record, state_of, step_back, tree_of
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.shapes import DocumentChanges, DocumentVersion
from outlast.apps.documents.tables import document_versions
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.lists import Listed
from outlast.kernel.locks.store import locks_of
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.tables import runs

STATE_EVERY: Final = 50
MAX_TOLD: Final = 500
"""Maximum ids of sections, and of blocks, named in a history entry; beyond that it names none: all may have changed."""
_OF: Final = document_versions.c.document_id == sa.bindparam("document")
_NAME: Final = sa.select(users.c.name).where(users.c.id == document_versions.c.by).scalar_subquery().label("by_name")
_ANSWER: Final = sa.func.coalesce(  # an answer has no id before its run ends, but people may decide earlier
    document_versions.c.message_id,
    sa.select(runs.c.answer_id).where(runs.c.id == document_versions.c.run_id).scalar_subquery(),
).label("message_id")
_LINES: Final = [
    *(column for column in document_versions.c if column.name not in ("changes", "state", "message_id")),
    _ANSWER,
]
_LINE: Final = sa.select(*_LINES, _NAME).where(_OF, document_versions.c.version == sa.bindparam("version"))
_NEXT_STATE: Final = (
    sa.select(document_versions.c.version, document_versions.c.state)
    .where(_OF, document_versions.c.version >= sa.bindparam("version"), document_versions.c.state.is_not(sa.null()))
    .order_by(document_versions.c.version)
    .limit(1)
)
_CHANGES: Final = sa.select(document_versions.c.version, document_versions.c.changes).where(
    _OF, document_versions.c.version > sa.bindparam("after"), document_versions.c.version <= sa.bindparam("upto")
)


class _VersionLine(NamedTuple):
    document_id: str
    version: int
    kind: Literal["created", "edit", "agent", "import", "restore"]
    summary: str
    touched: Any
    by: str | None
    thread_id: str | None
    run_id: str | None
    proposal_id: str | None
    created_at: datetime
    message_id: str | None
    by_name: str | None


def list_versions(tx: Tx, document_id: str, before: int | None, limit: int) -> Listed[DocumentVersion, int]:
    """At most `limit` of a document's versions, newest first; with `before`, older ones only."""
    chosen = sa.select(*_LINES, _NAME).where(document_versions.c.document_id == document_id)
    if before is not None:
        chosen = chosen.where(document_versions.c.version < before)
    rows = tx.rows(_VersionLine, chosen.order_by(document_versions.c.version.desc()).limit(limit + 1))
    items = [shape_of(DocumentVersion, row, **row.touched) for row in rows[:limit]]
    return Listed(items, items[-1].version if len(rows) > limit else None)


def version_of(tx: Tx, document_id: str, version: int) -> DocumentVersion:
    """One entry of the history. Raises `NotFound`."""
    row = tx.row(_VersionLine, _LINE, {"document": document_id, "version": version})
    if row is None:
        raise no_version(document_id, version)
    return shape_of(DocumentVersion, row, **row.touched)


class _State(NamedTuple):
    version: int
    state: Any


def tree_at(tx: Tx, document_id: str, version: int | None) -> Tree:
    """A document's content at a version (0 is empty, None is current). Raises `NotFound` if the version never
    existed."""
    newest = int(store.document_of(tx, document_id).version)
    if version is None or version == newest:
        return store.tree(tx, document_id)
    if not 0 <= version <= newest:
        raise no_version(document_id, version)
    kept = tx.row(_State, _NEXT_STATE, {"document": document_id, "version": version})
    start = newest if kept is None else int(kept.version)
    state: Record = state_of(store.tree(tx, document_id)) if kept is None else kept.state
    for changes in reversed(changes_between(tx, document_id, version, start)):
        step_back(state, changes)
    return tree_of(document_id, version, state)


class _Changes(NamedTuple):
    version: int
    changes: Any


def changes_between(tx: Tx, document_id: str, after: int, upto: int) -> list[list[Record]]:
    """The changes of each version after `after`, up to `upto`, oldest first."""
    rows = tx.rows(_Changes, _CHANGES, {"document": document_id, "after": after, "upto": upto})
    return [row.changes for row in sorted(rows, key=lambda row: int(row.version))]


def no_version(document_id: str, version: int) -> NotFound:
    return NotFound(f"There is no version {version} of this document.", document_id=document_id, version=version)


def changes_since(tx: Tx, document: DocumentRow, since: int, made: Mapping[str, str] | None = None) -> DocumentChanges:
    """Everything that differs between version `since` and now. Only the sections concerned are read. Raises
    `MalformedInput` for a version that does not exist yet."""
    version = int(document.version)
    if not 0 <= since <= version:
        raise MalformedInput(
            f"The document is at version {version}; there are no changes since version {since}.",
            hint="Read the document again.",
            field="since",
            version=version,
        )
    changes = [one for step in changes_between(tx, document.id, since, version) for one in step]
    told = [one for one in changes if not one.get("quiet")]
    named = {noun: {one["id"] for one in told if one["noun"] == noun} for noun in ("section", "block")}
    sides = [side for one in changes if one["noun"] == "block" for side in (one["before"], one["after"])]
    homes = {side["section_id"] for side in sides if side is not None}
    content = store.partial_tree(tx, document, homes | named["section"], preamble=False)
    heads = [section for section in content.sections if section.id in named["section"]]
    texts = [block for block in content.blocks() if block.id in named["block"]]
    held = locks_of(tx, [section.id for section in heads])
    names = store.names_of(tx, {block.editor_id for block in texts})
    there = {one.id for one in heads} | {one.id for one in texts}
    return DocumentChanges(
        version=version,
        made=dict(made or {}),
        sections=[store.section_head(document.id, one, held) for one in heads],
        blocks=[store.block_data(block, names) for block in texts],
        removed=sorted((named["section"] | named["block"]) - there),
        section_order=[one.id for one in content.sections] if named["section"] else None,
        block_order={one.id: [block.id for block in one.blocks] for one in content.sections if one.id in homes},
    )
