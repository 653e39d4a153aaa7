"""Bounds of request heads: their size, their pace, the number of unfinished ones per address, and the host they name.
A head is a request's target and headers. Until it is complete, the client is unknown, so these bounds hold for all.
"""

import ipaddress
from collections import Counter
from typing import Any

import httptools

from outlast.base.errors import MalformedInput, OutlastError
from outlast.base.records import dataclass

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class HeadLimits:
    """`head_bytes`: the largest head (also of a chunked body's trailers and extensions). `head_s`: seconds in which a
    head must be complete. `per_address`: connections of one address with an incomplete head; each further one has
    `crowded_s` seconds, so that a burst of honest clients is not refused."""

    head_bytes: int = 65_536
    head_s: float = 15.0
    per_address: int = 200
    crowded_s: float = 1.0


class UnfinishedHeads:
    """In memory: the number of connections of each address with an incomplete head."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def enter(self, address: str) -> int:
        """Add a connection; returns the new number."""
        self._counts[address] += 1
        return self._counts[address]

    def leave(self, address: str) -> None:
        self._counts[address] -= 1
        if self._counts[address] <= 0:
            del self._counts[address]

    def __len__(self) -> int:
        return self._counts.total()


def network_of(host: str) -> str:
    """The unit that counts as one address: an IPv4 address, or the /64 network of an IPv6 address."""
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)))


def settle_host(target: bytes, headers: Headers) -> OutlastError | None:
    """The error if a head names no valid host, else None. A target in absolute form (`GET http://host/path`) replaces
    the Host header (RFC 9112, section 3.2.2), so that the rest of the server checks the right host."""
    for name in (b"host", b"origin"):
        if sum(key == name for key, _ in headers) > 1:
            return MalformedInput(
                f"The request has more than one {name.decode().title()} header.", hint="Send it once."
            )
    if target.startswith(b"/"):
        return None
    try:
        url: Any = httptools.parse_url(target)  # parts that are missing are None
    except httptools.HttpParserInvalidURLError:
        return None  # the server refuses it
    if not url.host:
        return None
    if (url.schema or b"").lower() not in (b"http", b"https") or url.userinfo:
        return MalformedInput("The request's target is neither a path nor a plain address of this server.")
    host = b"[%b]" % url.host if b":" in url.host else url.host
    named = host if url.port is None else b"%b:%d" % (host, url.port)
    headers[:] = [*(pair for pair in headers if pair[0] != b"host"), (b"host", named)]
    return None
