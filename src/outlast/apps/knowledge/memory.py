"""Memory: one line per run of a thread, with what was asked and what was done. First argument: the open transaction.

The next run gets the latest lines in order, and those older ones that resemble its request. A memory never changes, and
is deleted with its thread.
"""

import hashlib
from collections.abc import Collection
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.knowledge.rows import MemoryRow
from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import memories, vectors
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.library.memories import Memory

SUMMARY_CHARS: Final = 500
MAX_SEARCHED: Final = 2_000  # memories of one thread, the newest


def shorten_summary(summary: str) -> str:
    """A summary as it is stored: one line of at most `SUMMARY_CHARS` characters."""
    line = " ".join(summary.split())
    return line if len(line) <= SUMMARY_CHARS else f"{line[: SUMMARY_CHARS - 1]}…"


def remember(tx: Tx, *, project_id: str, thread_id: str, run_id: str, summary: str) -> Memory | None:
    """Store the summary of a run and wake the indexer. A second summary of the run replaces the first. Stores nothing
    and returns None when it is empty."""
    line = shorten_summary(summary)
    if not line:
        return None
    digest = hashlib.sha256(line.encode()).hexdigest()
    tx.execute(sa.delete(memories).where(memories.c.run_id == run_id))
    memory = Memory(new_id("memory"), thread_id, run_id, line, digest, tx.now)
    tx.insert(
        memories,
        id=memory.id,
        project_id=project_id,
        thread_id=thread_id,
        run_id=run_id,
        summary=line,
        hash=digest,
        created_at=tx.now,
    )
    tx.ring(TEXTS)
    return memory


def of_thread(tx: Tx, thread_id: str, *, without: Collection[str] = (), limit: int = MAX_SEARCHED) -> list[Memory]:
    """The thread's memories, newest first, except those of the runs in `without`."""
    found = sa.select(memories).where(memories.c.thread_id == thread_id)
    if without:
        found = found.where(memories.c.run_id.not_in(sorted(without)))
    newest = found.order_by(memories.c.created_at.desc(), memories.c.id.desc()).limit(limit)
    return [
        Memory(row.id, row.thread_id, row.run_id, row.summary, row.hash, row.created_at)
        for row in tx.rows(MemoryRow, newest)
    ]


class _RunSummary(NamedTuple):
    run_id: str
    summary: str


def summaries_of_runs(tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
    """Run id → summary, for the runs that have one."""
    rows = tx.rows(
        _RunSummary, sa.select(memories.c.run_id, memories.c.summary).where(memories.c.run_id.in_(sorted(run_ids)))
    )
    return {row.run_id: row.summary for row in rows}


class _Unembedded(NamedTuple):
    hash: str
    summary: str


def without_vector(tx: Tx, model: str, limit: int) -> list[tuple[str, str]]:
    """(hash, text) of at most `limit` memories that have no vector of this model yet."""
    missing = ~sa.exists().where(vectors.c.model == model, vectors.c.hash == memories.c.hash)
    rows = tx.rows(
        _Unembedded, sa.select(memories.c.hash, memories.c.summary).where(missing).order_by(memories.c.id).limit(limit)
    )
    return [(row.hash, row.summary) for row in rows]
