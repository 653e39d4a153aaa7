"""What a sandbox may not reach, and what it is told then. Stand-ins are behind every address: a defence that failed
would be seen to, and nothing would leave the machine."""

from __future__ import annotations

import json
import ssl

import pytest

from tests.hosts import PUBLIC
from tests.unit.sandbox.egress.conftest import OTHER_SECRET, SECRET, Proxied, settings

API = "api.example.com"
METADATA = "169.254.169.254"


@pytest.mark.parametrize(
    "authority",
    [
        "evil.example:443",
        f"{API}.evil.example:443",
        f"evil{API}:443",
        f"{API}:8443",
        f"{PUBLIC}:443",
        f"{METADATA}:80",
        "[::ffff:169.254.169.254]:80",
        "[fd00:ec2::254]:80",
        "[64:ff9b::a9fe:a9fe]:80",
        "10.0.0.1:443",
    ],
)
async def test_connecting_to_what_is_not_named_is_refused_with_the_setting_that_would_allow_it(
    proxied: Proxied, authority: str
) -> None:
    for address in (METADATA, PUBLIC, "10.0.0.1"):
        for port in (80, 443):
            proxied.world.doors[address, port] = 1
    await proxied.start(settings(hosts=[API]))
    answer, client = await proxied.connected(authority)
    assert answer.status == 403
    assert b"X-Outlast-Refused: host_refused" in answer.head
    told = json.loads(await client.rest())
    assert told["code"] == "host_refused"
    assert told["hint"]
    assert not proxied.world.looked_up
    assert not proxied.world.connected


@pytest.mark.parametrize(
    "spelling", ["127.1:443", "0x7f.0.0.1:443", "2130706433:443", "0177.0.0.1:443", "[fe80::1%25lo]:443", "a b:443"]
)
async def test_spellings_of_addresses_that_only_some_programs_understand_are_no_hosts(
    proxied: Proxied, spelling: str
) -> None:
    await proxied.start(settings(allow=["*"]))
    answer, _ = await proxied.connected(spelling)
    assert answer.status == 400
    assert proxied.world.connected == []


@pytest.mark.parametrize(
    "address",
    [METADATA, "127.0.0.1", "::1", "10.1.2.3", "100.100.100.200", "fe80::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1"],
)
@pytest.mark.parametrize("form", ["tunnel", "inspected", "plain"])
async def test_an_allowed_name_that_resolves_to_a_private_address_is_refused_before_anything_is_connected(
    proxied: Proxied, address: str, form: str
) -> None:
    proxied.world.names[API] = [[address]]
    for port in (80, 443):
        proxied.world.doors[address, port] = 1
    await proxied.start(settings(hosts=[API]) if form == "inspected" else settings(allow=[API]))
    if form == "plain":
        client = await proxied.client()
        answer = await client.ask(f"GET http://{API}/latest HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())
    else:
        answer, _ = await proxied.connected(f"{API}:443")
    assert answer.status == 403
    assert b"address_refused" in answer.head
    assert proxied.world.connected == []


async def test_a_name_that_changes_its_address_between_two_looks_is_connected_to_where_it_was_judged(
    proxied: Proxied,
) -> None:
    """DNS rebinding: public when it is checked, private when it is used. What was checked is used."""
    host = await proxied.host(API)
    public = proxied.world.names[API][0]
    proxied.world.names[API] = [public, ["127.0.0.1"]]
    proxied.world.doors["127.0.0.1", 443] = host.port
    await proxied.start(settings(hosts=[API]))
    for _ in range(3):
        client_answer, client = await proxied.connected(f"{API}:443")
        if client_answer.status == 200:
            trusted = ssl.create_default_context(cadata=proxied.authority.pem)
            await client.writer.start_tls(trusted, server_hostname=API)
            await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())
    assert all(address != "127.0.0.1" for address, _ in proxied.world.connected)


