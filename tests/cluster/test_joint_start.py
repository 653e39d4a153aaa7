"""Servers that are started at the same moment on an empty database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import asyncpg
import pytest

from outlast.testing.postgres import PostgresServer
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(600)]
NODES = 3
NO_MODEL = "http://127.0.0.1:9"


@pytest.fixture
def machines_can_be_made() -> None:
    """These tests need none: the servers are apart by their ports."""


@pytest.mark.parametrize("times", [1, pytest.param(8, marks=pytest.mark.deep)])
async def test_three_servers_started_together_on_an_empty_database_have_one_owner(
    tmp_path: Path, postgres: PostgresServer, times: int
) -> None:
    for number in range(times):
        name = f"joint_{number}"
        async for url in _empty_database(postgres, name):
            owners, projects = await _started_together(tmp_path / name, url)
            assert owners == 1
            assert len(projects) == 1, projects


async def _started_together(folder: Path, url: str) -> tuple[int, set[str]]:
    """How many local owners there are, and the projects that the servers show."""
    servers = [CrashServer(folder / f"node{n}", NO_MODEL, database=url, shared=folder / "blobs") for n in range(NODES)]
    shown: list[str] = []

    async def use(server: CrashServer, together: anyio.Event) -> None:
        async with server:
            shown.append(str(sorted(item["id"] for item in (await server.get("/v1/projects"))["items"])))
            if len(shown) == NODES:
                together.set()
            await together.wait()

    together = anyio.Event()
    async with anyio.create_task_group() as group:
        for server in servers:
            group.start_soon(use, server, together)
    connection = await asyncpg.connect(url)
    try:
        owners = await connection.fetchval("SELECT count(*) FROM users WHERE is_local")
    finally:
        await connection.close()
    return int(owners), set(shown)


async def _empty_database(postgres: PostgresServer, name: str) -> AsyncIterator[str]:
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await connection.execute(f"CREATE DATABASE {name}")
        yield postgres.url(name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()
