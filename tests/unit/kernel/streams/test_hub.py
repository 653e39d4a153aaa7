"""The live tail: what memory holds, who is woken, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import anyio
import pytest

from outlast.kernel.streams import channel as module
from outlast.kernel.streams.channel import Channel, Direct
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.log_store import Line
from outlast.kernel.streams.sse import event_frame
from outlast.kernel.streams.writer import RunWriter
from outlast.testing.clock import ManualClock

RUN = "run_1"


def lines(first: int, last: int) -> list[Line]:
    return [(seq, b'{"event":"text.delta","n":%d}' % seq) for seq in range(first, last + 1)]


@pytest.fixture
def channel() -> Iterator[Channel]:
    hub = Hub()
    with hub.listen(RUN):
        yield hub.write(RUN, 10, 1)


def test_a_chunk_holds_everything_after_the_cursor_once(channel: Channel) -> None:
    channel.publish(lines(11, 14))
    assert channel.chunk(12, b"") == (14, b"".join(event_frame(b"%d" % seq, text) for seq, text in lines(13, 14)))
    assert channel.chunk(12, b"7~run_1:")[1].startswith(b"id: 7~run_1:13\ndata: ")
    channel.publish(lines(15, 15))
    assert channel.chunk(12, b"")[1].count(b"\n\n") == 3
    assert channel.chunk(15, b"") == (15, b"")


def test_followers_at_one_cursor_share_one_chunk(channel: Channel) -> None:
    channel.publish(lines(11, 14))
    assert channel.chunk(11, b"")[1] is channel.chunk(11, b"")[1]


def test_numbers_may_begin_after_a_gap(channel: Channel) -> None:
    channel.publish(lines(5_001, 5_002))
    assert channel.chunk(10, b"")[1].count(b"\n\n") == 2
    assert channel.chunk(4_000, b"")[1].count(b"\n\n") == 2
    assert channel.chunk(5_001, b"")[1].count(b"\n\n") == 1


def test_only_what_is_saved_is_forgotten_and_the_newest_stays(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TAIL_LINES", 20)
    channel.publish(lines(11, 60))
    channel.trim(10)
    assert (channel.base, channel.chunk(10, b"")[1].count(b"\n\n")) == (10, 50)
    channel.trim(60)
    assert channel.base == 40
    assert channel.chunk(40, b"")[1].count(b"\n\n") == 20


def test_the_end_of_the_stream_is_known(channel: Channel) -> None:
    channel.publish([(11, b'{"event":"stream.ended"}')])
    assert channel.ended


async def test_a_quiet_channel_wakes_at_once_and_a_busy_one_at_most_every_tick() -> None:
    hub = Hub()
    channel = hub.write(RUN, 0, 1)
    woken = 0

    async def follow() -> None:
        nonlocal woken
        with hub.listen(RUN):
            while not channel.ended:
                version = channel.version
                await channel.wait(version)
                woken += 1

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        loop = asyncio.get_running_loop()
        began = loop.time()
        for seq in range(1, 2_001):
            channel.publish(lines(seq, seq))
            await anyio.lowlevel.checkpoint()
        channel.publish([(2_001, b'{"event":"stream.ended"}')])
        await anyio.wait_all_tasks_blocked()
        took = loop.time() - began
    assert 1 <= woken <= 2 + took / module.MIN_TICK_S


async def test_no_ring_between_looking_and_waiting_is_missed() -> None:
    hub = Hub()
    with hub.listen(RUN) as channel:
        version = channel.version
        hub.ring(RUN)
        with anyio.fail_after(60):
            await channel.wait(version)
        hub.ring("*")
        with anyio.fail_after(60):
            await channel.wait(version + 1)


async def test_news_of_a_thread_wakes_those_who_are_shown_its_run() -> None:
    hub = Hub()
    with hub.listen("thr_1") as own, hub.listen(RUN) as shown:
        shown.link(own)
        before = shown.version
        hub.ring("thr_1")
        assert shown.version > before
        shown.unlink(own)
        before = shown.version
        hub.ring("thr_1")
        assert shown.version == before


def test_channels_without_followers_or_writer_are_forgotten() -> None:
    hub = Hub()
    with hub.listen(RUN) as listened:
        assert hub.followed("run_") == [RUN]
    channel = hub.write(RUN, 0, 1)
    channel.publish([])
    assert channel is not listened
    with hub.listen(RUN) as listened:
        assert listened is channel
    hub.unwrite(RUN, channel.generation)
    hub.unwrite(RUN, channel.generation)
    with hub.listen(RUN) as listened:
        assert listened is not channel
    assert hub.followed("run_") == []


def test_watching_is_told_only_when_it_begins_and_ends() -> None:
    hub, told = Hub(), list[tuple[str, int]]()
    hub.on_watch(lambda thread_id, watchers: told.append((thread_id, watchers)))
    with hub.watch("thr_1"), hub.watch("thr_1"):
        assert hub.watchers("thr_1") == 2
        assert hub.watched() == ["thr_1"]
    assert told == [("thr_1", 1), ("thr_1", 0)]
    assert hub.watched() == []


def test_a_writer_that_was_replaced_shows_and_closes_nothing_any_more() -> None:
    hub = Hub()
    old, new = (RunWriter(None, hub, ManualClock(), RUN, n, 0, n * 100, 1000) for n in (1, 2))  # type: ignore[arg-type]
    with hub.listen(RUN) as channel:
        old.open()
        old.stream([("text.delta", "prt_1", "old")])
        new.open()
        new.stream([("text.delta", "prt_1", "new")])
        old.stream([("text.delta", "prt_1", "late")])
        old.close()
        assert channel.writing
        assert [seq for seq, _ in channel._lines] == [200]
        new.close()
        assert not channel.writing


def test_a_writer_that_begins_after_a_newer_one_shows_nothing() -> None:
    hub = Hub()
    old, new = (RunWriter(None, hub, ManualClock(), RUN, n, 0, n * 100, 1000) for n in (1, 2))  # type: ignore[arg-type]
    with hub.listen(RUN) as channel:
        for is_open in (True, False):
            new.open() if is_open else new.close()
            old.open()
            old.stream([("text.delta", "prt_1", "late")])
            old.close()
            assert channel.writing is is_open
            assert channel.generation == 2
            assert channel._lines == []


async def test_only_a_channel_in_which_nothing_came_between_two_looks_is_still(channel: Channel) -> None:
    channel.look_again()
    channel.publish(lines(11, 12))
    channel.look_again()
    still, version = [channel.is_still], channel.version
    channel.look_again()
    still.append(channel.is_still)
    assert channel.version > version
    channel.look_again()  # it goes on waking them
    still.append(channel.is_still)
    channel.publish(lines(13, 13))
    assert [*still, channel.is_still] == [False, True, True, False]


def test_memory_holds_nothing_for_a_cursor_of_a_newer_attempt(channel: Channel) -> None:
    channel.publish(lines(11, 14))
    assert channel.covers(14)
    assert not channel.covers(5_001)


async def test_a_place_that_a_newer_attempt_has_reached_is_not_set_back(channel: Channel) -> None:
    direct = Direct(lambda _: True, b"", 5_001)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(channel.wait, channel.version, direct)
        await anyio.wait_all_tasks_blocked()
        channel.publish(lines(11, 14))
        await anyio.sleep(2 * module.MAX_TICK_S)
        tasks.cancel_scope.cancel()
    assert direct.after == 5_001
