"""Followers that are reached without waking their task: given each line once, woken for all else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from outlast.kernel.streams.channel import Channel, Direct
from outlast.kernel.streams.hub import Hub

RUN = "run_1"


class Connection:
    """Takes chunks until it is full."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.full = False

    def push(self, body: bytes) -> bool:
        if not self.full:
            self.taken.append(body)
        return not self.full


@asynccontextmanager
async def waiting(channel: Channel, direct: Direct) -> AsyncIterator[anyio.Event]:
    """A follower that waits; the event is set once it has been woken."""
    woken = anyio.Event()

    async def wait() -> None:
        await channel.wait(channel.version, direct)
        woken.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        yield woken
        tasks.cancel_scope.cancel()


@pytest.fixture
def hub() -> Hub:
    return Hub()


async def test_lines_are_given_once_each_without_waking_the_follower(hub: Hub) -> None:
    connection = Connection()
    with hub.listen(RUN) as channel:
        hub.write(RUN, 0, 1)
        direct = Direct(connection.push, b"", 0)
        async with waiting(channel, direct) as woken:
            for seq in (1, 2):
                channel.publish([(seq, b"{}")])
                while direct.after < seq:
                    await anyio.lowlevel.checkpoint()
            assert not woken.is_set()
    assert connection.taken == [b"id: 1\ndata: {}\n\n", b"id: 2\ndata: {}\n\n"]


async def test_a_connection_that_is_full_has_its_follower_woken_with_nothing_lost(hub: Hub) -> None:
    connection = Connection()
    with hub.listen(RUN) as channel:
        hub.write(RUN, 0, 1)
        direct = Direct(connection.push, b"", 0)
        async with waiting(channel, direct) as woken:
            connection.full = True
            channel.publish([(1, b"{}")])
            await woken.wait()
        assert direct.after == 0
        assert channel.chunk(direct.after, b"") == (1, b"id: 1\ndata: {}\n\n")


async def test_the_end_of_the_stream_is_the_followers_own_to_read(hub: Hub) -> None:
    connection = Connection()
    with hub.listen(RUN) as channel:
        hub.write(RUN, 0, 1)
        direct = Direct(connection.push, b"", 0)
        async with waiting(channel, direct) as woken:
            channel.publish([(1, b'{"event":"stream.ended"}')])
            await woken.wait()
    assert connection.taken == []


async def test_other_news_wakes_also_those_whose_connection_takes_all(hub: Hub) -> None:
    connection = Connection()
    with hub.listen(RUN) as channel, hub.listen("thr_1") as thread:
        hub.write(RUN, 0, 1)
        channel.link(thread)
        direct = Direct(connection.push, b"", 0)
        async with waiting(channel, direct) as woken:
            thread.ring()
            await woken.wait()


async def test_who_is_behind_what_memory_holds_reads_for_itself(hub: Hub) -> None:
    connection = Connection()
    with hub.listen(RUN) as channel:
        hub.write(RUN, 7, 1)
        direct = Direct(connection.push, b"", 3)
        async with waiting(channel, direct) as woken:
            channel.publish([(8, b"{}")])
            await woken.wait()
    assert connection.taken == []


async def test_a_connection_that_fails_is_left_to_its_follower_and_the_others_get_every_line(hub: Hub) -> None:
    """What a connection raised reached the run that was being written, and followers after it were never woken."""

    def fail(_body: bytes) -> bool:
        raise RuntimeError("the transport is closed")

    connection = Connection()
    with hub.listen(RUN) as channel:
        hub.write(RUN, 0, 1)
        broken, sound = Direct(fail, b"", 0), Direct(connection.push, b"", 0)
        async with waiting(channel, broken) as woken, waiting(channel, sound) as others:
            channel.publish([(1, b"{}")])
            await woken.wait()
            assert not others.is_set()
        assert (broken.after, sound.after) == (0, 1)
    assert connection.taken == [b"id: 1\ndata: {}\n\n"]
