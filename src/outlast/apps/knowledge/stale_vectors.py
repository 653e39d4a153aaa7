"""Vectors of another length than the embedder's. First argument: the open transaction.

A service may change how long its vectors are and keep its model's name. Those that it made before compare with none of
the new ones: they go, so that the indexer makes them again.
"""

from typing import Final

import sqlalchemy as sa

from outlast.apps.knowledge.store import TEXTS
from outlast.apps.knowledge.tables import vectors
from outlast.db.database import Tx

AT_ONCE: Final = 2_000  # vectors that go in one transaction
_ANY: Final = sa.select(sa.func.length(vectors.c.vector)).where(vectors.c.model == sa.bindparam("of")).limit(1)


def known_length(tx: Tx, model: str) -> int:
    """How many numbers one of this model's vectors has; 0: there are none."""
    row = tx.execute(_ANY, {"of": model}).scalar()
    return 0 if row is None else int(row) // 2


def has_others(tx: Tx, model: str, length: int) -> bool:
    """Whether this model has vectors of another length."""
    return tx.execute(_others(model, length).limit(1)).first() is not None


def remove_others(tx: Tx, model: str, length: int) -> int:
    """Remove vectors of this model that have another length, at most `AT_ONCE`; how many those were. Rings `TEXTS`:
    there are texts to be embedded."""
    some = _others(model, length).limit(AT_ONCE)
    gone = tx.execute(sa.delete(vectors).where(vectors.c.model == model, vectors.c.hash.in_(some))).rowcount
    if gone:
        tx.ring(TEXTS)
    return gone


def _others(model: str, length: int) -> sa.Select[tuple[str]]:
    other = sa.func.length(vectors.c.vector) != 2 * length
    return sa.select(vectors.c.hash).where(vectors.c.model == model, other)
