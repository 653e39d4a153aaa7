"""Writes sources and their passages. First argument: the open transaction.

What a source holds is exchanged in one transaction, so that no search sees half of it. A passage that is still there
keeps its id, and with its hash its vector.
"""

import base64
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.base.ids import KINDS, new_id
from outlast.base.knowledge_data import SourceChanged, SourceKind, SourceRemoved
from outlast.core.knowledge import store
from outlast.core.knowledge.documents import Document, KnownPage
from outlast.core.knowledge.store import BELL, FEW
from outlast.core.knowledge.texts import Cut, page_of, text_hash
from outlast.core.streams.log import append
from outlast.db.database import Tx
from outlast.db.tables import knowledge_pages, knowledge_passages, knowledge_sources

ERROR_CHARS: Final = 2000
_AS_IDS: Final = str.maketrans("ilou", "wxyz")  # the letters of ids


@dataclass(frozen=True, slots=True)
class NewSource:
    """A source to be added. `project_id` and `added_by` None: from the configuration."""

    package: str
    kind: SourceKind
    location: str
    project_id: str | None = None
    added_by: str | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a source holds from now on: its documents in order, the passages of those that were read anew by their
    address (the others keep theirs), and what is noted beside it."""

    documents: Sequence[Document]
    cuts: Mapping[str, Sequence[Cut]]
    cut: str
    version: str = ""
    etag: str | None = None
    modified: str | None = None
    trouble: str = ""


def add(tx: Tx, new: NewSource, due_at: datetime | None) -> str:
    """The id of the source, which waits to be read; one of the same place (package, location, project) is taken
    again."""
    here = knowledge_sources.c.project_id
    known = tx.one(
        sa.select(knowledge_sources.c.id).where(
            here.is_(None) if new.project_id is None else here == new.project_id,
            knowledge_sources.c.package == new.package,
            knowledge_sources.c.location == new.location,
        )
    )
    if known is not None:
        change: dict[str, Any] = {"kind": new.kind, "due_at": due_at, "state": "waiting"}
        if new.version:
            change["version"] = new.version
        tx.update(knowledge_sources, {"id": known["id"]}, **change)
        tx.ring(BELL)
        return str(known["id"])
    source_id = new_id("source") if new.project_id is not None else configured_id(new.package, new.location)
    tx.insert(
        knowledge_sources,
        id=source_id,
        project_id=new.project_id,
        package=new.package,
        kind=new.kind,
        location=new.location,
        version=new.version,
        state="waiting",
        added_by=new.added_by,
        due_at=due_at,
        created_at=tx.now,
    )
    tx.ring(BELL)
    return source_id


def configured_id(package: str, location: str) -> str:
    """The id of everybody's source of that place: the same for servers that start together."""
    digest = hashlib.sha256(f"{package}\0{location}".encode()).digest()
    name = base64.b32hexencode(digest)[:26].decode().lower()
    return f"{KINDS['source']}_{name.translate(_AS_IDS)}"


def remove(tx: Tx, source_id: str, followed: Iterable[str] = ()) -> bool:
    """With its passages; their vectors go when nothing else has their text. False: there is none. Told as `tell`
    does."""
    row = store.find(tx, source_id)
    if row is None:
        return False
    tx.execute(sa.delete(knowledge_sources).where(knowledge_sources.c.id == source_id))
    for project_id in followed if row["project_id"] is None else (row["project_id"],):
        with suppress(NotFound):
            append(tx, project_id, [("knowledge.removed", SourceRemoved(source_id=source_id))])
    tx.ring(BELL)
    return True


def keep_only_configured(
    tx: Tx, places: Iterable[tuple[str, str]], followed: Sequence[str] = ()
) -> list[str]:
    """Remove the configuration's sources that it names no more, by (package, location); the ids of those removed."""
    wanted = set(places)
    rows = tx.all(sa.select(knowledge_sources).where(knowledge_sources.c.project_id.is_(None)))
    gone = [row["id"] for row in rows if (row["package"], row["location"]) not in wanted]
    for source_id in gone:
        remove(tx, source_id, followed)
    return gone


