"""Memory: a line for each run of a thread, what was asked and what was done. First argument: the open transaction.

The latest lines are told to the next run in order; of the older ones those that resemble what is asked now. A memory is
deleted with its thread and never changed.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.knowledge.rows import MemoryRow
from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import memories, vectors
from outlast.base.ids import new_id
from outlast.db.database import Tx

SUMMARY_CHARS: Final = 500
MOST_SEARCHED: Final = 2_000  # of one thread, newest first


@dataclass(frozen=True, slots=True)
class Memory:
    """One line. `text` is what is searched and embedded; `hash` is its SHA-256."""

    id: str
    thread_id: str
    run_id: str
    summary: str
    hash: str
    created_at: datetime

    @property
    def text(self) -> str:
        return self.summary


def one_line(summary: str) -> str:
    """A summary as it is kept: one line of at most 500 characters."""
    line = " ".join(summary.split())
    return line if len(line) <= SUMMARY_CHARS else f"{line[: SUMMARY_CHARS - 1]}…"


def remember(tx: Tx, *, project_id: str, thread_id: str, run_id: str, summary: str) -> Memory | None:
    """Keep the summary of a run; None: it is empty. A run's second summary takes the place of the first."""
    line = one_line(summary)
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


def of_thread(
    tx: Tx, thread_id: str, *, without: Collection[str] = (), limit: int = MOST_SEARCHED
) -> list[Memory]:
    """The thread's memories, newest first, without those of the runs named."""
    mine = sa.select(memories).where(memories.c.thread_id == thread_id)
    if without:
        mine = mine.where(memories.c.run_id.not_in(sorted(without)))
    rows = tx.rows(MemoryRow, mine.order_by(memories.c.created_at.desc(), memories.c.id.desc()).limit(limit))
    return [Memory(**{name: getattr(row, name) for name in Memory.__dataclass_fields__}) for row in rows]


class _RunSummary(NamedTuple):
    run_id: str
    summary: str


def summaries_of_runs(tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
    """Run id → its summary, where it has one."""
    rows = tx.rows(
        _RunSummary,
        sa.select(memories.c.run_id, memories.c.summary).where(memories.c.run_id.in_(sorted(run_ids))),
    )
    return {row.run_id: row.summary for row in rows}


class _Unembedded(NamedTuple):
    hash: str
    summary: str


def without_vector(tx: Tx, model: str, limit: int) -> list[tuple[str, str]]:
    """(hash, text) of memories that have no vector of this model yet."""
    missing = ~sa.exists().where(vectors.c.model == model, vectors.c.hash == memories.c.hash)
    rows = tx.rows(
        _Unembedded,
        sa.select(memories.c.hash, memories.c.summary).where(missing).order_by(memories.c.id).limit(limit),
    )
    return [(row.hash, row.summary) for row in rows]
