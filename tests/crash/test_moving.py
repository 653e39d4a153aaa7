"""A server moves from SQLite to PostgreSQL and goes on where it was; a move that is killed leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import asyncpg
import orjson
import pytest

from outlast.kernel.streams.log_store import read_all
from outlast.testing.postgres import PostgresServer
from tests.crash.conftest import MakeServer
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer, until
from tests.crash.test_backups import begin_page, new_document, page_in, said_in
from tests.crash.test_parked import ASKING
from tests.forked import Forked

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(600)]
MANY = 150_000  # rows, so that a copy takes some seconds
SECRET = {"name": "API_KEY", "hosts": ["api.example.com"], "value": "s3cret-value"}


@pytest.mark.sandbox
async def test_a_server_that_moved_shows_everything_and_goes_on_with_what_it_was_asked(
    make_server: MakeServer, postgres_url: str, tmp_path: Path
) -> None:
    server = make_server()
    async with server:
        ended = await begin(server, "ended", message("ended", [{"text": "An answer."}]))
        async for _ in follow(server, ended):
            pass
        parked = await begin(server, "parked", message("parked", ASKING))
        await until_asked(server, parked)
        document, page = await new_document(server), await begin_page(server)
        await page_in(server, page)
        attachment, content = await attached(server), await secret(server)
        before = await shown(server, ended, parked, document, page, attachment)

        busy = await moved(server, postgres_url, tmp_path / "busy")
        assert busy.wait() != 0
        assert "data_directory_in_use" in (tmp_path / "busy").read_text()
        assert await server.end(signal.SIGTERM) == 0
        done = await moved(server, postgres_url, tmp_path / "moved", "--json")
        told = (tmp_path / "moved").read_text()
        assert done.wait() == 0, told
        tables = {one["table"]: one for one in orjson.loads(told[told.index("{\n") :])["tables"]}
        assert all(one["sqlite"] == one["postgresql"] for one in tables.values())
        assert min(tables[name]["rows"] for name in ("runs", "log", "approvals", "attachments", "documents")) >= 1

        server.database = postgres_url
        await server.start()
        assert await shown(server, ended, parked, document, page, attachment) == before
        assert await secret_names(server) == content
        (asked,) = (await server.get("/v1/inbox"))["items"]
        status, body = await server.call("POST", f"/v1/approvals/{asked['id']}", {"decision": "approve"})
        assert status == 200, body
        with anyio.fail_after(120):
            async for _ in follow(server, parked):
                pass
        assert parked.fold().status == "completed"
        again = await begin(server, "again", message("again", [{"text": "On PostgreSQL."}]), ended.thread_id)
        async for _ in follow(server, again):
            pass
        assert again.fold().status == "completed"


async def until_asked(server: CrashServer, played: Played) -> None:
    async def waits() -> bool:
        found = await server.get(f"/v1/runs/{played.run_id}")
        return bool(found["status"] == "awaiting_approval")

    with anyio.fail_after(120):
        await until(waits)


async def attached(server: CrashServer) -> str:
    status, begun = await server.call("POST", "/v1/uploads", {"name": "a.bin", "size_bytes": 7})
    assert (status, server.client is not None) == (201, True)
    assert server.client is not None
    url, kind = f"{server.url}/v1/uploads/{begun['id']}?offset=0", {"content-type": "application/octet-stream"}
    async with server.client.patch(url, data=b"\x00bytes\xff", headers=kind) as answer:
        assert answer.status == 200
    assert (await server.call("POST", f"/v1/uploads/{begun['id']}/complete"))[0] == 201
    return str(begun["id"])


async def secret(server: CrashServer) -> list[str]:
    project = (await server.get("/v1/projects"))["items"][0]["id"]
    status, made = await server.call("POST", f"/v1/projects/{project}/secrets", SECRET)
    assert status == 201, made
    return await secret_names(server)


async def secret_names(server: CrashServer) -> list[str]:
    project = (await server.get("/v1/projects"))["items"][0]["id"]
    return [one["name"] for one in (await server.get(f"/v1/projects/{project}/secrets"))["items"]]


async def shown(
    server: CrashServer, ended: Played, parked: Played, document: str, page: str, attachment: str
) -> dict[str, Any]:
    """What people see."""
    assert server.client is not None
    async with server.client.get(f"{server.url}/v1/attachments/{attachment}") as answer:
        file = await answer.read()
    return {
        "file": file,
        "page": await page_in(server, page),
        "said": await said_in(server, ended.thread_id),
        "document": (await server.get(f"/v1/documents/{document}"))["sections"],
        "log": [await log_of(server, played) for played in (ended, parked)],
        "projects": (await server.get("/v1/projects"))["items"],
    }


async def log_of(server: CrashServer, played: Played) -> list[Any]:
    """Every event of the run up to now, from the database."""
    database = server.open_database()
    try:
        return list(await database.read(read_all, played.run_id))
    finally:
        await database.aclose()


async def moved(server: CrashServer, target: str, log: Path, *more: str) -> Forked:
    """The command, once it has ended."""
    config = str(server.folder / "outlast.toml")
    words = ["migrate", "--to", target, "--config", config, "--data-dir", str(server.data_dir), *more]
    process = Forked(words, log)
    with anyio.fail_after(120):
        await until(lambda: process.poll() is not None)
    return process


# --- faults


@pytest.fixture
def house(tmp_path: Path, migrated_sqlite: Path) -> Path:
    """A data directory whose database takes a moment to copy."""
    data = tmp_path / "house"
    data.mkdir()
    shutil.copy(migrated_sqlite, data / "outlast.db")
    for words in (["tokens", "create"], ["verify"]):
        assert Forked([*words, "--data-dir", str(data)], tmp_path / "log").wait() == 0
    with closing(sqlite3.connect(data / "outlast.db")) as connection, connection:
        rows = ((f"run_{number}", 1, 1, 0, os.urandom(100), number) for number in range(MANY))
        names = "stream_id, first_seq, last_seq, folded, body, saved_at"
        connection.executemany(f"INSERT INTO log ({names}) VALUES (?, ?, ?, ?, ?, ?)", rows)
    return data


async def test_a_killed_move_leaves_an_empty_target_that_no_server_takes_for_its_own_and_can_be_repeated(
    house: Path, postgres_url: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    words = ["migrate", "--data-dir", str(house), "--to", postgres_url]
    watching = await asyncpg.connect(postgres.url("postgres"))
    inside = await asyncpg.connect(postgres_url)
    killed = Forked(words, tmp_path / "killed")

    async def is_copying() -> bool:
        copied = "SELECT coalesce(max(tuples_processed), 0) FROM pg_stat_progress_copy"
        return int(await watching.fetchval(copied)) > MANY // 50

    async def is_gone() -> bool:
        open_ones = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'outlast migrate'"
        return await watching.fetchval(open_ones) == 0

    with anyio.fail_after(120):
        await until(is_copying)
        killed.kill()
        await until(is_gone)
    assert killed.wait() == -signal.SIGKILL
    assert await inside.fetchval("SELECT (SELECT count(*) FROM log) + (SELECT count(*) FROM users)") == 0

    environment = {**os.environ, "OUTLAST_DATABASE_URL": postgres_url}
    started = Forked(["serve", "--data-dir", str(house), "--port", "0"], tmp_path / "started", env=environment)
    assert started.wait(60) != 0
    assert "deployment_mismatch" in (tmp_path / "started").read_text()

    again = Forked(words, tmp_path / "again")
    with anyio.fail_after(120):
        await until(lambda: again.poll() is not None)
    assert again.wait() == 0, (tmp_path / "again").read_text()
    assert await inside.fetchval("SELECT count(*) FROM log") == MANY
    for connection in (watching, inside):
        await connection.close()


async def test_a_move_whose_postgresql_goes_away_says_so_and_leaves_nothing(
    house: Path, postgres_url: str, tmp_path: Path
) -> None:
    inside = await asyncpg.connect(postgres_url)
    moving = Forked(["migrate", "--data-dir", str(house), "--to", postgres_url], tmp_path / "cut")

    async def is_cut() -> bool:
        end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_progress_copy WHERE tuples_processed > 1000"
        return int(await inside.fetchval(end)) > 0

    with anyio.fail_after(120):
        await until(is_cut)
        await until(lambda: moving.poll() is not None)
    said = (tmp_path / "cut").read_text()
    assert moving.wait() == 3
    assert "database_not_moved: PostgreSQL does not answer, or the connection was lost" in said
    assert "Traceback" not in said
    assert await inside.fetchval("SELECT count(*) FROM log") == 0
    await inside.close()
