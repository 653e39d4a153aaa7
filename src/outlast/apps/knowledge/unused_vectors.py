"""Vectors of texts that are gone: kept for a while, then deleted."""

from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from outlast.apps.knowledge.tables import knowledge_passages, memories, modules, vectors
from outlast.db.database import Tx

UNUSED_FOR: Final = timedelta(days=1)  # a text may come back after a change
COLLECT_EVERY: Final = timedelta(hours=12)


def remove_unused(tx: Tx) -> int:
    """Vectors of texts that nothing has any more; how many."""
    used = [
        sa.exists().where(column == vectors.c.hash)
        for column in (knowledge_passages.c.hash, modules.c.hash, memories.c.hash)
    ]
    old = vectors.c.created_at < tx.now - UNUSED_FOR
    return tx.execute(sa.delete(vectors).where(old, *(~one for one in used))).rowcount
