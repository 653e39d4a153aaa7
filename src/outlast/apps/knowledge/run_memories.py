"""Memory: one line per run of a thread, with the request and the result. First argument: the open transaction.

The next run gets the latest lines in order, and those older ones that resemble its request (`Searcher.recall`). A
memory never changes, and is deleted with its thread.
"""

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import memories
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.library.memories import Memory
from outlast.kernel.library.modules import text_hash
from outlast.kernel.mentions.rules import one_line

SUMMARY_CHARS: Final = 500
MAX_SEARCHED: Final = 2_000  # memories of one thread, the newest
_MEMORIES: Final = sa.select(*(memories.c[name] for name in Memory._fields))


def remember(tx: Tx, *, project_id: str, thread_id: str, run_id: str, summary: str) -> Memory | None:
    """Store the summary of a run and wake the vector keeper. A second summary of the run replaces the first. Stores
    nothing and returns None when it is empty."""
    line = one_line(summary.strip(), SUMMARY_CHARS)
    if not line:
        return None
    tx.execute(sa.delete(memories).where(memories.c.run_id == run_id))
    memory = Memory(new_id("memory"), thread_id, run_id, line, text_hash(line), tx.now)
    tx.insert(memories, project_id=project_id, **memory._asdict())
    tx.ring(TEXTS)
    return memory


def of_thread(tx: Tx, thread_id: str, *, without: Collection[str] = (), limit: int = MAX_SEARCHED) -> list[Memory]:
    """The thread's memories, newest first, except those of the runs in `without`."""
    found = _MEMORIES.where(memories.c.thread_id == thread_id)
    if without:
        found = found.where(memories.c.run_id.not_in(sorted(without)))
    return tx.rows(Memory, found.order_by(memories.c.created_at.desc(), memories.c.id.desc()).limit(limit))


def summaries_of_runs(tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
    """Run id → summary, for the runs that have one."""
    found = tx.rows(Memory, _MEMORIES.where(memories.c.run_id.in_(sorted(run_ids))))
    return {memory.run_id: memory.summary for memory in found}
