"""Followers on both nodes see each event once and in order, whatever happens to writers, attempts and the transport."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from outlast.base.errors import OutlastError
from outlast.kernel.runs.shapes import RunReference
from outlast.kernel.streams.live.open import open_client
from outlast.kernel.streams.writer import RunWriter
from outlast.testing.redis import RedisServer
from tests.live_stage import Follower, Node, Stage, new_run, record

OPS = st.one_of(
    st.tuples(st.just("stream"), st.integers(1, 9)),
    st.tuples(st.just("record"), st.integers(1, 3)),
    st.tuples(st.just("flush"), st.just(0)),
    st.tuples(st.just("follow"), st.integers(0, 3)),  # on one of the nodes, from the start or in the middle
    st.tuples(st.just("wait"), st.just(0)),  # until a follower has everything
    st.tuples(st.just("take_over"), st.integers(0, 1)),  # the next attempt begins on a node, and the old one goes on
    st.tuples(st.just("late"), st.integers(1, 3)),  # the old one streams, unaware
    st.tuples(st.just("lose"), st.just(0)),  # all that Redis has
)


@dataclass
class Play:
    """One run on a stage, with its writer and, after a takeover, the one that lost it."""

    stage: Stage
    redis_url: str
    writer: RunWriter
    node: Node
    old: list[tuple[Node, RunWriter]] = field(default_factory=list)
    followers: list[Follower] = field(default_factory=list)

    async def do(self, op: str, count: int) -> None:
        stage = self.stage
        if op == "stream":
            self.node.delta(self.writer, " ".join(["word"] * count))
            for _ in range(count - 1):
                self.node.delta(self.writer)
        elif op == "record":
            await record(self.writer, *[("run.resumed", RunReference(run_id=stage.run_id))] * count)
        elif op == "flush":
            await self.writer.flush()
        elif op == "follow":
            cursor = self.writer._seq - 1 if count > 1 else 0
            self.followers.append(stage.follow((stage.here, stage.there)[count % 2], cursor))
        elif op == "wait" and not self.old:  # beside a writer that lost its run, followers wait until it notices
            await self.followers[-1].until(self.writer._seq - 1)
        elif op == "take_over":
            self.old.append((self.node, self.writer))
            self.node = (stage.here, stage.there)[count]
            self.writer = await stage.claim(self.node)
        elif op == "late" and self.old:
            for _ in range(count):
                node, old = self.old[-1]
                node.delta(old)
        elif op == "lose" and self.redis_url:
            client = open_client(self.redis_url)
            await client.flushall()
            await client.aclose()


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a failure waits for its deadline: shrinking takes minutes
)
@given(ops=st.lists(OPS, min_size=8, max_size=25))
async def test_each_event_once_in_order_on_both_nodes(
    stage: Stage, request: pytest.FixtureRequest, ops: list[tuple[str, int]]
) -> None:
    stage.run_id = await stage.here.db.write(new_run)
    uses_redis = "redis" in request.node.name
    redis: RedisServer | None = request.getfixturevalue("redis") if uses_redis else None
    play = Play(stage, redis.url if redis else "", await stage.claim(), stage.here)
    first = stage.follow(stage.here)
    play.followers += [first, stage.follow(stage.there)]
    for op, count in ops:
        await play.do(op, count)
    last = await stage.end(play.writer, play.node)
    for node, old in play.old:
        node.flusher.remove(old)
        old.close()
        with pytest.raises(OutlastError):  # it lost the run
            await old.record([], lambda _: None)
    saved = await stage.saved()
    for follower in play.followers:
        await follower.until(last)
        assert follower.numbers == sorted(set(follower.numbers))
        assert {number for number in saved if number > follower.began} <= set(follower.numbers)
