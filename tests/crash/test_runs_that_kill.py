"""A run under which the server dies at every try is ended; the runs beside it do not notice."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.timeout(600)]
OTHERS = 20
WORDS = [f"word{n}" for n in range(10)]
ANSWER: list[dict[str, Any]] = [{"text": " ".join(WORDS)}]
STALLS: list[dict[str, Any]] = [{"fault": "stall_body"}]


async def test_a_run_that_kills_the_server_three_times_is_ended_and_twenty_others_are_exact(
    make_server: MakeServer, model: ModelServer
) -> None:
    await _kill(make_server(lease_s=5.0), model)


@pytest.mark.deep
@pytest.mark.postgres
async def test_a_run_that_kills_the_server_three_times_is_ended_also_on_postgresql(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    await _kill(make_server(database=postgres_url, lease_s=5.0), model)


async def _kill(server: CrashServer, model: ModelServer) -> None:
    async with kills.opened(server) as db:
        killer = await begin(server, "killer", message("killer", STALLS))
        others = [await begin(server, f"job{n}", message(f"job{n}", ANSWER, pace_s=0.02)) for n in range(OTHERS)]
        async with anyio.create_task_group() as group:
            group.start_soon(_kill_whenever_asked, server, model, killer)
            with anyio.fail_after(300):
                for played in [*others, killer]:
                    async for _ in follow(server, played):
                        pass
            group.cancel_scope.cancel()
        for played in others:
            state = played.fold()
            assert state.status == "completed"
            assert "".join(part["text"] for part in state.parts) == " ".join(WORDS)
            await check_followed(db, played)
        ended = await db.read(_row, killer)
        assert (ended["status"], ended["error"]["code"]) == ("error", "run_crashes_server")
        assert ended["deaths"] == 3
        status, again = await server.call("POST", f"/v1/runs/{killer.run_id}/continue")
        assert status == 202, again
        await server.call("POST", f"/v1/runs/{again['run_id']}/cancel")
        await check_ledger(db)


async def _kill_whenever_asked(server: CrashServer, model: ModelServer, killer: Played) -> None:
    """The server dies whenever the model is asked for this run."""
    seen = 0
    while True:
        await model.wait_requests(seen + 1)
        request, seen = model.requests[seen], seen + 1
        if f"Job {killer.marker}:" in str(request.body):
            await server.kill()
            await server.revive()


def _row(tx: Tx, played: Played) -> dict[str, Any]:
    row = tx.row(RunRow, sa.select(runs).where(runs.c.id == played.run_id))
    assert row is not None
    return row._asdict()
