"""The share of prompts that providers read from their caches, over the runs of some days."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.shapes import CacheShareAnswer
from outlast.kernel.runs.tables import runs

CACHE_DAYS: Final = 30


class _Share(NamedTuple):
    model: str
    runs: int
    input_tokens: int
    cached_tokens: int


def cache_shares(
    tx: Tx, project_ids: Sequence[str], since: datetime, provider_of: Callable[[str], str]
) -> list[CacheShareAnswer]:
    """By provider and model; models without requests are left out."""
    asked, cached = sa.func.sum(runs.c.input_tokens), sa.func.sum(runs.c.cached_tokens)
    rows = tx.rows(
        _Share,
        sa.select(
            runs.c.model, sa.func.count().label("runs"), asked.label("input_tokens"), cached.label("cached_tokens")
        )
        .where(runs.c.project_id.in_(project_ids), runs.c.created_at >= since, runs.c.input_tokens > 0)
        .group_by(runs.c.model),
    )
    found = [
        CacheShareAnswer(
            provider=provider_of(row.model),
            model=row.model,
            runs=row.runs,
            input_tokens=int(row.input_tokens),
            cached_tokens=int(row.cached_tokens),
            cached_share=round(min(int(row.cached_tokens) / int(row.input_tokens), 1.0), 4),
        )
        for row in rows
    ]
    return sorted(found, key=lambda share: (share.provider, share.model))
