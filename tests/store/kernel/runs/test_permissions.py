"""Who may steer a run: every role, with the lock free, one's own, or somebody else's."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from outlast.base.errors import Forbidden, NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.locks.tables import locks
from outlast.kernel.runs.permissions import require_steering
from tests.factories import Team, make_run

ALLOWED = {
    ("owner", "free"), ("owner", "own"), ("owner", "other's"),
    ("editor", "own"), ("starter", "free"), ("starter", "own"), ("editor", "own, expired"),
}  # fmt: skip


@pytest.mark.parametrize("who", ["owner", "editor", "starter", "viewer", "stranger"])
@pytest.mark.parametrize("lock", ["free", "own", "other's", "own, expired"])
async def test_drivers_and_owners_steer_and_starters_while_nobody_drives(db: Database, who: str, lock: str) -> None:
    def steer(tx: Tx) -> str:
        team = Team(tx)
        actor = team.by_role()["editor" if who == "starter" else who]
        run_id = make_run(tx, team.thread_id, actor if who == "starter" else team.owner)
        holder = team.viewer if lock == "other's" else actor
        if lock != "free":
            until = tx.now + timedelta(hours=-1 if "expired" in lock else 1)
            row = {"resource_type": "thread", "resource_id": team.thread_id, "project_id": team.project_id}
            row |= {"holder_id": holder.user_id}
            tx.execute(sa.insert(locks).values(**row, acquired_at=tx.now, expires_at=until))
        try:
            require_steering(tx, actor, run_id)
        except NotFound:
            return "hidden"
        except Forbidden:
            return "refused"
        return "allowed"

    found = await db.write(steer)
    if who == "stranger":
        assert found == "hidden"
    elif who == "viewer":
        assert found == "refused"
    elif lock == "own, expired":
        assert found == "allowed"
    else:
        assert found == ("allowed" if (who, lock) in ALLOWED else "refused")
