"""The only way in which a document's content changes: each call makes one version, or none where nothing differs.

First argument: the open transaction; the document's row is held (`store.hold`) by the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import shapes, store
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.content import store as content_store
from outlast.apps.documents.content.markdown_parse import Cuts
from outlast.apps.documents.content.records import change_of, state_of
from outlast.apps.documents.content.tree import Block, Section, Tree, count_words
from outlast.apps.documents.edits.apply import Applied, Bounds, apply, check
from outlast.apps.documents.edits.tree_diff import Delta, deltas, gone
from outlast.apps.documents.history import versions as history
from outlast.apps.documents.history.summaries import describe
from outlast.apps.documents.proposals.superseded import supersede_gone
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.settings import DocumentSettings
from outlast.apps.documents.shapes import DocumentVersion, EditorKind, VersionCreated, VersionKind
from outlast.apps.documents.tables import document_versions
from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log import append

SUMMARY_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes a document, and why. `user_id`: the person who writes, or who accepts what an agent wrote; the links
    say which proposal of which answer that was."""

    kind: VersionKind
    user_id: str
    editor_kind: EditorKind = "person"
    summary: str = ""
    thread_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    proposal_id: str | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of it: the document's version now, the line of its history (None: nothing differed, no version was
    made), which ids the changes' refs got, and what differs, as it is now."""

    version: int
    line: DocumentVersion | None
    made: Mapping[str, str] = field(default_factory=dict)
    deltas: tuple[Delta, ...] = ()


def bounds_of(settings: Settings) -> Bounds:
    """The bounds that the settings give."""
    return Bounds(
        most_blocks=settings.of(DocumentSettings).most_blocks,
        block_chars=settings.of(DocumentSettings).block_chars,
        lock_ttl_s=settings.locks.ttl_s,
    )


def commit(
    tx: Tx,
    document: DocumentRow,
    changes: Sequence[shapes.Change],
    author: Author,
    bounds: Bounds,
    cuts: Cuts | None = None,
) -> Committed:
    """Apply changes together: all or none. Only the sections that they name are read, only the rows that differ are
    written. `cuts`: texts that are cut already. Raises what `apply` does, and `SectionLocked` where somebody else keeps
    a section that they touch."""
    before = _needed(tx, document, changes)
    return _write(tx, document, before, apply(before, changes, bounds, cuts=cuts), author, bounds)


def commit_tree(tx: Tx, document: DocumentRow, before: Tree, after: Tree, author: Author, bounds: Bounds) -> Committed:
    """Make the document what `after` says; `before` is what it is now, whole. Ids that are in both keep their rows.
    Raises `SectionLocked`, and (but not for what was there before) `DocumentFull` and `InputTooLarge`."""
    found = deltas(before, after)
    if author.kind != "restore":
        check(after, found, bounds)
    return _write(tx, document, before, Applied(after, found), author, bounds)


def _needed(tx: Tx, document: DocumentRow, changes: Sequence[shapes.Change]) -> Tree:
    """The document with the blocks of the sections that changes may touch."""
    wanted: set[str | None] = set()
    for change in changes:
        match change:
            case shapes.EditBlockChange() | shapes.DeleteBlockChange():
                wanted.add(store.section_of_block(tx, document.id, change.block_id))
            case shapes.MoveBlockChange():
                wanted |= {store.section_of_block(tx, document.id, change.block_id), change.section_id}
            case shapes.InsertBlockChange() | shapes.EditSectionChange() | shapes.MoveSectionChange():
                wanted.add(change.section_id)
            case shapes.DeleteSectionChange(keep_blocks=True):
                return store.tree(tx, document.id)
            case shapes.DeleteSectionChange():
                wanted.add(change.section_id)
    placed = [one for one in changes if isinstance(one, shapes.InsertBlockChange | shapes.MoveBlockChange)]
    preamble = any(one.section_id is None for one in placed)
    return store.partial_tree(tx, document, {one for one in wanted if one is not None}, preamble=preamble)


def _write(tx: Tx, document: DocumentRow, before: Tree, applied: Applied, author: Author, bounds: Bounds) -> Committed:
    version = int(document.version)
    if not applied.touched:
        return Committed(version, None, applied.made)
    document_id: str = document.id
    touched = {section_id for delta in applied.touched for section_id in delta.sections}
    known = {section.id for section in before.sections}
    locking.demand_free(tx, touched & known, author.user_id, bounds.lock_ttl_s)
    version += 1
    found = tuple(_stamped(delta, version, iso(tx.now), author) for delta in applied.deltas)
    content_store.write(tx, document, found)
    words = int(document.words) + sum(_words(delta.after) - _words(delta.before) for delta in found)
    store.update(tx, document_id, version=version, words=max(words, 0))
    summary = author.summary or describe(before, applied.touched)
    line = _write_version(tx, document_id, version, found, replace(author, summary=summary))
    unasked = locking.drop_all(tx, gone(found, "section"))
    event = ("version.created", VersionCreated(version=line))
    if author.thread_id is not None:  # threads before the project's log
        append(tx, author.thread_id, [event])
    lost = gone(found, "block"), gone(found, "section")
    supersede_gone(tx, document_id, *lost, version, before, author.user_id)
    comments.reanchor(tx, document_id, [delta.id for delta in found if not delta.quiet])
    append(tx, document.project_id, [event])
    comments.tell_inbox(tx, document.project_id, unasked)
    store.announce(tx, document_id, by=author.user_id)
    return Committed(version, line, applied.made, found)


def _stamped(delta: Delta, version: int, at: str, author: Author) -> Delta:
    """The difference with the version that makes it. A block keeps its editor where its text is the same, or comes back
    from an earlier version."""
    if delta.after is None or delta.quiet:
        return delta
    after = replace(delta.after, version=version, at=at)
    if isinstance(after, Block) and author.kind != "restore" and _text(delta.before) != after.markdown:
        after = replace(after, editor_kind=author.editor_kind, editor_id=author.user_id)
    return replace(delta, after=after)


def _write_version(tx: Tx, document_id: str, version: int, found: Sequence[Delta], author: Author) -> DocumentVersion:
    told = [delta for delta in found if not delta.quiet]
    keep_state = version % history.STATE_EVERY == 0
    tx.insert(
        document_versions,
        document_id=document_id,
        version=version,
        kind=author.kind,
        summary=one_line(author.summary, SUMMARY_CHARS),
        changes=[change_of(delta) for delta in found],
        touched={
            "sections": history.told([delta.id for delta in told if delta.noun == "section"]),
            "blocks": history.told([delta.id for delta in told if delta.noun == "block"]),
        },
        state=state_of(store.tree(tx, document_id)) if keep_state else None,
        by=author.user_id,
        thread_id=author.thread_id,
        message_id=author.message_id,
        run_id=author.run_id,
        proposal_id=author.proposal_id,
        created_at=tx.now,
    )
    return history.version_of(tx, document_id, version)


def _words(thing: Section | Block | None) -> int:
    return 0 if thing is None else count_words(_text(thing))


def _text(thing: Section | Block | None) -> str:
    if thing is None:
        return ""
    return thing.markdown if isinstance(thing, Block) else thing.heading
