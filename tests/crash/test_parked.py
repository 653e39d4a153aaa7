"""Many runs wait for a person while the server dies; every one of them goes on after its decision."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.kernel.runs.tables import runs
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger, check_no_leaks
from tests.crash.scenario import begin, follow, message
from tests.crash.server import until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
COUNT = 50
ASKING: list[dict[str, Any]] = [
    {
        "text": "May I?",
        "calls": [{"id": "call_rm", "name": "terminal", "arguments": {"command": "rm -rf build; echo gone"}}],
    },
    {"text": "Then I am done."},
]


async def test_fifty_runs_that_wait_survive_a_kill_and_go_on_after_their_decisions(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server()
    async with kills.opened(server) as db:
        waiting = [await begin(server, f"job{n}", message(f"job{n}", ASKING, pace_s=0.0)) for n in range(COUNT)]

        async def all_wait() -> bool:
            return await db.read(_parked) == COUNT

        with anyio.fail_after(120):
            await until(all_wait)
        await server.kill()
        await server.revive()
        inbox = await server.get("/v1/inbox?limit=100")
        asked = {item["run_id"]: item["id"] for item in inbox["items"]}
        assert asked.keys() == {played.run_id for played in waiting}, "each is still asked about, once"
        for number, played in enumerate(waiting):
            decision = {"decision": "approve"} if number < 2 else {"decision": "deny", "reason": "no"}
            status, body = await server.call("POST", f"/v1/approvals/{asked[played.run_id]}", decision)
            assert status == 200, body
        for number, played in enumerate(waiting):
            async for _ in follow(server, played):
                pass
            state = played.fold()
            [call] = [part for part in state.parts if part["type"] == "tool_call"]
            assert (state.status, call["status"]) == ("completed", "done" if number < 2 else "denied")
            await check_followed(db, played)
        assert len(model.requests) == 2 * COUNT, "no turn was asked twice"
        await check_ledger(db)
        await check_no_leaks(server, db)


def _parked(tx: Any) -> int:
    parked = sa.select(sa.func.count()).where(runs.c.leg == "parked", runs.c.status == "awaiting_approval")
    return int(tx.execute(parked).scalar_one())
