"""A tool that blocks the event loop keeps its run for as long as the loop may come back; then another takes it over."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.testing.model_server import ModelServer
from tests.crash import blocking_chat, kills
from tests.crash.blocking_chat import CALLS, GO, LOST_S
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer, until

pytestmark = [pytest.mark.timeout(300)]
LEASE_S = 5.0  # no busy machine delays the thread so long
BLOCKED_S = 2.5 * LEASE_S
FOR_EVER_S = 3600.0


@pytest.mark.postgres
async def test_a_tool_that_blocks_the_loop_for_several_leases_keeps_its_run(
    make_server: MakeServer, model: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    assert LEASE_S < BLOCKED_S < LOST_S
    options = {"database": postgres_url, "shared": tmp_path / "blobs"}
    first, other = (_server(make_server, name, **options) for name in ("first", "other"))
    async with kills.opened(first) as db:
        played = await _calling(first, tmp_path, BLOCKED_S)
        async with other:  # with nothing to do, it would take over a run whose lease has lapsed
            (tmp_path / GO).touch()
            await _completed(other, db, played, tmp_path)
    assert (await _row(first, played)).attempt == 1
    assert "The event loop was blocked for" in first.log()


@pytest.mark.postgres
async def test_a_run_whose_tool_blocks_the_loop_for_ever_is_taken_over_by_another_node(
    make_server: MakeServer, model: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    options = {"database": postgres_url, "shared": tmp_path / "blobs"}
    first, other = (_server(make_server, name, **options) for name in ("first", "other"))
    async with kills.opened(first) as db:
        played = await _calling(first, tmp_path, FOR_EVER_S)
        async with other:
            (tmp_path / GO).touch()
            await _completed(other, db, played, tmp_path)
    assert (await _row(first, played)).attempt >= 2
    _names_the_tool(first)


async def test_a_server_alone_keeps_the_run_of_a_tool_that_blocks_the_loop_for_several_leases(
    make_server: MakeServer, model: ModelServer, tmp_path: Path
) -> None:
    server = _server(make_server, "server")
    async with kills.opened(server) as db:
        played = await _calling(server, tmp_path, BLOCKED_S)
        (tmp_path / GO).touch()
        await _completed(server, db, played, tmp_path)
    assert (await _row(server, played)).attempt == 1


async def test_a_server_alone_that_is_blocked_for_ever_finishes_its_run_after_a_restart(
    make_server: MakeServer, model: ModelServer, tmp_path: Path
) -> None:
    server = _server(make_server, "server")
    async with kills.opened(server) as db:
        played = await _calling(server, tmp_path, FOR_EVER_S)
        (tmp_path / GO).touch()
        with anyio.fail_after(120):
            await until(lambda: "The event loop has been blocked for" in server.log())
        await server.kill()
        await server.start()
        await _completed(server, db, played, tmp_path)
    assert (await _row(server, played)).attempt == 2
    _names_the_tool(server)


def _server(make_server: MakeServer, name: str, **options: object) -> CrashServer:
    return make_server(name, lease_s=LEASE_S, blocking=True, **options)


async def _calling(server: CrashServer, folder: Path, seconds: float) -> Played:
    """A run whose tool is about to block the loop."""
    played = await begin(server, "blocks", message("blocks", blocking_chat.turns(folder, seconds)))
    with anyio.fail_after(60):
        await until((folder / CALLS).exists)
    return played


async def _completed(server: CrashServer, db: Database, played: Played, folder: Path) -> None:
    """The run ends, and its effect was carried out once."""
    with anyio.fail_after(120):
        async for _ in follow(server, played):
            pass
    assert played.fold().status == "completed"
    await check_followed(db, played)
    assert len((folder / CALLS).read_text().splitlines()) == 1


async def _row(server: CrashServer, played: Played) -> RunRow:
    def read(tx: Tx) -> RunRow | None:
        return tx.row(RunRow, sa.select(runs).where(runs.c.id == played.run_id))

    db = server.open_database()
    try:
        row = await db.read(read)
    finally:
        await db.aclose()
    assert row is not None
    return row


def _names_the_tool(server: CrashServer) -> None:
    """The log has the stack of the blocked loop, and of the tasks that wait for it."""
    log = server.log()
    assert "tasks of the blocked event loop" in log
    assert "block_loop (" in log
