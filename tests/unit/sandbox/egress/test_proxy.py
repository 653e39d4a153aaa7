"""One sandbox's proxy, asked by a client on the loopback interface, in a world of stand-ins."""

from __future__ import annotations

import asyncio
import base64
import resource

import anyio
import anyio.lowlevel
import pytest

from outlast_sandbox.egress import proxy
from tests.hosts import Host
from tests.unit.sandbox.egress.conftest import SECRET, Proxied, Use, settings

API = "api.example.com"


async def test_a_placeholder_is_replaced_in_the_headers_of_a_request_to_its_host(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    mark = proxied.placeholder()
    answer = await client.ask(f"GET /v1?q=1 HTTP/1.1\r\nHost: {API}\r\nX-Key: Bearer {mark}\r\n\r\n".encode())
    assert answer.status == 200
    assert f"X-Key: Bearer {SECRET}".encode() in host.requests[0]
    assert proxied.uses.uses == [Use("A_KEY", "usr_1", API, 200)]


async def test_a_host_that_echoes_the_secret_does_not_tell_it_to_the_sandbox(proxied: Proxied) -> None:
    await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\nX-Key: {proxied.placeholder()}\r\n\r\n".encode())
    assert SECRET.encode() not in answer.body
    assert b"X-Key: " + b"*" * len(SECRET) in answer.body


async def test_basic_credentials_are_opened_to_find_a_placeholder_in_them(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    credentials = base64.b64encode(f"me:{proxied.placeholder()}".encode()).decode()
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\nAuthorization: Basic {credentials}\r\n\r\n".encode())
    wanted = base64.b64encode(f"me:{SECRET}".encode())
    assert b"Basic " + wanted in host.requests[0]
    assert base64.b64encode(f"{SECRET}".encode())[4:-4] not in answer.body


async def test_the_placeholder_of_another_hosts_secret_stays_a_placeholder(proxied: Proxied) -> None:
    host = await proxied.host("api.other.example")
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure("api.other.example")
    mark = proxied.placeholder("A_KEY")
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: api.other.example\r\nX-Key: {mark}\r\n\r\n".encode())
    assert answer.status == 200
    assert mark.encode() in host.requests[0]
    assert proxied.uses.uses == []


async def test_many_requests_share_the_connections_to_a_host(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    for _ in range(3):
        client = await proxied.secure(API)
        for _ in range(3):
            answer = await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())
            assert answer.status == 200
        client.writer.close()
    assert len(host.requests) == 9
    assert host.connections == 1


async def test_a_kept_connection_that_the_host_has_closed_costs_a_repeatable_request_nothing(proxied: Proxied) -> None:
    def once(head: bytes, body: bytes) -> bytes:
        return b"" if len(host.requests) == 2 else b"HTTP/1.1 204 No Content\r\n\r\n"

    host = await proxied.host("plain.example", 80, Host(once))
    await proxied.start(settings(allow=["plain.example"]))
    client = await proxied.client()
    for _ in range(2):
        answer = await client.ask(b"GET http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n")
        assert answer.status == 204
    assert len(host.requests) == 3
    assert host.connections == 2


async def test_a_connection_that_nobody_uses_is_closed(proxied: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "IDLE_S", 0.05)
    await proxied.host("plain.example", 80)
    await proxied.start(settings(allow=["plain.example"]))
    client = await proxied.client()
    request = b"GET http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n"
    assert (await client.ask(request)).status == 200
    assert await client.rest() == b""
    assert proxied.proxy.statistics().requests == 1


async def test_no_more_than_a_bounded_number_of_connections_is_served_at_a_time(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "places", lambda: 2)
    await proxied.host("plain.example", 80)
    await proxied.start(settings(allow=["plain.example"]))
    request = b"GET http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n"
    first, second, third = [await proxied.client() for _ in range(3)]
    assert (await first.ask(request)).status == (await second.ask(request)).status == 200
    await third.send(request)
    await anyio.wait_all_tasks_blocked()
    assert proxied.proxy.statistics().requests == 2
    first.writer.close()
    assert (await third.head()).status == 200


async def test_plain_http_through_connect_is_understood_for_clients_that_always_connect(proxied: Proxied) -> None:
    host = await proxied.host("plain.example", 80)
    await proxied.start(settings(allow=["plain.example"]))
    answer, client = await proxied.connected("plain.example:80")
    assert answer.status == 200
    for _ in range(2):
        assert (await client.ask(b"GET /a HTTP/1.1\r\nHost: plain.example\r\n\r\n")).status == 200
    assert [head.split(b"\r\n")[0] for head in host.requests] == [b"GET /a HTTP/1.1"] * 2


async def test_an_http_1_0_client_is_answered_in_its_way(proxied: Proxied) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    await proxied.host("plain.example", 80, Host(lambda *_: chunked))
    await proxied.start(settings(allow=["plain.example"]))
    client = await proxied.client()
    await client.send(b"GET http://plain.example/ HTTP/1.0\r\n\r\n")
    answer = await client.head()
    assert b"chunked" not in answer.head
    assert await client.rest() == b"hello"


async def test_requests_sent_one_behind_the_other_are_answered_in_order(proxied: Proxied) -> None:
    await proxied.host("plain.example", 80)
    await proxied.start(settings(allow=["plain.example"]))
    client = await proxied.client()
    both = b"".join(
        b"POST http://plain.example/%d HTTP/1.1\r\nHost: plain.example\r\nContent-Length: 3\r\n\r\nabc" % number
        for number in range(5)
    )
    await client.send(both)
    for number in range(5):
        assert (await client.ask(b"")).body.startswith(b"POST /%d HTTP/1.1" % number)


async def test_connection_after_connection_is_taken_at_a_bounded_pace(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox that does nothing but connect must leave the server time for others."""
    monkeypatch.setattr(proxy, "MAX_PER_SECOND", 3)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    await proxied.host("plain.example", 80)
    await proxied.start(settings(allow=["plain.example"]))
    for _ in range(20):
        client = await proxied.client()
        answer = await client.ask(b"GET http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n")
        assert answer.status == 200
    assert len(waits) >= 5
    assert all(0 <= wait <= 1 for wait in waits)


@pytest.mark.parametrize(("files", "expected"), [(256, 16), (1024, 16), (4096, 64), (1_000_000, 256), (-1, 256)])
def test_a_sandbox_gets_a_share_of_the_servers_descriptors(
    monkeypatch: pytest.MonkeyPatch, files: int, expected: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert proxy.places() == expected


GIVEN_UP = [
    b"",
    b"GET http://plain.ex",
    b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n",
    b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n\x16\x03\x01\x02\x00\x01\x00",
    b"POST http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\nContent-Length: 100000\r\n\r\nabc",
    b"POST http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    b"GET http://plain.example/endless HTTP/1.1\r\nHost: plain.example\r\n\r\n",
    b"GET http://plain.example/silent HTTP/1.1\r\nHost: plain.example\r\n\r\n",
]


async def test_whenever_a_client_gives_up_nothing_of_it_stays(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "HALF_CLOSED_S", 0.05)
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /endless"):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while not writer.is_closing():
                writer.write(b"x" * 100_000)
                await writer.drain()
        if head.startswith(b"GET /silent"):
            await over.wait()
        await reader.read()

    await proxied.door("plain.example", 80, serve, None)
    await proxied.host(API)
    await proxied.start(settings(allow=["plain.example"], hosts=[API]))
    for data in GIVEN_UP * 3:
        client = await proxied.client()
        await client.send(data)
        if b"endless" in data or b"CONNECT" in data:
            await client.head()
        client.writer.transport.abort()
    over.set()
    with anyio.fail_after(30):
        while proxied.proxy.statistics().open > 1:  # one place is kept for whoever comes next
            await anyio.lowlevel.checkpoint()


async def test_a_client_that_has_said_all_still_gets_its_answer_but_not_for_ever(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    await proxied.host("plain.example", 80)
    await proxied.start(settings(allow=["plain.example"]))
    client = await proxied.client()
    client.writer.write(b"GET http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n")
    client.writer.write_eof()
    assert (await client.ask(b"")).status == 200
    assert await client.rest() == b""
    monkeypatch.setattr(proxy, "HALF_CLOSED_S", 0.05)
    silent = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()

    await proxied.door("silent.example", 80, serve, None)
    proxied.world.doors[proxied.world.names["plain.example"][0][0], 80] = proxied.world.doors[
        proxied.world.names["silent.example"][0][0], 80
    ]
    client = await proxied.client()
    client.writer.write(b"POST http://plain.example/x HTTP/1.1\r\nHost: plain.example\r\nContent-Length: 9\r\n\r\nabc")
    client.writer.write_eof()
    assert b"200" not in await client.rest()
