"""The DNS resolver of connections to hosts that users name."""

import socket
from typing import Final

import anyio
from aiohttp.abc import AbstractResolver, ResolveResult

from outlast.kernel.http.private_addresses import Allowed, resolved

MAX_RESOLVING: Final = 4  # the system resolves in a few threads, which slow names must not use up


class Resolver(AbstractResolver):
    """The machine's resolver, limited to permitted addresses."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._resolving = anyio.Semaphore(MAX_RESOLVING)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        async with self._resolving:
            found = await resolved(host, port, family, self._allowed)
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
            for address, kind in found
        ]

    async def close(self) -> None:
        """There is nothing to close."""
