"""How long text takes from the server that writes a run to a follower on another one: two real processes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from outlast.testing.model_server import ModelServer
from outlast.testing.redis import RedisServer, is_installed
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.postgres, pytest.mark.deep, pytest.mark.timeout(180)]
WORDS = 150
SLOW = [{"text": " ".join(f"word{n}" for n in range(WORDS)), "delay_s": 0.02}]
BOUND_MS = {"redis": 5.0, "postgresql": 120.0}
MARGIN = 5  # two cores, with other tests beside


@dataclass
class Server(CrashServer):
    """With the usual save interval, and without sandboxes, which two servers cannot share."""

    def command(self) -> list[str]:
        words = super().command()
        config = self.folder / "outlast.toml"
        text = config.read_text().replace("save_interval_s = 0.1", "save_interval_s = 1")
        config.write_text(text.replace("[sandbox]\nmemory_mb = 256\n", ""))
        return words


async def arrivals(server: CrashServer, played: Played) -> dict[int, float]:
    """When each event came."""
    seen = replace(played, events=[])
    at: dict[int, float] = {}
    async for event in follow(server, seen):
        at[event["sequenceNumber"]] = anyio.current_time()
    return at


@pytest.mark.parametrize("transport", ["postgresql", "redis"])
async def test_text_reaches_followers_on_another_server_in_time(
    model: ModelServer, postgres_url: str, tmp_path: Path, transport: str
) -> None:
    if transport == "redis" and not is_installed():
        pytest.skip("redis-server is not installed")
    redis = RedisServer() if transport == "redis" else None
    more = f'[blobs]\nurl = "{tmp_path / "blobs"}"\n'
    try:
        if redis is not None:
            redis.start()
            more += f'[live]\nredis_url = "{redis.url}"\n'
        servers = [Server(tmp_path / name, model.base_url, database=postgres_url, more=more) for name in ("a", "b")]
        async with servers[0] as writing, servers[1] as other:
            played = await begin(writing, "far", message("far", SLOW, pace_s=0.02))
            near: dict[int, float] = {}
            far: dict[int, float] = {}

            async def watch(server: CrashServer, at: dict[int, float]) -> None:
                at |= await arrivals(server, played)

            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    group.start_soon(watch, writing, near)
                    group.start_soon(watch, other, far)
    finally:
        if redis is not None:
            redis.remove()
    assert sorted(far) == sorted(near)
    delays = [(far[number] - near[number]) * 1000 for number in list(near)[20:]]  # the first came before both followed
    assert len(delays) > WORDS / 2
    p50, p95 = statistics.median(delays), statistics.quantiles(delays, n=20)[-1]
    print(f"live text from server to server through {transport}: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
    assert p50 <= MARGIN * BOUND_MS[transport]
