"""The guard of the test run: the whole run may reach loopback addresses only."""

from __future__ import annotations

import socket

import anyio
import pytest

from tests import network_guard
from tests.network_guard import NetworkRefused, is_local


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "fe80::1%eth0", "example.org"])
def test_addresses_beyond_this_machine_are_not_local(host: str) -> None:
    assert not is_local(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "3000-a.preview.localhost", "", None])
def test_loopback_names_and_addresses_are_local(host: str | None) -> None:
    assert is_local(host)


def test_a_blocking_connection_to_the_network_is_refused() -> None:
    with socket.socket() as client, pytest.raises(NetworkRefused, match="loopback addresses only"):
        client.connect(("192.0.2.1", 80))


async def test_an_async_connection_to_a_name_is_refused_before_it_is_looked_up() -> None:
    with pytest.raises(NetworkRefused, match=r"example\.org"):
        await anyio.connect_tcp("example.org", 80)


async def test_a_connection_to_a_loopback_server_is_allowed() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, await anyio.connect_tcp("127.0.0.1", port):
        pass


def test_a_network_of_the_tests_own_is_local_while_it_is_there() -> None:
    network_guard.allow("10.77.0.0/24")
    try:
        assert is_local("10.77.0.9")
        assert not is_local("10.78.0.9")
    finally:
        network_guard.forget("10.77.0.0/24")
    assert not is_local("10.77.0.9")
