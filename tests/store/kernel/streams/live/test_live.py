"""The behaviour of every adapter: what one node writes is followed on the other, each event once and in order."""

from __future__ import annotations

import anyio

from outlast.kernel.runs.shapes import RunReference
from tests.live_stage import Stage, record


async def test_what_one_node_writes_a_follower_on_the_other_gets_once_and_in_order(stage: Stage) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    for _ in range(50):
        stage.here.delta(writer)
        await anyio.sleep(0.002)
    last = await stage.end(writer)
    await follower.until(last)
    assert follower.numbers == await stage.saved()
    assert follower.events[-1]["event"] == "stream.ended"


async def test_text_arrives_long_before_it_would_be_saved_otherwise(stage: Stage) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    await follower.until(1)
    await anyio.sleep(0.1)
    for _ in range(5):
        began, number = anyio.current_time(), stage.here.delta(writer)
        await follower.until(number, within_s=0.6)
        assert anyio.current_time() - began < 0.6
    assert follower.pushed, "live text takes the short way to the connection"


async def test_a_follower_that_comes_in_the_middle_gets_everything(stage: Stage) -> None:
    writer = await stage.claim()
    for _ in range(10):
        stage.here.delta(writer)
    early = stage.follow()
    await early.until(11)
    number = stage.here.delta(writer)
    late = stage.follow(cursor=5)
    await late.until(number)
    again = stage.follow(stage.here, cursor=3)
    await again.until(number)
    assert late.numbers == list(range(6, number + 1))
    assert again.numbers == list(range(4, number + 1))


async def test_a_cursor_from_the_node_that_writes_goes_on_at_the_other(stage: Stage) -> None:
    writer = await stage.claim()
    for _ in range(20):
        stage.here.delta(writer)
    follower = stage.follow(cursor=15)  # shown here, and not saved
    number = stage.here.delta(writer)
    await follower.until(number)
    assert follower.numbers == list(range(16, number + 1))


async def test_the_next_attempt_on_the_other_node_is_followed_on_both(stage: Stage) -> None:
    first = await stage.claim()
    near, far = stage.follow(stage.here), stage.follow(stage.there)
    number = stage.here.delta(first)
    await near.until(number)
    await far.until(number)
    stage.here.flusher.remove(first)
    first.close()
    second = await stage.claim(stage.there)
    for _ in range(10):
        stage.there.delta(second)
    last = await stage.end(second, stage.there)
    for follower in (near, far):
        await follower.until(last)
        assert follower.numbers == sorted(set(follower.numbers))
        assert follower.numbers[-11:] == list(range(last - 10, last + 1))


async def test_what_an_older_attempt_still_sends_is_not_shown_after_the_newer_ones(stage: Stage) -> None:
    old = await stage.claim()
    far = stage.follow()
    await far.until(1)
    new = await stage.claim(stage.there)
    await far.until(new._seq - 1)
    stage.here.delta(old)
    await anyio.sleep(0.2)
    number = stage.there.delta(new)
    await far.until(number)
    assert far.numbers == sorted(set(far.numbers))
    assert not [seq for seq in far.numbers if new.run_id == old.run_id and old._seq - 1 <= seq < new._seq - 3]


async def test_facts_and_text_keep_their_order(stage: Stage) -> None:
    writer = await stage.claim()
    follower = stage.follow()
    for _ in range(5):
        stage.here.delta(writer)
        await record(writer, ("run.resumed", RunReference(run_id=stage.run_id)))
        stage.here.delta(writer)
    last = await stage.end(writer)
    await follower.until(last)
    assert follower.numbers == await stage.saved()
