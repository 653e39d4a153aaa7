"""Read sources, passages and vectors. First argument: the open transaction. `source_store.py` writes them.

All projects share a source without a project; it comes from the configuration. A change of passages rings `BELL`, new
vectors ring `VECTORS`, in every process: an index made from them compares the sources' revisions again. Any other text
that needs a vector (a module, a memory) rings `TEXTS`.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

import sqlalchemy as sa

from outlast.apps.knowledge.rows import KnowledgePassageRow, KnowledgeSourceRow
from outlast.apps.knowledge.shapes import PassageData, SourceData
from outlast.apps.knowledge.tables import knowledge_passages, knowledge_sources, vectors
from outlast.db.database import Tx
from outlast.kernel.row_shapes import shape_of

T = TypeVar("T")
BELL: Final = "knowledge"
VECTORS: Final = "knowledge-vectors"
TEXTS: Final = "knowledge-texts"
SLICE: Final = 200  # values in one list of a statement, rows in one insert
READ_SLICE: Final = 2000  # rows of one statement
REMOVED_AT_ONCE: Final = 2_000  # vectors of another length removed in one transaction


class Sourced(NamedTuple):
    """A passage, and when its source was read."""

    passage: KnowledgePassageRow
    fetched_at: datetime | None


_OWN: Final = sa.or_(
    knowledge_sources.c.project_id.is_(None), knowledge_sources.c.project_id == sa.bindparam("project")
)
_SOURCES: Final = sa.select(knowledge_sources).where(_OWN).order_by(knowledge_sources.c.id)
_PASSAGES: Final = (
    sa.select(knowledge_passages)
    .where(
        knowledge_passages.c.source_id == sa.bindparam("source"), knowledge_passages.c.position > sa.bindparam("after")
    )
    .order_by(knowledge_passages.c.position)
    .limit(sa.bindparam("limit"))
)
_COUNT_VECTORS: Final = (
    sa.select(sa.func.count())
    .select_from(knowledge_passages)
    .join(vectors, vectors.c.hash == knowledge_passages.c.hash)
    .where(knowledge_passages.c.source_id == sa.bindparam("source"), vectors.c.model == sa.bindparam("model"))
)
_VECTOR_LENGTH: Final = (
    sa.select(sa.func.length(vectors.c.vector)).where(vectors.c.model == sa.bindparam("model")).limit(1)
)


def sources_of_project(tx: Tx, project_id: str) -> list[KnowledgeSourceRow]:
    """Every source that a project can search: shared ones and its own, by id."""
    return tx.rows(KnowledgeSourceRow, _SOURCES, {"project": project_id})


def all_sources(tx: Tx) -> list[KnowledgeSourceRow]:
    """Every source, shared ones first."""
    rows = tx.rows(KnowledgeSourceRow, sa.select(knowledge_sources).order_by(knowledge_sources.c.id))
    return sorted(rows, key=lambda row: row.project_id is not None)


def passages_by_id(tx: Tx, ids: Sequence[str]) -> dict[str, Sourced]:
    """The existing passages by id, with fields of their sources."""
    if not ids:
        return {}
    joined = knowledge_passages.join(knowledge_sources, knowledge_sources.c.id == knowledge_passages.c.source_id)
    found = sa.select(knowledge_passages, knowledge_sources.c.fetched_at).select_from(joined)
    rows = tx.rows(Sourced, found.where(knowledge_passages.c.id.in_(sorted(ids))))
    return {row.passage.id: row for row in rows}


def passages_of(tx: Tx, source_id: str) -> list[KnowledgePassageRow]:
    """All passages of a source, in order. `READ_SLICE` at a time: with PostgreSQL, the rows of one statement are
    built on the event loop, which runs other tasks only between two statements."""
    found: list[KnowledgePassageRow] = []
    while True:
        after = found[-1].position if found else -1
        some = tx.rows(KnowledgePassageRow, _PASSAGES, {"source": source_id, "after": after, "limit": READ_SLICE})
        found += some
        if len(some) < READ_SLICE:
            return found


class _StoredVector(NamedTuple):
    hash: str
    vector: bytes


def vectors_of(tx: Tx, model: str, hashes: Iterable[str]) -> dict[str, bytes]:
    """The existing vectors of this model by hash of the text: float16, little-endian, length 1."""
    found: dict[str, bytes] = {}
    for some in slices(sorted(set(hashes))):
        query = sa.select(vectors.c.hash, vectors.c.vector)
        rows = tx.rows(_StoredVector, query.where(vectors.c.model == model, vectors.c.hash.in_(some)))
        found |= {row.hash: bytes(row.vector) for row in rows}
    return found


def count_vectors(tx: Tx, model: str, source_id: str) -> int:
    """The number of a source's passages with a vector of this model."""
    return int(tx.execute(_COUNT_VECTORS, {"source": source_id, "model": model}).scalar_one())


def vector_length(tx: Tx, model: str) -> int:
    """The length of this model's vectors; 0 if there are none."""
    row = tx.execute(_VECTOR_LENGTH, {"model": model}).scalar()
    return 0 if row is None else int(row) // 2


def remove_stale_vectors(tx: Tx, model: str, length: int) -> int:
    """Remove vectors of this model with another length, at most `REMOVED_AT_ONCE`; returns their number. A service
    may change the length of its vectors and keep its model's name; then the old ones cannot be compared with the new
    ones. Rings `TEXTS`: there are texts to embed."""
    mine = vectors.c.model == model
    stale = sa.select(vectors.c.hash).where(mine, sa.func.length(vectors.c.vector) != 2 * length)
    some = stale.limit(REMOVED_AT_ONCE)
    gone = tx.execute(sa.delete(vectors).where(mine, vectors.c.hash.in_(some))).rowcount
    if gone:
        tx.ring(TEXTS)
    return gone


def find(tx: Tx, source_id: str) -> KnowledgeSourceRow | None:
    return tx.find(KnowledgeSourceRow, knowledge_sources, {"id": source_id})


def list_sources(tx: Tx, project_id: str, package: str | None = None) -> list[KnowledgeSourceRow]:
    """Shared sources and those of the project (empty: none), by package, then in the order of addition; files of
    projects are listed separately."""
    here = sa.or_(knowledge_sources.c.project_id.is_(None), knowledge_sources.c.project_id == project_id)
    query = sa.select(knowledge_sources).where(here, knowledge_sources.c.kind != "artifact")
    if package is not None:
        query = query.where(knowledge_sources.c.package == package)
    return tx.rows(KnowledgeSourceRow, query.order_by(knowledge_sources.c.package, knowledge_sources.c.id))


def source_data(tx: Tx, row: KnowledgeSourceRow, model: str, embedded: int | None = None) -> SourceData:
    """A source as shown to people. `model` is the embedder's, or empty; `embedded` is the number of passages with a
    vector, if counted before (None counts it here)."""
    if embedded is None:
        embedded = count_vectors(tx, model, row.id) if model else 0
    return shape_of(SourceData, row, embedded=embedded)


def page_of_passages(tx: Tx, source_id: str, after: int, limit: int) -> list[PassageData]:
    """At most `limit` passages of a source, those after this position (-1 for the first ones)."""
    rows = tx.rows(KnowledgePassageRow, _PASSAGES, {"source": source_id, "after": after, "limit": limit})
    return [shape_of(PassageData, row, text=row.body) for row in rows]


def slices(values: Sequence[T], size: int = SLICE) -> Iterator[Sequence[T]]:
    """The values in order, at most `size` at a time. With PostgreSQL, parameters are prepared on the event loop, which
    runs other tasks only between two statements."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
