"""Refuses every connection beyond the loopback interface for the whole test run (house rule: no real network calls).

The network of a cluster's machines lies on this machine as well: it is allowed while it is there."""

from __future__ import annotations

import ipaddress
import sys
from typing import Any


class NetworkRefused(RuntimeError):
    """A test tried to reach something beyond the loopback interface; give it a local server or a fake instead."""


_allowed: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []


def allow(network: str) -> None:
    """Take this network for local until `forget`: it has been made by a test, and leads nowhere else."""
    _allowed.append(ipaddress.ip_network(network))


def forget(network: str) -> None:
    _allowed.remove(ipaddress.ip_network(network))


def install() -> None:
    """Guards this process until it ends; it cannot be taken off again.

    An audit hook also sees what libraries do with sockets made before the tests were loaded. It does not see inside
    uvloop or child processes, so tests run on asyncio's own loop and point child processes at local servers.
    """
    sys.addaudithook(_refuse)


def is_local(host: str | bytes | None) -> bool:
    """Whether a socket address, or a name to look up, stays on this machine. No host at all means any local one."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if not name or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified or any(address in network for network in _allowed)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    # Names are refused at look-up, so no query leaves the machine either. Unix sockets have no tuple and are local.
    if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not is_local(host):
        raise NetworkRefused(f"{event} to {host!r}: tests may reach loopback addresses only")
