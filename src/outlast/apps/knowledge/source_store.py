"""Writes sources and their passages. First argument: the open transaction.

The content of a source is replaced in one transaction, so that no search sees half of it. An unchanged passage
keeps its id, and, by its hash, its vector.
"""

import base64
import hashlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.knowledge import store
from outlast.apps.knowledge.passage_changes import Contents, Exchange, exchange
from outlast.apps.knowledge.rows import KnowledgePageRow, KnowledgePassageRow, KnowledgeSourceRow
from outlast.apps.knowledge.shapes import SourceChanged, SourceData, SourceKind, SourceRemoved
from outlast.apps.knowledge.source_documents import Document
from outlast.apps.knowledge.store import BELL, slices
from outlast.apps.knowledge.tables import knowledge_pages, knowledge_passages, knowledge_sources
from outlast.base.errors import NotFound
from outlast.base.ids import all_kinds, new_id
from outlast.db.database import Tx
from outlast.kernel.streams.log_store import NamedEvent, append

ERROR_CHARS: Final = 2000
HANDED_IN: Final = ("text", "artifact")  # they cannot be read again
_MOVE: Final = (
    sa.update(knowledge_passages)
    .where(knowledge_passages.c.id == sa.bindparam("key"))
    .values(position=sa.bindparam("at"), url=sa.bindparam("to"))
)
_AS_IDS: Final = str.maketrans("ilou", "wxyz")  # the letters of ids


class NewSource(NamedTuple):
    """A source to be added. `project_id` and `added_by` None: from the configuration."""

    package: str
    kind: SourceKind
    location: str
    project_id: str | None = None
    added_by: str | None = None


def add(tx: Tx, new: NewSource, due_at: datetime | None) -> str:
    """The id of the source, which waits to be read; an existing one of the same place (package, location, project) is
    reused. While it is being read it stays so, with its lease."""
    tx.ring(BELL)
    here = knowledge_sources.c.project_id
    known = tx.row(
        KnowledgeSourceRow,
        sa.select(knowledge_sources).where(
            here.is_(None) if new.project_id is None else here == new.project_id,
            knowledge_sources.c.package == new.package,
            knowledge_sources.c.location == new.location,
        ),
    )
    if known is not None:
        change: dict[str, Any] = {"kind": new.kind}
        if known.state != "fetching" or new.kind in HANDED_IN:  # its text is stored at once
            change |= {"due_at": due_at, "state": "waiting"}
        tx.update(knowledge_sources, {"id": known.id}, **change)
        return known.id
    source_id = new_id("source") if new.project_id is not None else configured_id(new.package, new.location)
    tx.insert(knowledge_sources, id=source_id, state="waiting", due_at=due_at, created_at=tx.now, **new._asdict())
    return source_id


def configured_id(package: str, location: str) -> str:
    """The id of a configured source at this place, equal on all servers that start together."""
    digest = hashlib.sha256(f"{package}\0{location}".encode()).digest()
    name = base64.b32hexencode(digest)[:26].decode().lower()
    return f"{all_kinds()['source']}_{name.translate(_AS_IDS)}"


def remove(tx: Tx, source_id: str, followed: Iterable[str] = ()) -> None:
    """Remove a source with its passages, and vectors whose text nothing else has. See `announce`."""
    row = store.find(tx, source_id)
    if row is None:
        return
    tx.execute(sa.delete(knowledge_sources).where(knowledge_sources.c.id == source_id))
    _send(tx, row, followed, ("knowledge.removed", SourceRemoved(source_id=source_id)))
    tx.ring(BELL)


def keep_only_configured(tx: Tx, places: Collection[tuple[str, str]], followed: Sequence[str] = ()) -> None:
    """Remove sources that the configuration no longer names, by (package, location)."""
    rows = tx.rows(KnowledgeSourceRow, sa.select(knowledge_sources).where(knowledge_sources.c.project_id.is_(None)))
    for row in rows:
        if (row.package, row.location) not in places:
            remove(tx, row.id, followed)


def want_now(tx: Tx, source_ids: Sequence[str]) -> None:
    """Make these sources due now, unless they cannot be read again or are being read now."""
    chosen = sa.update(knowledge_sources).where(
        knowledge_sources.c.id.in_(source_ids),
        knowledge_sources.c.kind.not_in(HANDED_IN),
        knowledge_sources.c.state != "fetching",
    )
    tx.execute(chosen.values(due_at=tx.now, state="waiting"))
    tx.ring(BELL)


def take_over(tx: Tx) -> None:
    """Make sources due that a killed server was reading."""
    tx.update(knowledge_sources, {"state": "fetching"}, state="waiting", due_at=tx.now)


def cut_anew(tx: Tx, cut: str) -> None:
    """Make sources due whose passages were cut by other rules; they are read as if for the first time. A source that a
    server is reading at this moment is left unchanged."""
    other = sa.and_(
        knowledge_sources.c.cut != cut,
        knowledge_sources.c.kind.not_in(HANDED_IN),
        knowledge_sources.c.state != "fetching",
    )
    tx.execute(sa.update(knowledge_sources).where(other).values(due_at=tx.now, etag=None, modified=None))


