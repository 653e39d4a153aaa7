"""Live answers: what is sent, and every way they end."""

import anyio
import pytest

from outlast.base.errors import RateLimited
from outlast.kernel.accounts.actor import ACCESS_BELL
from outlast.kernel.http.event_stream import ABORT, EventStream, OpenStreams
from outlast.kernel.streams.settings import StreamSettings
from outlast.kernel.streams.sse import HEARTBEAT, OPENING

QUICK = StreamSettings(heartbeat_s=0.01, slow_reader_s=0.05, recheck_s=0.02)
CALM = StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60)


async def yes() -> bool:
    return True


class Client:
    """Receives what a stream sends; `stall` makes its socket take nothing."""

    def __init__(self) -> None:
        self.messages: list = []
        self.left = anyio.Event()
        self.aborted = False
        self.stall = False
        self.news = anyio.Event()
        self.scope = {"type": "http", "path": "/x", "extensions": {ABORT: self.abort}}

    async def receive(self):
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message) -> None:
        if self.stall:
            await anyio.sleep_forever()
        self.messages.append(message)
        self.news.set()
        self.news = anyio.Event()

    async def until(self, wanted: bytes) -> None:
        while wanted not in self.bodies:
            await self.news.wait()

    def abort(self) -> None:
        self.aborted = True

    @property
    def bodies(self) -> list[bytes]:
        return [message.get("body", b"") for message in self.messages[1:]]

    @property
    def complete(self) -> bool:
        return self.messages[-1].get("more_body") is False


class Frames:
    """Chunks, then silence for ever unless `ends`; knows whether it was closed."""

    def __init__(self, *chunks: bytes, ends: bool = False) -> None:
        self.chunks, self.ends, self.closed = chunks, ends, False

    async def __aiter__(self):
        try:
            for chunk in self.chunks:
                yield chunk
            if not self.ends:
                await anyio.sleep_forever()
        finally:
            self.closed = True


@pytest.fixture
def client() -> Client:
    return Client()


async def serve(client: Client, frames: Frames, streams: OpenStreams, may_read=yes) -> None:
    await EventStream(aiter(frames), streams, may_read)(client.scope, client.receive, client.send)


async def test_chunks_are_sent_as_they_come_and_the_answer_ends_with_them(client):
    frames = Frames(b"id: 1\ndata: {}\n\n", b"id: 2\ndata: {}\n\n", ends=True)
    await serve(client, frames, OpenStreams(CALM))
    assert client.messages[0]["status"] == 200
    assert (b"content-type", b"text/event-stream; charset=utf-8") in client.messages[0]["headers"]
    assert client.bodies == [OPENING, b"id: 1\ndata: {}\n\n", b"id: 2\ndata: {}\n\n", b""]
    assert client.complete
    assert frames.closed


async def test_a_client_that_leaves_ends_the_following(client):
    frames = Frames(b"a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, client, frames, OpenStreams(CALM))
        await client.until(b"a")
        client.left.set()
    assert frames.closed
    assert not client.complete


async def test_a_silent_stream_sends_heartbeats(client):
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, client, Frames(), OpenStreams(QUICK))
        await client.until(HEARTBEAT)
        client.left.set()


async def test_a_reader_whose_socket_takes_nothing_is_cut_off(client):
    frames = Frames(b"a", b"b")

    async def until_stalled(message) -> None:
        client.stall = message.get("body") == b"b"
        await Client.send(client, message)

    streams = OpenStreams(QUICK)
    await EventStream(aiter(frames), streams, yes)(client.scope, client.receive, until_stalled)
    assert client.aborted
    assert frames.closed
    assert len(streams) == 0


async def test_a_silent_reader_that_takes_no_heartbeat_is_cut_off(client):
    async def not_a_beat(message) -> None:
        client.stall = message.get("body") == HEARTBEAT
        await Client.send(client, message)

    await EventStream(aiter(Frames()), OpenStreams(QUICK), yes)(client.scope, client.receive, not_a_beat)
    assert client.aborted


async def test_a_reader_who_lost_the_right_is_closed(client):
    asked = []

    async def not_any_more() -> bool:
        asked.append(1)
        return len(asked) < 2

    await serve(client, Frames(b"a"), OpenStreams(QUICK), not_any_more)
    assert client.complete
    assert len(asked) == 2


async def test_stopping_ends_every_stream_and_each_new_one(client):
    streams = OpenStreams(CALM)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, client, Frames(b"a"), streams)
        await client.until(b"a")
        streams.close()
    assert client.complete
    later = Client()
    await serve(later, Frames(b"a"), streams)
    assert later.complete


async def test_a_reader_who_lost_the_right_is_let_go_at_once_and_the_others_read_on(client):
    streams, other, allowed = OpenStreams(CALM), Client(), True

    async def may_read() -> bool:
        return allowed

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, other, Frames(b"b"), streams)
        async with anyio.create_task_group() as mine:
            mine.start_soon(serve, client, Frames(b"a"), streams, may_read)
            await client.until(b"a")
            await other.until(b"b")
            await anyio.wait_all_tasks_blocked()
            allowed = False
            streams.on_bell("thr_1")
            streams.on_bell(ACCESS_BELL)
        assert client.complete
        assert not other.complete
        other.left.set()


async def test_one_user_follows_so_many_streams_at_once_and_others_theirs():
    streams = OpenStreams(CALM, per_user=2)
    with streams.places.taken("usr_1"), streams.places.taken("usr_2"):
        client, stream = Client(), EventStream(aiter(Frames()), streams, yes, "usr_1")
        with streams.places.taken("usr_1"), pytest.raises(RateLimited) as refused:
            await stream(client.scope, client.receive, client.send)
        assert refused.value.fields["limit"] == 2
        with streams.places.taken("usr_1"):
            pass


def test_streams_without_a_bound_or_a_user_are_not_counted_against_anybody():
    for streams, user in ((OpenStreams(CALM), "usr_1"), (OpenStreams(CALM, per_user=1), "")):
        with streams.places.taken(user), streams.places.taken(user):
            pass


async def test_the_more_streams_a_stopping_server_has_the_longer_the_time_over_which_their_clients_come_back() -> None:
    def latest(count: int) -> int:
        streams = OpenStreams(CALM)
        for _ in range(count):
            streams.enter(anyio.CancelScope())
        streams.close()
        return max(int(streams.last_frame().split()[1]) for _ in range(500))

    assert OpenStreams(CALM).last_frame() == b""
    assert latest(3) <= 2_250
    assert 6_000 < latest(1_000) <= 10_250
    assert latest(10_000) <= 30_250
