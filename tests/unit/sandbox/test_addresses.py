"""Addresses that no sandbox may reach, in every disguise."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.addresses import is_forbidden

FORBIDDEN = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255", "168.63.129.16",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::127.0.0.1",
    "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fe80::1%lo", "2606:4700::1%eth0", "fec0::1", "ff02::1",
    "3fff::1", "", "localhost", "127.1", "0x7f000001",
]  # fmt: skip
ALLOWED = [
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "172.15.255.255", "100.128.0.1", "192.169.0.1",
    "223.255.255.1", "2606:4700:4700::1111", "2a00:1450:4001::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8",
]  # fmt: skip


@pytest.mark.parametrize("address", FORBIDDEN)
def test_private_and_special_addresses_are_forbidden(address: str) -> None:
    assert is_forbidden(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_are_not(address: str) -> None:
    assert not is_forbidden(address)


@given(some.ip_addresses())
def test_whatever_python_calls_private_is_forbidden(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    special = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    carried = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
    if (special or address.is_reserved or address.is_unspecified) and not carried:
        nat64 = address in ipaddress.ip_network("64:ff9b::/96") if address.version == 6 else False
        assert is_forbidden(str(address)) or nat64


@given(some.ip_addresses(v=4))
def test_an_address_in_disguise_is_judged_as_what_it_carries(address: ipaddress.IPv4Address) -> None:
    forbidden = is_forbidden(str(address))
    assert is_forbidden(f"::ffff:{address}") is forbidden
    assert is_forbidden(f"64:ff9b::{address}") is forbidden
    assert is_forbidden(str(ipaddress.IPv6Address(f"2002:{int(address) >> 16:x}:{int(address) & 0xFFFF:x}::1")))
