"""Bodies, upgrades and versions: what goes through the proxy arrives as it was sent, as soon as it was sent."""

from __future__ import annotations

import asyncio
import base64
import gzip
import os
import zlib

import anyio
import pytest

from outlast_sandbox.egress import http_exchange as passage
from tests.hosts import Host, Http2Host, read_body
from tests.unit.sandbox.egress.conftest import SECRET, Proxied, Use, settings

API = "api.example.com"
GET = f"GET / HTTP/1.1\r\nHost: {API}\r\n".encode()
POST = f"POST / HTTP/1.1\r\nHost: {API}\r\n".encode()


async def scripted(proxied: Proxied, script: list[bytes | asyncio.Event], host: str = API) -> None:
    """A host that, asked, sends these pieces, waiting for each event in between, and then closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in script:
            if isinstance(piece, bytes):
                writer.write(piece)
                await writer.drain()
            else:
                await piece.wait()

    await proxied.door(host, 443, serve, proxied.trust.server(host))


async def test_each_piece_of_an_answer_comes_as_soon_as_the_host_sends_it(proxied: Proxied) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    await scripted(proxied, [head, first, b"5\r\nhello\r\n", second, b"5\r\nworld\r\n0\r\n\r\n"])
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    await client.send(GET + b"\r\n")
    assert (await client.head()).status == 200
    first.set()
    assert await client.reader.readexactly(10) == b"5\r\nhello\r\n"
    second.set()
    assert await client.reader.readexactly(15) == b"5\r\nworld\r\n0\r\n\r\n"


async def test_a_secret_cut_in_two_by_the_hosts_pieces_is_hidden_all_the_same(proxied: Proxied) -> None:
    gate = asyncio.Event()
    half, rest = SECRET.encode()[:7], SECRET.encode()[7:]
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (b"you sent " + half, rest + b" to us")]
    await scripted(proxied, [head, pieces[0], gate, pieces[1] + b"0\r\n\r\n"])
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    with anyio.fail_after(30):
        asking = asyncio.Event()
        async with anyio.create_task_group() as tasks:

            async def open_gate() -> None:
                await asking.wait()
                gate.set()

            tasks.start_soon(open_gate)
            asking.set()
            answer = await client.ask(GET + f"X-Key: {proxied.placeholder()}\r\n\r\n".encode())
    assert answer.body == b"you sent " + b"*" * len(SECRET) + b" to us"


@pytest.mark.parametrize("kind", ["gzip", "deflate", "raw deflate"])
async def test_an_answer_compressed_all_the_same_is_read_to_hide_the_secret(proxied: Proxied, kind: str) -> None:
    told = b"your key is " + SECRET.encode() + b"." * 100_000
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(told),
        "deflate": zlib.compress(told),
        "raw deflate": raw.compress(told) + raw.flush(),
    }[kind]
    name = kind.rsplit(" ", maxsplit=1)[-1].encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (name, len(packed))
    host = await proxied.host(API, host=Host(lambda *_: head + packed))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    mark = proxied.placeholder()
    answer = await client.ask(GET + f"Accept-Encoding: gzip, br\r\nX-Key: {mark}\r\n\r\n".encode())
    assert b"Accept-Encoding: identity" in host.requests[0]
    assert b"br" not in host.requests[0].split(b"Accept-Encoding", 1)[1]
    assert answer.body == told.replace(SECRET.encode(), b"*" * len(SECRET))
    assert b"content-encoding" not in answer.head.lower()


async def test_an_answer_compressed_in_a_way_nobody_here_reads_is_not_passed_on(proxied: Proxied) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc"
    await proxied.host(API, host=Host(lambda *_: head))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(GET + f"X-Key: {proxied.placeholder()}\r\n\r\n".encode())
    assert answer.status == 502
    assert b"br" in answer.body


async def test_a_secret_stored_by_the_host_is_hidden_from_a_later_request_without_it(proxied: Proxied) -> None:
    told = SECRET.encode()
    host = Host(lambda *_: b"HTTP/1.1 200 Yes\r\nX-Last: %b\r\nContent-Length: %d\r\n\r\n%b" % (told, len(told), told))
    await proxied.host(API, host=host)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(GET + b"\r\n")
    assert told not in answer.head + answer.body
    assert len(answer.body) == len(told)


@pytest.mark.parametrize("size", [0, 1, 10_000, 3_000_000])
@pytest.mark.parametrize("chunked", [True, False])
async def test_a_request_body_arrives_whole(proxied: Proxied, size: int, chunked: bool) -> None:
    body = os.urandom(size)
    got: list[bytes] = []

    def answer(head: bytes, received: bytes) -> bytes:
        got.append(received)
        return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    await proxied.host(API, host=Host(answer))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    for _ in range(2):
        if chunked:
            pieces = [body[at : at + 100_000] for at in range(0, size, 100_000)]
            framed = b"".join(b"%x;ext=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
            request = POST + b"Transfer-Encoding: chunked\r\n\r\n" + framed + b"0\r\nX-Trailer: t\r\n\r\n"
        else:
            request = POST + b"Content-Length: %d\r\n\r\n" % size + body
        assert (await client.ask(request)).body == b"ok"
    assert got == [body, body]


async def test_a_large_answer_waits_for_a_slow_reader_and_others_do_not_wait(proxied: Proxied) -> None:
    size = 40_000_000
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while sent < size:
            writer.write(b"x" * 100_000)
            sent += 100_000
            await writer.drain()

    await proxied.door(API, 443, pour, proxied.trust.server(API))
    await proxied.host("api.other.example")
    await proxied.start(settings(hosts=[API]))
    slow = await proxied.secure(API)
    await slow.send(GET + b"\r\n")
    await slow.head()
    quick = await proxied.secure("api.other.example")
    for _ in range(20):
        assert (await quick.ask(b"GET / HTTP/1.1\r\nHost: api.other.example\r\n\r\n")).status == 200
    assert sent < size  # what nobody reads is held back at its source
    assert await slow.reader.readexactly(size) == b"x" * size


async def test_a_client_that_waits_to_be_told_to_go_on_is_told_by_the_host(proxied: Proxied) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Expect: 100-continue" in head
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await read_body(head[:-4], reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    await proxied.door(API, 443, serve, proxied.trust.server(API))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    await client.send(POST + b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
    assert (await client.head()).status == 100
    assert (await client.ask(b"body")).body == b"body"


async def test_a_host_that_refuses_a_body_unseen_is_heard_while_it_is_sent(proxied: Proxied) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!")
        await writer.drain()

    await proxied.door(API, 443, serve, proxied.trust.server(API))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(POST + b"Content-Length: 1000000\r\n\r\n" + b"x" * 1000)
    assert (answer.status, answer.body) == (413, b"no!")
    assert b"Connection: close" in answer.head


async def test_an_answer_cut_short_is_cut_short_for_the_client_too(proxied: Proxied) -> None:
    await scripted(proxied, [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        await client.ask(GET + b"\r\n")


async def test_an_answer_without_length_ends_with_the_hosts_connection(proxied: Proxied) -> None:
    await scripted(proxied, [b"HTTP/1.0 200 OK\r\n\r\nall of it"])
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    assert (await client.ask(GET + b"\r\n")).body == b"all of it"
    host = await proxied.host("api.other.example")
    assert (await client.ask(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")).status == 421
    assert host.requests == []


@pytest.mark.parametrize(
    "broken",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: b\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 70_000 + b"\r\n\r\n",
        b"",
    ],
)
async def test_an_answer_that_is_no_answer_is_told_as_the_hosts_fault(proxied: Proxied, broken: bytes) -> None:
    await scripted(proxied, [broken])
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(GET + b"\r\n")
    assert answer.status == 502
    assert b"from" in answer.body


async def test_a_websocket_passes_both_ways_with_secrets_hidden_in_what_comes_back(proxied: Proxied) -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
        writer.write(b"Sec-WebSocket-Accept: abc\r\n\r\n\x81\x05early")
        while data := await reader.read(1000):
            writer.write(data + SECRET.encode() + b"!")

    await proxied.door(API, 443, serve, proxied.trust.server(API))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    upgrade = b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
    upgrade += b"Sec-WebSocket-Extensions: permessage-deflate\r\n"
    await client.send(GET + upgrade + f"X-Key: {proxied.placeholder()}\r\n\r\n".encode())
    answer = await client.head()
    assert answer.status == 101
    assert b"Sec-WebSocket-Accept: abc" in answer.head
    assert SECRET.encode() in seen[0]
    assert b"deflate" not in seen[0]
    assert await client.reader.readexactly(7) == b"\x81\x05early"
    await client.send(b"\x81\x85frame")
    assert await client.reader.readexactly(8 + len(SECRET)) == b"\x81\x85frame" + b"*" * len(SECRET) + b"!"
    client.writer.close()
    assert proxied.uses.uses == [Use("A_KEY", "usr_1", API, 101)]


async def test_a_host_that_offers_http_2_is_spoken_to_in_it(proxied: Proxied) -> None:
    host = Http2Host()
    await proxied.door(API, 443, host.serve, proxied.trust.server(API, ["h2", "http/1.1"]))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    mark = proxied.placeholder()
    for number in range(3):
        answer = await client.ask(POST + f"X-Key: {mark}\r\nContent-Length: 2\r\n\r\n".encode() + b"%02d" % number)
        assert answer.status == 200
        assert answer.body.endswith(b"%02d" % number)
        assert SECRET.encode() not in answer.head + answer.body
    assert host.connections == 1
    assert (b"x-key", SECRET.encode()) in host.requests[0]
    assert dict(host.requests[0])[b":authority"] == API.encode()


async def test_many_requests_share_one_http_2_connection_and_a_slow_one_holds_up_no_other(proxied: Proxied) -> None:
    host = Http2Host(os.urandom(2_000_000))
    await proxied.door(API, 443, host.serve, proxied.trust.server(API, ["h2", "http/1.1"]))
    await proxied.start(settings(hosts=[API]))
    stuck, idle = await proxied.secure(API), await proxied.secure(API)
    await stuck.send(GET + b"\r\n")
    assert (await stuck.head()).status == 200  # and reads no further
    await idle.send(f"GET /slow HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())

    async def ask() -> None:
        client = await proxied.secure(API)
        assert (await client.ask(GET + b"\r\n")).body == host.body

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert host.connections == 1


async def test_a_large_body_goes_to_an_http_2_host_as_fast_as_it_takes_it(proxied: Proxied) -> None:
    host = Http2Host()
    await proxied.door(API, 443, host.serve, proxied.trust.server(API, ["h2", "http/1.1"]))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    body = os.urandom(1_000_000)
    expecting = POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    await client.send(expecting)
    assert (await client.head()).status == 100
    assert (await client.ask(body)).body.endswith(body)


async def test_when_an_http_2_host_goes_away_the_next_request_finds_it_again(proxied: Proxied) -> None:
    writers: list[asyncio.StreamWriter] = []
    host = Http2Host()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await host.serve(reader, writer)

    await proxied.door(API, 443, serve, proxied.trust.server(API, ["h2", "http/1.1"]))
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    assert (await client.ask(GET + b"\r\n")).status == 200
    writers[0].transport.abort()
    assert (await client.ask(GET + b"\r\n")).status == 200
    assert host.connections == 2


@pytest.mark.parametrize("version", ["1.1", "2"])
async def test_a_host_that_does_not_answer_in_time_is_named(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(passage, "ANSWER_S", 0.05)
    if version == "2":
        await proxied.door(API, 443, Http2Host().serve, proxied.trust.server(API, ["h2", "http/1.1"]))
    else:
        await scripted(proxied, [asyncio.Event()])
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    assert (await client.ask(f"GET /slow HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())).status == 504


async def test_base64_of_a_secret_is_hidden_wherever_it_begins(proxied: Proxied) -> None:
    told = b"|".join(base64.b64encode(b"x" * lead + SECRET.encode() + b"tail") for lead in range(3))
    await proxied.host(
        API, host=Host(lambda *_: b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(told), told))
    )
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(GET + b"\r\n")
    assert len(answer.body) == len(told)
    for lead, part in enumerate(answer.body.split(b"|")):
        assert part.count(b"*") >= len(SECRET) * 4 // 3 - 2, lead