async def test_of_several_addresses_only_the_public_ones_are_tried(proxied: Proxied) -> None:
    host = await proxied.host("plain.example", 80)
    proxied.world.names["plain.example"] = [["10.0.0.5", proxied.world.names["plain.example"][0][0], "::1"]]
    proxied.world.doors["10.0.0.5", 80] = host.port
    await proxied.start(settings(allow=["plain.example"]))
    client = await proxied.client()
    assert (await client.ask(b"GET http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n")).status == 200
    assert [address for address, _ in proxied.world.connected] == [proxied.world.names["plain.example"][0][1]]


async def test_a_host_header_that_names_another_host_is_misdirected(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    mark = proxied.placeholder()
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: evil.example\r\nX-Key: {mark}\r\n\r\n".encode())
    assert answer.status == 421
    assert host.requests == []


@pytest.mark.parametrize(
    "target", ["https://evil.example/", f"http://{API}/", f"https://{API}:8443/", f"https://me@{API}/"]
)
async def test_inside_a_connection_an_absolute_address_must_name_its_host(proxied: Proxied, target: str) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(f"GET {target} HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())
    assert answer.status in (400, 421)
    assert host.requests == []


@pytest.mark.parametrize("secret", [True, False])
async def test_a_tls_client_that_asks_for_another_name_is_turned_away(proxied: Proxied, secret: bool) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]) if secret else settings(allow=[API]))
    careless = ssl._create_unverified_context()
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await proxied.secure(API, name="evil.example", context=careless)
    assert host.requests == []