def want_now(tx: Tx, source_ids: Sequence[str] | None = None, *, kind: SourceKind | None = None) -> int:
    """Have sources read as soon as may be (None: all that can be read again); how many. Those being read now are read
    again after that only by their own wish."""
    query = sa.update(knowledge_sources).where(
        knowledge_sources.c.kind != "text", knowledge_sources.c.state != "fetching"
    )
    if source_ids is not None:
        query = query.where(knowledge_sources.c.id.in_(source_ids))
    if kind is not None:
        query = query.where(knowledge_sources.c.kind == kind)
    count = tx.execute(query.values(due_at=tx.now, state="waiting")).rowcount
    tx.ring(BELL)
    return count


def take_over(tx: Tx) -> None:
    """The server before this one was killed while it read these: they are due now."""
    tx.execute(
        sa.update(knowledge_sources)
        .where(knowledge_sources.c.state == "fetching")
        .values(state="waiting", due_at=tx.now)
    )


def cut_anew(tx: Tx, cut: str) -> None:
    """Those whose passages were cut by other rules are due now, and are read as if for the first time."""
    other = sa.and_(knowledge_sources.c.cut != cut, knowledge_sources.c.kind != "text")
    tx.execute(sa.update(knowledge_sources).where(other).values(due_at=tx.now, etag=None, modified=None))