def claim(tx: Tx, lease_until: datetime, without: Sequence[str] = ()) -> KnowledgeSourceRow | None:
    """The source that is due the longest, claimed by this caller until `lease_until`, or None if none is due.
    Concurrent callers get different sources. `without` are those that the caller reads already."""
    due = (
        sa.select(knowledge_sources)
        .where(knowledge_sources.c.due_at <= tx.now, knowledge_sources.c.id.not_in(without))
        .order_by(knowledge_sources.c.due_at, knowledge_sources.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    row = tx.row(KnowledgeSourceRow, due)
    if row is None:
        return None
    tx.update(knowledge_sources, {"id": row.id}, state="fetching", due_at=lease_until)
    return row


def next_due(tx: Tx, without: Sequence[str] = ()) -> datetime | None:
    """The time at which the next source is due, except those in `without`, or None if none ever is."""
    others = knowledge_sources.c.id.not_in(without)
    query = sa.select(sa.func.min(knowledge_sources.c.due_at)).where(others)
    found: datetime | None = tx.execute(query).scalar()
    return found


def known_pages(tx: Tx, source_id: str) -> dict[str, KnowledgePageRow]:
    """The stored documents of a source, by address."""
    rows = tx.rows(KnowledgePageRow, sa.select(knowledge_pages).where(knowledge_pages.c.source_id == source_id))
    return {row.url: row for row in rows}


def unchanged(tx: Tx, source_id: str, due_at: datetime | None, version: str = "") -> None:
    """Record that the source was read and has not changed."""
    tx.update(knowledge_sources, {"id": source_id}, state="ready", error=None, checked_at=tx.now, due_at=due_at)
    row = store.find(tx, source_id)
    if version and row is not None and row.version != version:
        tx.update(knowledge_sources, {"id": source_id}, version=version, revision=row.revision + 1)
        tx.update(knowledge_passages, {"source_id": source_id}, version=version)
    tx.ring(BELL)


def failed(tx: Tx, source_id: str, error: str, due_at: datetime) -> None:
    """Record that the source could not be read; its passages stay."""
    change = {"state": "failed", "error": error[:ERROR_CHARS], "checked_at": tx.now, "due_at": due_at}
    tx.update(knowledge_sources, {"id": source_id}, **change)
    tx.ring(BELL)


def give_back(tx: Tx, source_id: str) -> None:
    """Make the source due now, because its reader had to stop."""
    tx.update(knowledge_sources, {"id": source_id, "state": "fetching"}, state="waiting", due_at=tx.now)


def fill(tx: Tx, source_id: str, contents: Contents, due_at: datetime | None, planned: Exchange | None = None) -> None:
    """Replace the content of a source, unless it was removed in the meantime. `planned` was computed before (for the
    revision that it names; otherwise it is computed here)."""
    row = tx.row(
        KnowledgeSourceRow, sa.select(knowledge_sources).where(knowledge_sources.c.id == source_id).with_for_update()
    )
    if row is None:
        return
    if planned is None or planned.revision != row.revision:
        planned = exchange(row.revision, store.passages_of(tx, source_id), contents)
    reading = contents.reading
    version = reading.version or row.version
    if planned.changes:
        _carry_out(tx, planned, source_id, row.package, version)
    if version != row.version:
        tx.update(knowledge_passages, {"source_id": source_id}, version=version)
    _set_pages(tx, source_id, reading.documents or ())
    tx.update(
        knowledge_sources,
        {"id": source_id},
        state="ready",
        error=reading.trouble[:ERROR_CHARS] or None,
        version=version,
        etag=reading.etag,
        modified=reading.modified,
        cut=contents.cut,
        passages=planned.passages,
        size_bytes=planned.size_bytes,
        hash=planned.hash,
        revision=row.revision + (1 if planned.changes or version != row.version else 0),
        fetched_at=tx.now,
        checked_at=tx.now,
        due_at=due_at,
    )
    tx.ring(BELL)


def now_held(tx: Tx, source_id: str) -> tuple[int, list[KnowledgePassageRow]]:
    """(revision, passages) of a source, to compute an exchange from; the revision is -1 if it was removed."""
    row = store.find(tx, source_id)
    return (-1, []) if row is None else (row.revision, store.passages_of(tx, source_id))


def announce(
    tx: Tx, source_id: str, model: str, followed: Iterable[str] = (), embedded: int | None = None
) -> SourceData | None:
    """Announce a source's state to its project; a shared one to the `followed` projects. None if it was removed.
    `embedded` as in `store.source_data`: counting takes long in large sources."""
    row = store.find(tx, source_id)
    if row is None:
        return None
    data = store.source_data(tx, row, model, embedded)
    _send(tx, row, followed, ("knowledge.updated", SourceChanged(source=data)))
    return data


def _send(tx: Tx, row: KnowledgeSourceRow, followed: Iterable[str], event: NamedEvent) -> None:
    for project_id in followed if row.project_id is None else (row.project_id,):
        with suppress(NotFound):  # removed a moment ago
            append(tx, project_id, [event])


def _carry_out(tx: Tx, planned: Exchange, source_id: str, package: str, version: str) -> None:
    table = knowledge_passages
    for ids in slices(planned.removed):
        tx.execute(sa.delete(table).where(table.c.id.in_(ids)))
    for moved in slices(planned.moved):
        tx.execute(_MOVE, [{"key": one, "at": position, "to": url} for one, position, url in moved])
    for added in slices(planned.added):
        rows = [
            {
                "id": new_id("passage"),
                "source_id": source_id,
                "package": package,
                "version": version,
                "position": position,
                "hash": key,
                **asdict(cut),
            }
            for position, key, cut in added
        ]
        tx.insert_many(table, rows)


def _set_pages(tx: Tx, source_id: str, documents: Sequence[Document]) -> None:
    known = known_pages(tx, source_id)
    tx.execute(sa.delete(knowledge_pages).where(knowledge_pages.c.source_id == source_id))
    rows = [
        {
            "source_id": source_id,
            "url": url,
            "etag": one.etag,
            "modified": one.modified,
            "hash": one.hash if one.text is not None or url not in known else known[url].hash,
        }
        for url, one in {document.url: document for document in documents}.items()
    ]
    tx.insert_many(knowledge_pages, rows)
