"""Addresses that are not public: this machine, its neighbours, internal networks and clouds."""

import ipaddress
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Listed here because the results of Python's `is_global` and `is_private` differ between versions.
_FORBIDDEN_4: Final = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and some clouds' metadata
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host, a public address that every machine in Azure reaches
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_6: Final = ipaddress.IPv6Network("2000::/3")
_FORBIDDEN_6: Final = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking
        "2001:db8::/32",
        "2002::/16",  # 6to4: an embedded IPv4 address
        "3fff::/20",
    )
)
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


def is_forbidden(address: str) -> bool:
    """True if an IP address, as a resolver returns it, belongs to no public host. Addresses that embed another one
    (IPv4-mapped, NAT64) are judged by the embedded address; a text that is not an address is forbidden."""
    try:
        return _is_forbidden(ipaddress.ip_address(address))
    except ValueError:
        return True


def _is_forbidden(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return any(address in network for network in _FORBIDDEN_4)
    if address.scope_id is not None:
        return True
    carried = address.ipv4_mapped
    if carried is None and address in _NAT64:
        carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if carried is not None:
        return _is_forbidden(carried)
    return address not in _GLOBAL_6 or any(address in network for network in _FORBIDDEN_6)
