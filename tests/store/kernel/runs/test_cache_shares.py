"""Which part of the prompts came from a cache, by provider and model."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from outlast.db.database import Database, Tx
from outlast.kernel.runs.cache_shares import cache_shares
from outlast.kernel.runs.shapes import CacheShareAnswer
from tests.factories import make_project, make_run, make_thread, make_user


async def test_shares_are_told_by_model_with_its_provider_over_the_runs_of_the_time_asked_for(db: Database) -> None:
    def run(tx: Tx) -> tuple[list[CacheShareAnswer], list[CacheShareAnswer]]:
        owner = make_user(tx)
        project_id, other = make_project(tx, owner), make_project(tx, owner)
        ended = {"status": "completed", "leg": "ended"}

        def asked(model: str, tokens: int, cached: int, days: int = 0, project: str = project_id) -> None:
            thread_id = make_thread(tx, project, owner)
            at = tx.now - timedelta(days=days)
            figures: dict[str, Any] = {"input_tokens": tokens, "cached_tokens": cached, **ended}
            make_run(tx, thread_id, owner, created_at=at, model=model, **figures)

        asked("swift", 1000, 900)
        asked("swift", 1000, 0)
        asked("slow", 300, 100)
        asked("slow", 9000, 9000, days=40)
        asked("slow", 9000, 9000, project=other)
        asked("silent", 0, 0)
        asked("gone", 10, 0)
        providers = {"swift": "north", "slow": "east"}
        since = tx.now - timedelta(days=30)
        told = cache_shares(tx, [project_id], since, lambda model: providers.get(model, ""))
        return told, cache_shares(tx, [], since, str)

    told, none = await db.write(run)
    assert told == [
        share("", "gone", 1, 10, 0, 0.0),
        share("east", "slow", 1, 300, 100, 0.3333),
        share("north", "swift", 2, 2000, 900, 0.45),
    ]
    assert none == []


def share(
    provider: str, model: str, runs: int, input_tokens: int, cached_tokens: int, cached_share: float
) -> CacheShareAnswer:
    return CacheShareAnswer(
        provider=provider,
        model=model,
        runs=runs,
        input_tokens=input_tokens,
        cached_tokens=cached_tokens,
        cached_share=cached_share,
    )
