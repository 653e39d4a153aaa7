"""SIGKILL around a compaction: the summary is asked for again, and recorded once."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.compactions.rows import CompactionRow
from outlast.kernel.compactions.tables import compactions
from outlast.kernel.runs.rows import EffectRow, RunRow
from outlast.kernel.runs.tables import effects, runs
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.outcome import check_followed, check_ledger, check_no_leaks
from tests.crash.scenario import Played, begin, follow
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
FEW = "[profiles.chat]\ncontext_messages = 4\n"
TOKENS = 100  # read in each request, as the model reports
OURS = ("compact", "_record[thread.compacted]")


async def _say(server: CrashServer, marker: str, thread_id: str = "") -> Played:
    played = await begin(server, marker, f"Message {marker}: go on.", thread_id)
    async for _ in follow(server, played):
        pass
    return played


async def _crowded(server: CrashServer, name: str) -> str:
    """A thread whose next run is compacted first."""
    thread_id = (await _say(server, f"{name}-1")).thread_id
    await _say(server, f"{name}-2", thread_id)
    return thread_id


def _left_behind(tx: Tx, played: Played) -> dict[str, Any]:
    run = tx.find(RunRow, runs, {"id": played.run_id})
    assert run is not None
    done = tx.rows(EffectRow, sa.select(effects).where(effects.c.run_id == run.id).order_by(effects.c.ordinal))
    made = tx.rows(CompactionRow, sa.select(compactions).where(compactions.c.thread_id == run.thread_id))
    return {
        "run": (run.status, run.stop_reason, run.credits, run.input_tokens),
        "effects": [(one.ordinal, one.kind, one.status) for one in done],
        "compactions": [(one.to_position, one.last_position, one.text) for one in made],
    }


async def test_a_run_killed_at_any_commit_of_its_compaction_has_one_summary(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server(more=FEW)
    async with kills.opened(server) as db:
        thread_id = await _crowded(server, "undisturbed")
        before = len(server.commits())
        expected = await db.read(_left_behind, await _say(server, "undisturbed-3", thread_id))
        assert expected["effects"] == [(1, "model", "finished"), (2, "compaction", "finished")]
        assert expected["run"] == ("completed", "end", 3, 2 * TOKENS)
        assert len(expected["compactions"]) == 1
        labels = [label for label in server.commits()[before:] if any(mark in label for mark in OURS)]
        assert len(labels) == 2, server.commits()[before:]
        for number, point in enumerate(kills.points_of(labels)):
            await _killed_at(server, db, model, point, f"lane{number}", expected)
        await check_ledger(db)


async def _killed_at(
    server: CrashServer, db: Database, model: ModelServer, point: CrashPoint, name: str, expected: dict[str, Any]
) -> None:
    thread_id = await _crowded(server, name)
    starts, asked = server.starts, len(model.requests)
    server.arm(point)
    played = await _say(server, f"{name}-3", thread_id)
    assert server.starts == starts + 1, f"{point} was not reached"
    assert await db.read(_left_behind, played) == expected, point
    # Cut after the model's answer, before it was recorded: the summary is asked for again.
    assert len(model.requests) - asked == (3 if point.when == "before" and "thread.compacted" in point.label else 2)
    await check_followed(db, played)
    await check_no_leaks(server, db)