def claim(tx: Tx, lease_until: datetime) -> sa.RowMapping | None:
    """The source that is due the longest, now this caller's to read until `lease_until`; None: none is due. Two who
    claim at once get two sources."""
    due = (
        sa.select(knowledge_sources)
        .where(knowledge_sources.c.due_at <= tx.now)
        .order_by(knowledge_sources.c.due_at, knowledge_sources.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    row = tx.one(due)
    if row is None:
        return None
    tx.update(knowledge_sources, {"id": row["id"]}, state="fetching", due_at=lease_until)
    return row


def next_due(tx: Tx) -> datetime | None:
    """When the next source is due; None: none ever is."""
    found: datetime | None = tx.execute(sa.select(sa.func.min(knowledge_sources.c.due_at))).scalar()
    return found


def known_pages(tx: Tx, source_id: str) -> dict[str, KnownPage]:
    """What is stored of a source's documents, by address."""
    rows = tx.all(sa.select(knowledge_pages).where(knowledge_pages.c.source_id == source_id))
    return {row["url"]: KnownPage(row["etag"], row["modified"], row["hash"]) for row in rows}


def unchanged(tx: Tx, source_id: str, due_at: datetime | None, version: str = "") -> None:
    """It was asked for, and says what it said."""
    _note(tx, source_id, state="ready", error=None, checked_at=tx.now, due_at=due_at)
    row = store.find(tx, source_id)
    if version and row is not None and row["version"] != version:
        _note(tx, source_id, version=version, revision=row["revision"] + 1)
        mine = knowledge_passages.c.source_id == source_id
        tx.execute(sa.update(knowledge_passages).where(mine).values(version=version))
    tx.ring(BELL)


def failed(tx: Tx, source_id: str, error: str, due_at: datetime | None) -> None:
    """It could not be read; what it holds stays."""
    _note(tx, source_id, state="failed", error=error[:ERROR_CHARS], checked_at=tx.now, due_at=due_at)
    tx.ring(BELL)


def give_back(tx: Tx, source_id: str) -> None:
    """Whoever read it had to stop: it is due now."""
    mine = sa.and_(knowledge_sources.c.id == source_id, knowledge_sources.c.state == "fetching")
    tx.execute(sa.update(knowledge_sources).where(mine).values(state="waiting", due_at=tx.now))


def fill(tx: Tx, source_id: str, contents: Contents, due_at: datetime | None) -> bool:
    """Exchange what a source holds. False: it was removed meanwhile."""
    row = tx.one(sa.select(knowledge_sources).where(knowledge_sources.c.id == source_id).with_for_update())
    if row is None:
        return False
    old = store.passages_of(tx, source_id)
    new = _new_passages(contents, old)
    version = contents.version or row["version"]
    before = [(one.heading, one.body, one.url) for one in old]
    changed = version != row["version"] or before != [(one.heading, one.body, one.url) for one in new]
    if changed:
        _exchange(tx, row["package"], source_id, version, old, new)
    _set_pages(tx, source_id, contents.documents)
    _note(
        tx,
        source_id,
        state="ready",
        error=contents.trouble[:ERROR_CHARS] or None,
        version=version,
        etag=contents.etag,
        modified=contents.modified,
        cut=contents.cut,
        passages=len(new),
        size_bytes=sum(len(one.body.encode("utf-8", "replace")) for one in new),
        hash=text_hash("".join(one.hash for one in new)),
        revision=row["revision"] + (1 if changed else 0),
        fetched_at=tx.now,
        checked_at=tx.now,
        due_at=due_at,
    )
    tx.ring(BELL)
    return True


def tell(tx: Tx, source_id: str, model: str, followed: Iterable[str] = ()) -> None:
    """Tell a source's project how it is now; of everybody's source those projects that are `followed` hear."""
    row = store.find(tx, source_id)
    if row is None:
        return
    data = SourceChanged(source=store.source_data(tx, row, model))
    for project_id in followed if row["project_id"] is None else (row["project_id"],):
        with suppress(NotFound):  # removed a moment ago
            append(tx, project_id, [("knowledge.updated", data)])


def _new_passages(contents: Contents, old: Sequence[store.Passage]) -> list[Cut]:
    kept: defaultdict[str, list[Cut]] = defaultdict(list)
    for one in old:
        kept[page_of(one.url)].append(Cut(one.heading, one.body, one.url))
    found: list[Cut] = []
    for document in contents.documents:
        fresh = contents.cuts.get(document.url)
        found += kept[page_of(document.url)] if fresh is None else fresh
    return found


def _exchange(
    tx: Tx, package: str, source_id: str, version: str, old: Sequence[store.Passage], new: Sequence[Cut]
) -> None:
    """Passages that say the same keep their ids: at the same address first, then wherever."""
    by_place: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    by_hash: defaultdict[str, list[str]] = defaultdict(list)
    for passage in reversed(old):
        by_place[passage.hash, passage.url].append(passage.id)
    taken: dict[int, str] = {}
    for position, one in enumerate(new):
        if same := by_place[one.hash, one.url]:
            taken[position] = same.pop()
    used = set(taken.values())
    for passage in reversed(old):
        if passage.id not in used:
            by_hash[passage.hash].append(passage.id)
    for position, one in enumerate(new):
        if position not in taken and by_hash[one.hash]:
            taken[position] = by_hash[one.hash].pop()
    tx.execute(sa.delete(knowledge_passages).where(knowledge_passages.c.source_id == source_id))
    rows = [
        {
            "id": taken.get(position) or new_id("passage"),
            "source_id": source_id,
            "package": package,
            "version": version,
            "position": position,
            "heading": one.heading,
            "body": one.body,
            "url": one.url,
            "hash": one.hash,
        }
        for position, one in enumerate(new)
    ]
    for start in range(0, len(rows), FEW):
        tx.execute(sa.insert(knowledge_passages), rows[start : start + FEW])


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
    for start in range(0, len(rows), FEW):
        tx.execute(sa.insert(knowledge_pages), rows[start : start + FEW])


def _note(tx: Tx, source_id: str, **values: Any) -> None:
    tx.update(knowledge_sources, {"id": source_id}, **values)
