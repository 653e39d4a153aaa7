"""One sandbox's proxy, asked by a client on the loopback interface, in a world of stand-ins."""

from __future__ import annotations

import base64

from tests.hosts import Host
from tests.unit.core.sandboxes.egress.conftest import SECRET, Proxied, Use, settings

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
    answer = await client.ask(
        f"GET / HTTP/1.1\r\nHost: {API}\r\nX-Key: {proxied.placeholder()}\r\n\r\n".encode()
    )
    assert SECRET.encode() not in answer.body
    assert b"X-Key: " + b"*" * len(SECRET) in answer.body


async def test_basic_credentials_are_opened_to_find_a_placeholder_in_them(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    credentials = base64.b64encode(f"me:{proxied.placeholder()}".encode()).decode()
    answer = await client.ask(
        f"GET / HTTP/1.1\r\nHost: {API}\r\nAuthorization: Basic {credentials}\r\n\r\n".encode()
    )
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


async def test_a_kept_connection_that_the_host_has_closed_costs_a_repeatable_request_nothing(
    proxied: Proxied,
) -> None:
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
