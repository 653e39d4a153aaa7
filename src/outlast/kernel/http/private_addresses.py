"""Allow-list for private network addresses that may be connected to."""

import asyncio
import errno
import socket
from collections.abc import Sequence
from typing import Final

import anyio

from outlast_sandbox.addresses import is_forbidden

Allowed = frozenset[tuple[str, int]]
"""(host or address, port) pairs that may be reached although they are private."""
NONE: Final[Allowed] = frozenset()
RESOLVE_S: Final = 10.0


class PrivateAddress(OSError):
    """A name resolves to a forbidden address; the message is for people."""

    def __init__(self, host: str, address: str) -> None:
        named = host if host == address else f"{host} ({address})"
        super().__init__(f"{named} is a private address")


async def resolved(
    host: str, port: int, family: socket.AddressFamily, allowed: Allowed
) -> Sequence[tuple[str, socket.AddressFamily]]:
    """The permitted addresses of a name, as resolved on this machine. Raises `PrivateAddress` if there are none, and
    `OSError` for a name that does not resolve or takes too long."""
    loop = asyncio.get_running_loop()
    try:
        with anyio.fail_after(RESOLVE_S):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
    except TimeoutError:
        raise OSError(errno.EHOSTUNREACH, f"its name was not resolved within {RESOLVE_S:g} s") from None
    addresses = dict.fromkeys((str(entry[4][0]), entry[0]) for entry in found)
    good = [one for one in addresses if may_reach(host, one[0], port, allowed)]
    if not good:
        raise PrivateAddress(host, next(iter(addresses))[0])
    return good


def may_reach(host: str, address: str, port: int, allowed: Allowed) -> bool:
    """True if this address, which the name was resolved to, may be connected to."""
    return not is_forbidden(address) or (host, port) in allowed or (address, port) in allowed