async def test_a_tunnel_carries_nothing_but_tls_with_the_hosts_name(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(allow=[API]))
    answer, client = await proxied.connected(f"{API}:443")
    assert answer.status == 200
    refused = await client.ask(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert refused.status == 421
    without_name = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    without_name.check_hostname, without_name.verify_mode = False, ssl.CERT_NONE
    _, client = await proxied.connected(f"{API}:443")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await client.writer.start_tls(without_name, server_hostname="93.184.216.34")
    assert host.requests == []


async def test_a_tunnel_to_a_host_without_secrets_shows_the_hosts_own_certificate(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(allow=[API]))
    outside = ssl.create_default_context(cadata=proxied.trust.authority.pem)
    client = await proxied.secure(API, context=outside)
    assert (await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\n\r\n".encode())).status == 200
    assert len(host.requests) == 1


SMUGGLED = [
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    b"Content-Length: 5\r\nContent-Length: 6\r\n",
    b"Content-Length: 5, 5\r\n",
    b"Content-Length: +5\r\n",
    b"Content-Length: 0x5\r\n",
    b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding: chunked, identity\r\n",
    b"Transfer-Encoding:\r\n",
    b"Transfer-Encoding : chunked\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    b"X-A: b\r\n folded: yes\r\n",
    b"X-A: b\nX-Smuggled: yes\r\n",
    b"X-A: b\rX-Smuggled: yes\r\n",
    b"X-A: \x00\r\n",
    b"X A: b\r\n",
    b": b\r\n",
    b"Host: evil.example\r\n",
]


@pytest.mark.parametrize("header", SMUGGLED)
async def test_what_two_programs_could_read_in_two_ways_is_passed_on_to_nobody(proxied: Proxied, header: bytes) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    await client.send(b"POST / HTTP/1.1\r\nHost: %b\r\n%b\r\n0\r\n\r\n" % (API.encode(), header))
    assert (await client.head()).status in (400, 501)
    assert host.requests == []


async def test_headers_beyond_a_bound_are_refused(proxied: Proxied) -> None:
    host = await proxied.host(API)
    await proxied.start(settings(hosts=[API]))
    for huge in (b"X: " + b"a" * 70_000 + b"\r\n", b"X: a\r\n" * 300):
        client = await proxied.secure(API)
        await client.send(b"GET / HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (API.encode(), huge))
        assert (await client.head()).status == 431
    assert host.requests == []


async def test_a_secret_is_sent_over_plain_http_to_a_private_exception_only(proxied: Proxied) -> None:
    plain = await proxied.host(API, 80)
    private = await proxied.host("10.0.0.7", 8080, secure=False)
    await proxied.start(settings(hosts=[API], private=["10.0.0.7:8080"]))
    proxied.world.doors["10.0.0.7", 8080] = private.port
    client = await proxied.client()
    mark = proxied.placeholder()
    await client.ask(f"GET http://{API}/ HTTP/1.1\r\nHost: {API}\r\nX-Key: {mark}\r\n\r\n".encode())
    assert mark.encode() in plain.requests[0]
    await client.ask(f"GET http://10.0.0.7:8080/ HTTP/1.1\r\nHost: 10.0.0.7:8080\r\nX-Key: {mark}\r\n\r\n".encode())
    assert SECRET.encode() in private.requests[0]


async def test_a_private_exception_is_for_its_port_alone(proxied: Proxied) -> None:
    await proxied.start(settings(private=["10.0.0.7:8080"]))
    client = await proxied.client()
    answer = await client.ask(b"GET http://10.0.0.7:8081/ HTTP/1.1\r\nHost: 10.0.0.7:8081\r\n\r\n")
    assert answer.status == 403
    assert proxied.world.connected == []


async def test_loopback_asked_through_the_proxy_is_the_sandboxs_own_and_gets_no_secret(proxied: Proxied) -> None:
    """A dependency of the operator's machine names 127.0.0.1 as its host: what code inside opens on another port of
    its own loopback interface must not be told the secret."""
    inside = await proxied.host("inside.example", 80)
    proxied.inside = inside.port
    await proxied.start(settings(hosts=["127.0.0.1", "localhost"], private=["127.0.0.1:8443"]))
    client = await proxied.client()
    mark = proxied.placeholder()
    answer = await client.ask(
        f"GET http://127.0.0.1:3000/ HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nX-Key: {mark}\r\n\r\n".encode()
    )
    assert answer.status == 200
    assert mark.encode() in inside.requests[0]
    answer, client = await proxied.connected("localhost:443")
    assert answer.status == 200
    await client.ask(f"GET / HTTP/1.1\r\nHost: localhost:443\r\nX-Key: {mark}\r\n\r\n".encode())
    assert mark.encode() in inside.requests[1]
    assert proxied.uses.uses == []


async def test_a_secret_without_a_value_is_refused_by_name(proxied: Proxied) -> None:
    host = await proxied.host(API)
    del proxied.environment["A_KEY"]
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\nX-Key: {proxied.placeholder()}\r\n\r\n".encode())
    assert answer.status == 403
    assert json.loads(answer.body)["code"] == "secret_missing"
    assert b"A_KEY" in answer.body
    assert host.requests == []


@pytest.mark.parametrize("value", ["one\r\nX-Evil: two", "ends in a line break\n", "", " "])
async def test_a_secret_that_no_header_can_hold_is_refused_without_telling_it(proxied: Proxied, value: str) -> None:
    host = await proxied.host(API)
    proxied.environment["A_KEY"] = value
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\nX-Key: {proxied.placeholder()}\r\n\r\n".encode())
    assert answer.status == 403
    assert json.loads(answer.body)["code"] == "secret_unusable"
    assert b"Evil" not in answer.head + answer.body
    assert host.requests == []


async def test_a_host_whose_certificate_is_not_trusted_gets_nothing(proxied: Proxied) -> None:
    host = await proxied.host(API, tls_name="evil.example")
    await proxied.start(settings(hosts=[API]))
    client = await proxied.secure(API)
    answer = await client.ask(f"GET / HTTP/1.1\r\nHost: {API}\r\nX-Key: {proxied.placeholder()}\r\n\r\n".encode())
    assert answer.status == 502
    assert json.loads(answer.body)["code"] == "untrusted"
    assert host.requests == []
    assert OTHER_SECRET not in str(answer)


async def test_asked_as_if_it_were_a_server_the_proxy_says_what_it_is(proxied: Proxied) -> None:
    await proxied.start(settings(allow=["*"]))
    client = await proxied.client()
    answer = await client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert json.loads(answer.body)["code"] == "not_a_proxy_request"
