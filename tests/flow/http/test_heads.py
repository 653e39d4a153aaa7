"""Heads of requests over real sockets: bounded in size and time, and per address; honest clients notice nothing."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from anyio.abc import SocketStream

from tests.flow.http.sockets import MEBIBYTE, rest_of, send_until_closed, served

REQUEST = b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n"


def problem_in(answer: bytes) -> Any:
    return orjson.loads(answer.partition(b"\r\n\r\n")[2])


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"x-more: " + b"x" * 60_000 + b"\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nx-one: ", b"x" * 60_000),
        (b"GET /healthz?", b"x" * 60_000),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"a:b\r\n" * 12_000),
    ],
    ids=["headers", "one header", "url", "short headers"],
)
async def test_a_head_without_end_is_refused_and_takes_no_memory(begin: bytes, piece: bytes):
    # The parser kept all of it: two gigabytes in six seconds, before any check of host or token.
    async with served() as here, await here.connect() as client:
        before = resident_bytes()
        answer = b""
        async with anyio.create_task_group() as tasks:
            await client.send(begin)
            tasks.start_soon(send_until_closed, client, piece)
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                answer = await client.receive(MEBIBYTE)
        assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
        assert problem_in(answer)["code"] == "input_too_large"
        assert resident_bytes() - before < 32 * MEBIBYTE


async def test_trailers_without_end_are_cut_off():
    async with served() as here, await here.connect() as client:
        head = b"POST /wait HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        await client.send(head + b"1\r\nx\r\n0\r\n")
        before = resident_bytes()
        await send_until_closed(client, b"x-more: " + b"x" * 60_000 + b"\r\n")
        assert resident_bytes() - before < 32 * MEBIBYTE


async def test_trailers_are_no_headers():
    async with served() as here:
        sent = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = await here.ask(sent + b"1\r\nx\r\n0\r\nOrigin: http://evil.example\r\n\r\n")
        assert answer.endswith(b"POST / 1")
        assert "origin" not in dict(here.seen[0]["headers"])


async def test_a_head_just_below_the_bound_is_taken():
    async with served() as here:
        begin, end = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nx-more: ", b"\r\n\r\n"
        large = begin + b"x" * (65_536 - len(begin) - len(end)) + end
        assert (await here.ask(large)).endswith(b"GET / 0")
        assert (await here.ask(large.replace(b"x-more", b"x-more1"))).startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize("begun", [b"", b"\r\n", b"GET / HTTP/1.1\r\nHost: loc"])
async def test_a_connection_without_a_whole_head_is_closed_in_time(begun: bytes):
    async with served(head_s=0.1) as here:
        assert await here.ask(begun) == b""


async def test_a_head_that_comes_byte_by_byte_is_not_waited_for():
    async with served(head_s=0.2) as here, await here.connect() as client:
        await client.send(b"GET / HTTP/1.1\r\nx-more: ")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send_slowly, client)
            assert await rest_of(client) == b""
            tasks.cancel_scope.cancel()


async def send_slowly(client: SocketStream) -> None:
    with suppress(anyio.BrokenResourceError):
        while True:
            await client.send(b"x")
            await anyio.sleep(0.02)


async def test_half_a_second_head_on_a_kept_connection_is_closed_too():
    async with served(head_s=0.1) as here, await here.connect() as client:
        await client.send(REQUEST + REQUEST[:20])
        assert (await rest_of(client)).count(b"200 OK") == 1


async def test_an_answer_that_takes_long_is_not_cut_by_the_head_that_follows():
    async with served(head_s=0.02) as here, await here.connect() as client:
        await client.send(b"GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n" + REQUEST[:20])
        await anyio.sleep(0.2)
        here.go.set()
        assert (await client.receive()).startswith(b"HTTP/1.1 200")


async def test_requests_one_after_the_other_and_all_at_once_are_answered_in_order():
    async with served() as here, await here.connect() as client:
        for _ in range(3):
            await client.send(REQUEST)
            assert b"GET /v1/me 0" in await client.receive()
        body = b"x" * 200_000
        post = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        post += b"Content-Length: %d\r\n\r\n" % len(body) + body
        last = b"GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        await client.send(REQUEST * 5 + post + REQUEST + last)
        answers = await rest_of(client)
        assert [line for line in answers.split(b"\r\n") if b"/" in line and b"HTTP" not in line and b"GET" in line]
        assert answers.count(b"HTTP/1.1 200 OK") == 8
        assert answers.index(b"POST /v1/runs 200000") < answers.index(b"GET /last 0")


async def test_idle_connections_beyond_the_bound_of_an_address_are_closed():
    async with served(per_address=20, crowded_s=0.05) as here, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(await here.connect()) for _ in range(60)]
        closed = 0
        for client in clients[20:]:
            closed += await rest_of(client) == b""
        assert closed == 40
        assert len(here.server.heads) == 20
        await clients[0].send(REQUEST)
        assert b"200 OK" in await clients[0].receive()


async def test_a_burst_of_honest_clients_from_one_address_is_answered():
    async with served(per_address=5) as here, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(await here.connect()) for _ in range(50)]
        for client in clients:
            await client.send(REQUEST)
        for client in clients:
            assert b"200 OK" in await client.receive()
        assert len(here.server.heads) == 0


async def test_connections_that_have_sent_a_head_do_not_count():
    async with served(per_address=5, crowded_s=0.05) as here, AsyncExitStack() as stack:
        for _ in range(20):
            client = await stack.enter_async_context(await here.connect())
            await client.send(b"GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await here.wait_seen(20)
        assert (await here.ask(REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))).count(b"200 OK") == 1


@pytest.mark.parametrize("header", ["Host", "Origin"])
async def test_two_headers_that_say_who_asks_are_refused(header: str):
    # The first one counted, so that something in front of the server could have checked the other.
    async with served() as here:
        value = b"localhost" if header == "Host" else b"http://localhost"
        twice = b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
        answer = await here.ask(twice + b"%b: %b\r\n\r\n" % (header.encode(), value))
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert problem_in(answer)["code"] == "malformed_input"
        assert here.seen == []


async def test_the_host_in_a_target_is_the_one_that_is_checked():
    async with served() as here:
        tail = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert (await here.ask(b"GET http://evil.example/v1/me" + tail)).startswith(b"HTTP/1.1 403 ")
        assert (await here.ask(b"GET http://localhost:9/v1/me" + tail)).endswith(b"GET /v1/me 0")


async def test_an_origin_that_is_no_address_is_refused():
    # Its brackets made the check itself fail: 500.
    async with served() as here:
        answer = await here.ask(REQUEST.replace(b"\r\n\r\n", b"\r\nOrigin: http://[\r\nConnection: close\r\n\r\n"))
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert problem_in(answer)["code"] == "origin_refused"


async def test_what_is_no_request_is_told_as_a_problem():
    async with served() as here:
        answer = await here.ask(b"\x16\x03\x01\x02\x00 nonsense\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert problem_in(answer)["code"] == "malformed_input"
