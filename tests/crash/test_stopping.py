"""SIGTERM hands the work back, and the next start goes on at once; a second one does not wait."""

from __future__ import annotations

import signal
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.scenario import begin, follow, message, play
from tests.crash.server import until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
NEVER: list[dict[str, Any]] = [{"fault": "stall_body"}]
LONG_COMMAND: list[dict[str, Any]] = [
    {
        "text": "This takes a while.",
        "calls": [
            {
                "id": "call_long",
                "name": "terminal",
                "arguments": {"command": "echo begun >> begun.txt; sleep 4; echo done"},
            }
        ],
    },
    {"text": "It is done."},
]


async def test_a_stopped_server_lets_a_step_finish_and_the_next_start_goes_on(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server()
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model)

        async def stop_in_the_middle() -> None:
            await server.until_committed("_mark_started.change", 2)
            async with server.reviving:  # not before we have looked
                assert await server.end(signal.SIGTERM) == 0
                assert await _leg_of(db) == ("ready", None, 0)

        async with anyio.create_task_group() as group:
            group.start_soon(stop_in_the_middle)
            played = await play(server)
        await kills.compare(server, db, model, reference, played, kills=0)


async def test_a_command_that_outlasts_the_grace_is_attached_to_by_the_next_start(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server(grace_s=0.3)
    async with kills.opened(server) as db:
        played = await begin(server, "grace", message("grace", LONG_COMMAND))
        with anyio.fail_after(60):
            await server.until_committed("touch")  # the sandbox is in use: the command begins
        assert await server.end(signal.SIGTERM) == 0
        assert await _leg_of(db) == ("ready", None, 0)
        await server.revive()
        async for _ in follow(server, played):
            pass
        parts = played.fold().parts
        [call] = [part for part in parts if part["type"] == "tool_call"]
        assert (call["status"], call["result"]) == ("done", "done\n[exit code 0]")
        [begun] = (server.data_dir / "workspaces").glob("*/begun.txt")
        assert begun.read_text() == "begun\n", "the command ran once"


async def test_a_second_signal_does_not_wait_for_the_grace(make_server: MakeServer, model: ModelServer) -> None:
    server = make_server(grace_s=3600.0)
    async with kills.opened(server) as db:
        played = await begin(server, "hurry", message("hurry", NEVER))
        with anyio.fail_after(30):
            await model.wait_requests(1)
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        with anyio.fail_after(60):
            await until(lambda: '"stopping"' in server.log())
            assert await server.end(signal.SIGTERM) == 0
        assert await _leg_of(db) == ("ready", None, 0)
        await server.revive()
        status, body = await server.call("POST", f"/v1/runs/{played.run_id}/cancel")
        assert status == 200, body
        async for _ in follow(server, played):
            pass


@pytest.mark.postgres
async def test_a_lease_handed_back_need_not_lapse_first(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    server = make_server(database=postgres_url, lease_s=3000.0, grace_s=0.3)
    async with kills.opened(server) as db:
        played = await begin(server, "lease", message("lease", [{"text": "word " * 60, "delay_s": 0.05}]))
        with anyio.fail_after(30):
            await model.wait_requests(1)
        assert await server.end(signal.SIGTERM) == 0
        assert await _leg_of(db) == ("ready", None, 0)
        await server.revive()
        with anyio.fail_after(60):
            async for _ in follow(server, played):
                pass
        assert played.fold().status == "completed"


async def _leg_of(db: Database) -> tuple[str, str | None, int]:
    """Leg and owner of the one run that has not ended, and how many failures count against it."""

    def read(tx: Tx) -> tuple[str, str | None, int]:
        row = tx.row(RunRow, sa.select(runs).where(runs.c.leg != "ended"))
        assert row is not None
        return row.leg, row.owner, int(row.ready_at is not None)

    return await db.read(read)
