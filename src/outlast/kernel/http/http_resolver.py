"""The DNS resolver of connections to hosts that users name."""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from outlast.kernel.http.private_addresses import Allowed, resolved


class Resolver(AbstractResolver):
    """The machine's resolver, limited to permitted addresses."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
            for address, kind in await resolved(host, port, family, self._allowed)
        ]

    async def close(self) -> None:
        """There is nothing to close."""
