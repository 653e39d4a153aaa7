"""The socket side: readers that take nothing are cut off, and stopping ends streams that never would."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from types import SimpleNamespace

import anyio
import pytest
from anyio.abc import SocketStream
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.base.errors import StartRefused
from outlast.kernel.http.event_stream import FIRST_MS, LEAST_SPREAD_MS, EventStream, OpenStreams
from outlast.kernel.streams.settings import StreamSettings
from outlast.surfaces.http.server import DatedState, HttpServer, bind

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNK = b"id: 1\ndata: " + b"x" * 65_536 + b"\n\n"
CALM = StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60)


class Endless:
    """Chunks without end, `closed` once nobody follows any more."""

    def __init__(self, chunk: bytes) -> None:
        self.chunk, self.closed = chunk, anyio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield self.chunk
                await anyio.sleep(0 if len(self.chunk) > 100 else 0.005)
        finally:
            self.closed.set()


async def connect(port: int) -> SocketStream:
    return await anyio.connect_tcp("127.0.0.1", port)


async def yes() -> bool:
    return True


@asynccontextmanager
async def running(app: ASGIApp, streams: OpenStreams) -> AsyncIterator[tuple[HttpServer, int]]:
    """A server of this app with its port; it stops at the end."""
    listener = bind("127.0.0.1", 0)
    server = HttpServer(app, [listener], 5, streams.close)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.run_until_stopped)
            await server.ready.wait()
            yield server, listener.getsockname()[1]
            server.stop()


@asynccontextmanager
async def serving(frames: Endless, times: StreamSettings) -> AsyncIterator[tuple[HttpServer, int]]:
    streams = OpenStreams(times)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await EventStream(aiter(frames), streams, yes)(scope, receive, send)

    async with running(app, streams) as found:
        yield found


async def all_of(client: SocketStream) -> bytes:
    """Everything until the connection ends, in whatever way."""
    received = b""
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            received += await client.receive(1_000_000)
    return received


async def test_a_reader_whose_socket_takes_nothing_is_cut_off():
    frames = Endless(CHUNK)
    async with serving(frames, replace(CALM, slow_reader_s=0.2)) as (_, port), await connect(port) as client:
        await client.send(REQUEST)
        await frames.closed.wait()
        assert not (await all_of(client)).endswith(b"0\r\n\r\n")


async def test_a_client_that_goes_away_ends_its_following():
    frames = Endless(b"data: {}\n\n")
    async with serving(frames, CALM) as (_, port):
        async with await connect(port) as client:
            await client.send(REQUEST)
            await client.receive()
        await frames.closed.wait()


async def test_stopping_ends_a_stream_in_good_order():
    frames = Endless(b"data: {}\n\n")
    async with serving(frames, CALM) as (server, port), await connect(port) as client:
        await client.send(REQUEST)
        await client.receive()
        server.stop()
        assert (await all_of(client)).endswith(b"0\r\n\r\n")
        await server.stopped.wait()


async def test_streams_of_a_stopping_server_end_with_a_time_after_which_to_reconnect_each_with_its_own():
    frames, ends = Endless(b"data: {}\n\n"), set()
    async with serving(frames, CALM) as (server, port), AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(await connect(port)) for _ in range(8)]
        for client in clients:
            await client.send(REQUEST)
            await client.receive()
        server.stop()
        for client in clients:
            found = re.search(rb"retry: (\d+)\n\n\r\n0\r\n\r\n$", await all_of(client))
            assert found is not None
            ends.add(int(found[1]))
    assert len(ends) > 1
    assert FIRST_MS <= min(ends) <= max(ends) <= FIRST_MS + LEAST_SPREAD_MS


@asynccontextmanager
async def answering(streams: OpenStreams) -> AsyncIterator[tuple[HttpServer, int]]:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("hello")(scope, receive, send)

    async with running(app, streams) as found:
        yield found


async def test_a_draining_server_answers_and_ends_each_connection_after_it():
    async with answering(OpenStreams(CALM)) as (server, port), await connect(port) as before:
        await before.send(REQUEST)
        assert b"connection: close" not in await before.receive()
        server.drain()
        for client in (before, await connect(port)):
            await client.send(REQUEST)
            answer = await all_of(client)
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"connection: close" in answer
            await client.aclose()


async def test_requests_of_connections_that_were_opened_just_before_the_stop_are_answered():
    """A balancer has sent them, and may not send them again."""
    async with answering(OpenStreams(CALM)) as (server, port):
        accepted = await connect(port)
        await anyio.sleep(0.05)  # it is accepted
        waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]  # these are not
        for one in waiting:
            one.sendall(REQUEST)
        server.stop()
        await anyio.sleep(0.05)  # it has stopped listening
        await accepted.send(REQUEST)
        assert (await all_of(accepted)).startswith(b"HTTP/1.1 200")
        await server.stopped.wait()
        for one in waiting:
            with one:
                assert one.recv(12) == b"HTTP/1.1 200"
        with pytest.raises(OSError, match=r"attempts failed|refused"):
            await connect(port)


async def test_a_connection_without_a_request_does_not_hold_the_stop_up():
    async with answering(OpenStreams(CALM)) as (server, port), await connect(port) as idle:
        await anyio.sleep(0.05)
        server.stop()
        assert await all_of(idle) == b""
        await server.stopped.wait()


def test_a_taken_port_is_refused_in_words():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(StartRefused, match="Address already in use"):
            bind("127.0.0.1", taken.getsockname()[1])


def test_each_answer_has_the_date_of_its_second(monkeypatch: pytest.MonkeyPatch):
    clock = iter([1_800_000_000.2, 1_800_000_000.9, 1_800_000_001.1])
    monkeypatch.setattr("outlast.surfaces.http.server.time", SimpleNamespace(time=lambda: next(clock)))
    state = DatedState()
    dates = [state.default_headers for _ in range(3)]
    assert dates[0] == [(b"date", b"Fri, 15 Jan 2027 08:00:00 GMT")] == dates[1]
    assert dates[2] == [(b"date", b"Fri, 15 Jan 2027 08:00:01 GMT")]


async def test_an_answer_is_dated():
    async with serving(Endless(CHUNK), replace(CALM, slow_reader_s=30)) as (_, port), await connect(port) as client:
        await client.send(REQUEST)
        assert b"\r\ndate: " in await client.receive(65_536)
