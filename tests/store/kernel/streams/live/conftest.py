from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from outlast.testing.redis import RedisServer, is_installed
from tests.live_stage import Stage, opened_stage


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A running, empty Redis."""
    if not is_installed():
        pytest.skip("redis-server is not installed")
    server = RedisServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(
    params=["memory", *(pytest.param(name, marks=pytest.mark.postgres) for name in ("postgresql", "redis"))]
)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """Two nodes with each adapter in turn; with `memory` both are one."""
    adapter = request.param
    url = request.getfixturevalue("sqlite_url" if adapter == "memory" else "reused_postgres_url")
    redis_url = request.getfixturevalue("redis").url if adapter == "redis" else ""
    async with opened_stage(url, tmp_path, redis_url) as stage:
        yield stage
