"""Redis flushed, gone or standing still in the middle of a run: followers on the other node get everything once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from redis.asyncio import Redis

from outlast.kernel.streams.live import redis_carrier
from outlast.kernel.streams.live.open import open_client
from outlast.kernel.streams.live.redis_carrier import RedisCarrier
from outlast.kernel.streams.writer import RunWriter
from outlast.testing.redis import RedisServer
from tests.crash.server import until
from tests.live_stage import Node, Stage, opened_stage

pytestmark = pytest.mark.postgres


@pytest.fixture
async def stage(reused_postgres_url: str, redis: RedisServer, tmp_path: Path) -> AsyncIterator[Stage]:
    async with opened_stage(reused_postgres_url, tmp_path, redis.url) as stage:
        await works(stage)
        yield stage


async def works(stage: Stage, does: bool = True) -> None:
    """Returns once both nodes use Redis, or neither does."""
    with anyio.fail_after(15):
        await until(lambda: all(carrier_of(node).works == does for node in (stage.here, stage.there)))


def carrier_of(node: Node) -> RedisCarrier:
    carrier: RedisCarrier = node.hub.live._carrier  # type: ignore[attr-defined]
    return carrier


@asynccontextmanager
async def client_of(redis: RedisServer) -> AsyncIterator[Redis]:
    client = open_client(redis.url)
    try:
        yield client
    finally:
        await client.aclose()


async def write_some(stage: Stage, writer: RunWriter, count: int = 30) -> int:
    number = 0
    for _ in range(count):
        number = stage.here.delta(writer)
        await anyio.sleep(0.003)
    return number


@pytest.mark.parametrize("how", ["flushed", "killed", "killed_and_back", "standing_still", "standing_still_and_back"])
async def test_what_happens_to_redis_loses_and_repeats_nothing(
    stage: Stage, redis: RedisServer, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_carrier, "REST_S", 0.3)
    writer = await stage.claim()
    follower = stage.follow()
    await follower.until(await write_some(stage, writer))
    if how == "flushed":
        async with client_of(redis) as client:
            await client.flushall()
    elif how.startswith("killed"):
        redis.kill()
    else:
        redis.stand_still()
    await write_some(stage, writer)
    if how.endswith("_back"):
        redis.start() if how.startswith("killed") else redis.go_on()
        await works(stage)
    await write_some(stage, writer)
    late = stage.follow()
    last = await stage.end(writer)
    await follower.until(last)
    await late.until(last)
    assert follower.numbers == late.numbers == await stage.saved()


@pytest.mark.parametrize("how", ["kill", "stand_still"])
async def test_a_writer_goes_over_to_the_database_at_once(stage: Stage, redis: RedisServer, how: str) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    await follower.until(await write_some(stage, writer))
    getattr(redis, how)()
    began, number = anyio.current_time(), stage.here.delta(writer)
    await follower.until(number, within_s=0.9)  # the usual save interval is 1 s
    print(f"{how}: shown on the other node after {(anyio.current_time() - began) * 1000:.0f} ms")
    assert stage.here.hub.live.saves_soon(writer.run_id)


async def test_text_that_redis_lost_is_read_from_the_database(
    stage: Stage, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    await follower.until(await write_some(stage, writer))
    channel = writer._channel
    carry, channel.carry = channel.carry, None
    missed = stage.here.delta(writer)
    channel.carry = carry
    number = stage.here.delta(writer)
    began = anyio.current_time()
    await follower.until(number)
    assert anyio.current_time() - began < 0.9, "the gap is saved because the follower's node asks for it"
    assert follower.numbers[-2:] == [missed, number]


async def test_a_late_entry_of_an_older_attempt_is_refused_by_redis_and_not_shown(
    stage: Stage, redis: RedisServer
) -> None:
    old = await stage.claim()
    far = stage.follow()
    await far.until(await write_some(stage, old))
    new = await stage.claim(stage.there)  # the follower's node takes the run over
    other = stage.follow(stage.here)
    number = stage.there.delta(new)
    await far.until(number)
    late = stage.here.delta(old)
    number = stage.there.delta(new)
    await far.until(number)
    await anyio.sleep(0.1)
    assert late not in far.numbers
    assert other.numbers == sorted(set(other.numbers))


async def test_entries_that_the_database_has_not_reserved_are_never_shown(stage: Stage, redis: RedisServer) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    await follower.until(await write_some(stage, writer))
    key = redis_carrier.KEY % writer.run_id
    async with client_of(redis) as client:
        for generation, number in ((writer.attempt, writer._reserved + 50), (writer.attempt + 3, writer._seq + 10)):
            line = b'{"id":"x","event":"text.delta","data":{},"sequenceNumber":%d}' % number
            await client.xadd(key, {"first": number, "lines": line}, id=f"{generation}-{number}")
            await client.publish(redis_carrier.BELLS, writer.run_id)
            await anyio.sleep(0.05)
    number = await write_some(stage, writer)  # Redis refuses these: the stream's top is ahead
    await follower.until(number)
    assert follower.numbers == list(range(1, number + 1))


async def test_a_settled_run_leaves_redis_soon(stage: Stage, redis: RedisServer) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    await follower.until(await write_some(stage, writer))
    await follower.until(await stage.end(writer))
    async with client_of(redis) as client:
        with anyio.fail_after(5):
            await until(lambda: settles(client, writer.run_id))


async def settles(client: Redis, run_id: str) -> bool:
    left: int = await client.ttl(redis_carrier.KEY % run_id)
    return 0 < left <= redis_carrier.KEPT_SETTLED_S


async def test_a_run_that_is_not_followed_elsewhere_costs_redis_nothing(stage: Stage, redis: RedisServer) -> None:
    writer = await stage.claim()
    near = stage.follow(stage.here)
    await near.until(await write_some(stage, writer))
    async with client_of(redis) as client:
        assert not await client.exists(redis_carrier.KEY % writer.run_id)
