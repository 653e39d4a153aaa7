"""The only way to change a document's content: each call makes one version, or none if nothing differs.

First argument: the open transaction; the document's row is held (`store.hold`) by the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Final

import sqlalchemy as sa

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import shapes, store
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.content.markdown_parse import Cuts
from outlast.apps.documents.content.records import change_of, record_of, state_of
from outlast.apps.documents.content.tree import Block, Section, Tree, count_words
from outlast.apps.documents.edits.apply import Applied, apply, check_limits
from outlast.apps.documents.edits.tree_diff import Delta, deltas, gone
from outlast.apps.documents.history import versions as history
from outlast.apps.documents.history.summaries import SUMMARY_CHARS, describe
from outlast.apps.documents.proposals.superseded import supersede_gone
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.settings import DocumentSettings
from outlast.apps.documents.shapes import DocumentVersion, VersionCreated, VersionKind
from outlast.apps.documents.tables import blocks, document_versions, sections
from outlast.base.clock import iso
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import append

_DROP_BLOCK: Final = sa.delete(blocks).where(blocks.c.id == sa.bindparam("block"))
_DROP_SECTION: Final = sa.delete(sections).where(sections.c.id == sa.bindparam("section"))


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a change and its origin, as columns of its version. `by`: the person who writes, or who accepts an
    agent's text; the other ids name the proposal and the answer that it comes from."""

    kind: VersionKind
    by: str
    summary: str = ""
    thread_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    proposal_id: str | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The result: the new version (None if nothing differed), and the ids for the changes' refs."""

    version: int | None = None
    made: Mapping[str, str] = field(default_factory=dict)


def commit(
    tx: Tx,
    row: DocumentRow,
    changes: Sequence[shapes.Change],
    author: Author,
    settings: Settings,
    cuts: Cuts | None = None,
) -> Committed:
    """Apply changes together: all or none. Only the sections that they name are read, only differing rows are
    written. `cuts`: texts that are parsed already. Raises what `apply` does, `DocumentFull`, `InputTooLarge`, and
    `SectionLocked` if another user holds a section that they touch."""
    before = _needed(tx, row, changes)
    return _write(tx, row, before, apply(before, changes, cuts=cuts), author, settings)


def commit_tree(tx: Tx, row: DocumentRow, before: Tree, after: Tree, author: Author, settings: Settings) -> Committed:
    """Set the document's content to `after`; `before` is its whole current content. Ids that are in both keep their
    rows. Raises `SectionLocked`, and (except for existing content) `DocumentFull` and `InputTooLarge`."""
    return _write(tx, row, before, Applied(after, deltas(before, after)), author, settings)


def _needed(tx: Tx, document: DocumentRow, changes: Sequence[shapes.Change]) -> Tree:
    """The document with the blocks of the sections that changes may touch."""
    wanted: set[str | None] = set()
    for change in changes:
        match change:
            case shapes.EditBlockChange() | shapes.DeleteBlockChange():
                wanted.add(store.section_of_block(tx, document.id, change.block_id))
            case shapes.MoveBlockChange():
                wanted |= {store.section_of_block(tx, document.id, change.block_id), change.section_id}
            case shapes.DeleteSectionChange(keep_blocks=True):
                return store.tree(tx, document.id)
            case shapes.InsertSectionChange():
                pass
            case _:
                wanted.add(change.section_id)
    placed = [one for one in changes if isinstance(one, shapes.InsertBlockChange | shapes.MoveBlockChange)]
    preamble = any(one.section_id is None for one in placed)
    return store.partial_tree(tx, document, {one for one in wanted if one is not None}, preamble=preamble)


def _write(tx: Tx, row: DocumentRow, before: Tree, applied: Applied, author: Author, settings: Settings) -> Committed:
    if author.kind != "restore":
        check_limits(applied, settings.of(DocumentSettings))
    if not applied.touched:
        return Committed(made=applied.made)
    document_id, version = row.id, row.version + 1
    touched = {section_id for delta in applied.touched for section_id in delta.sections}
    known = {section.id for section in before.sections}
    locking.demand_free(tx, touched & known, author.by, settings.locks.ttl_s)
    found = tuple(_stamped(delta, version, iso(tx.now), author) for delta in applied.deltas)
    _write_content(tx, row, found)
    words = row.words + sum(_words(delta.after) - _words(delta.before) for delta in found)
    store.update(tx, document_id, version=version, words=max(words, 0))
    summary = one_line(author.summary or describe(before, applied.touched), SUMMARY_CHARS)
    line = _write_version(tx, document_id, version, found, replace(author, summary=summary))
    gone_blocks, gone_sections = gone(found, "block"), gone(found, "section")
    unasked = locking.drop_all(tx, gone_sections)
    event = ("version.created", VersionCreated(version=line))
    if author.thread_id is not None:  # threads before the project's log
        append(tx, author.thread_id, [event])
    supersede_gone(tx, document_id, gone_blocks, gone_sections, version, before, author.by)
    comments.reanchor(tx, document_id, [delta.id for delta in found if not delta.quiet])
    append(tx, row.project_id, [event])
    store.tell_inbox(tx, row.project_id, unasked)
    store.announce(tx, document_id, by=author.by)
    return Committed(version, applied.made)


def _write_content(tx: Tx, document: DocumentRow, found: Sequence[Delta]) -> None:
    """Write changed sections and blocks. New sections come first, deleted ones last: blocks move between them."""
    home = {"document_id": document.id}
    _put(tx, sections, [one for one in found if one.noun == "section"], home | {"project_id": document.project_id})
    _put(tx, blocks, [one for one in found if one.noun == "block"], home)
    for block_id in gone(found, "block"):
        tx.execute(_DROP_BLOCK, {"block": block_id})
    for section_id in gone(found, "section"):
        tx.execute(_DROP_SECTION, {"section": section_id})


def _put(tx: Tx, table: sa.Table, found: Sequence[Delta], home: dict[str, str]) -> None:
    """Update the existing rows, and add all new ones in one statement."""
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


def _stamped(delta: Delta, version: int, at: str, author: Author) -> Delta:
    """The difference stamped with the version that makes it. A block keeps its editor if its text is the same or comes
    back from an earlier version."""
    if delta.after is None or delta.quiet:
        return delta
    after = replace(delta.after, version=version, at=at)
    said = None if delta.before is None else delta.before.text
    if isinstance(after, Block) and author.kind != "restore" and said != after.markdown:
        after = replace(after, editor_kind="agent" if author.kind == "agent" else "person", editor_id=author.by)
    return replace(delta, after=after)


def _write_version(tx: Tx, document_id: str, version: int, found: Sequence[Delta], author: Author) -> DocumentVersion:
    touched: dict[str, list[str]] = {}
    for noun in ("section", "block"):
        ids = [delta.id for delta in found if delta.noun == noun and not delta.quiet]
        touched[f"{noun}s"] = ids if len(ids) <= history.MAX_TOLD else []
    keep_state = version % history.STATE_EVERY == 0
    tx.insert(
        document_versions,
        document_id=document_id,
        version=version,
        **asdict(author),
        changes=[change_of(delta) for delta in found],
        touched=touched,
        state=state_of(store.tree(tx, document_id)) if keep_state else None,
        created_at=tx.now,
    )
    return history.version_of(tx, document_id, version)


def _words(thing: Section | Block | None) -> int:
    return 0 if thing is None else count_words(thing.text)
