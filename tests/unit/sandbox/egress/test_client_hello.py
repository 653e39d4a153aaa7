"""The name in the first message of TLS clients."""

from __future__ import annotations

import ssl
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.egress.client_hello import NotTls, NotYet, server_name


def hello(name: str | None) -> bytes:
    """What OpenSSL sends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    sent = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


@pytest.mark.parametrize("name", ["example.com", "a.b.c.example", None])
def test_the_name_is_found(name: str | None) -> None:
    assert server_name(hello(name)) == name
    assert server_name(hello(name) + b"more") == name


def test_a_message_in_pieces_is_waited_for() -> None:
    whole = hello("example.com")
    for end in range(len(whole)):
        assert server_name(whole[:end]) is NotYet.MORE


@given(some.integers(1, 300))
def test_a_message_spread_over_many_records_is_read_as_one(size: int) -> None:
    message = hello("example.com")[5:]
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    assert server_name(b"".join(struct.pack("!BBBH", 0x16, 3, 1, len(part)) + part for part in parts)) == "example.com"


@given(some.binary(max_size=400), some.integers(0, 400))
def test_whatever_comes_is_understood_or_refused(noise: bytes, at: int) -> None:
    whole = hello("example.com")
    for data in (noise, b"\x16\x03\x01" + noise, whole[:at] + noise + whole[at + len(noise) :]):
        try:
            server_name(data)
        except NotTls:
            continue


def test_one_that_never_ends_is_given_up() -> None:
    with pytest.raises(NotTls):
        server_name(b"\x16\x03\x01\x40\x00\x01\x00\x80\x00" + b"\x00" * 40_000)
