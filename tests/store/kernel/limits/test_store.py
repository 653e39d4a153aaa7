"""Runs a minute, counted from their rows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from outlast.base.errors import RateLimited
from outlast.db.database import Database, Tx
from outlast.kernel.limits.store import check_run_rates
from tests.factories import Team, make_run


async def test_runs_of_the_last_minute_count_for_their_user_and_their_project(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        for seconds, actor in ((70, team.owner), (40, team.owner), (30, team.editor)):
            moment = tx.now - timedelta(seconds=seconds)
            make_run(tx, team.thread_id, actor, status="completed", leg="ended", created_at=moment)
        check_run_rates(tx, team.owner.user_id, team.project_id, 2, 3)
        check_run_rates(tx, team.stranger.user_id, team.project_id, 1, 0)
        with pytest.raises(RateLimited, match="per user") as refused:
            check_run_rates(tx, team.owner.user_id, team.project_id, 1, 0)
        assert refused.value.retry_after_s == 20
        with pytest.raises(RateLimited, match="per project") as refused:
            check_run_rates(tx, team.stranger.user_id, team.project_id, 1, 2)
        assert refused.value.retry_after_s == 20

    await db.write(run)
