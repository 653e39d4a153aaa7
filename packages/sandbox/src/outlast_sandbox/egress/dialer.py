"""From a name to a connected socket: resolve the name, check the address, connect to exactly that address."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from outlast_sandbox.addresses import is_forbidden
from outlast_sandbox.egress import refusals
from outlast_sandbox.egress.rules import Policy, Target, leads_inside, may_connect
from outlast_sandbox.egress.transport import TlsWire, Wire, wire_of
from outlast_sandbox.errors import SandboxError
from outlast_sandbox.host_patterns import is_address

RESOLVE_S: Final = 10.0
CONNECT_S: Final = 10.0
MAX_ADDRESSES: Final = 4
MAX_RESOLVING: Final = 2  # the system resolves in a few threads, which slow names must not use up
ALPN: Final = ("h2", "http/1.1")

DialInside = Callable[[int], Awaitable[socket.socket]]
"""A connected socket to that port of the sandbox's own loopback interface; see `Sandbox.dial`."""


class Network(Protocol):
    """The network as the proxy uses it; tests put stand-ins in its place."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """The IP addresses of a name, best first. Raises `OSError`."""

    async def connect(self, address: str, port: int) -> socket.socket:
        """A connected, non-blocking stream socket. Raises `OSError`, `Refused`."""


class RealNetwork:
    """The machine's resolver and sockets."""

    async def resolve(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in infos))

    async def connect(self, address: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(sock, (address, port))
            if sock.getsockname()[0] == sock.getpeername()[0] and not is_forbidden(address):
                raise refusals.own_address(address)
        except BaseException:
            sock.close()
            raise
        return sock


@dataclass(frozen=True, slots=True)
class TlsContexts:
    """TLS contexts for connections to hosts: `any_version` offers HTTP/2 and HTTP/1.1, `http1` only the latter."""

    any_version: ssl.SSLContext
    http1: ssl.SSLContext


def contexts_trusting(authorities_pem: str | None = None) -> TlsContexts:
    """Contexts that trust these authorities, or those of the server's system if None. Then it blocks (it reads them):
    call it in a worker thread."""
    any_version = ssl.create_default_context(cadata=authorities_pem)
    http1 = ssl.create_default_context(cadata=authorities_pem)
    any_version.set_alpn_protocols(ALPN)
    http1.set_alpn_protocols(ALPN[1:])
    return TlsContexts(any_version, http1)


class Dialer:
    """Connections of one sandbox to the hosts that its policy allows."""

    def __init__(
        self, policy: Policy, network: Network, contexts: TlsContexts | None, inside: DialInside | None = None
    ) -> None:
        self._policy = policy
        self._network = network
        self._contexts = contexts
        self._inside = inside
        self._resolving = anyio.Semaphore(MAX_RESOLVING)

    async def check(self, target: Target) -> list[str]:
        """The addresses that may be connected to; none for the sandbox's own. Raises `Refused`."""
        if leads_inside(self._policy, target.host, target.port):
            return []
        if is_address(target.host):
            addresses = [target.host]
        else:
            addresses = await self._resolve(target)
        allowed = [address for address in addresses if may_connect(self._policy, target.host, address, target.port)]
        if not allowed:
            raise refusals.address_refused(target.host, addresses[0], target.port)
        return allowed[:MAX_ADDRESSES]

    async def connect(self, target: Target) -> Wire:
        """A connection to the target, without TLS. Raises `Refused`."""
        if leads_inside(self._policy, target.host, target.port):
            return await self._connect_inside(target)
        why = ""
        for address in await self.check(target):
            try:
                with anyio.fail_after(CONNECT_S):
                    return await wire_of(await self._network.connect(address, target.port))
            except TimeoutError:
                why = "no answer"
            except OSError as error:
                why = error.strerror or str(error)
        raise refusals.unreachable(target.host, target.port, why)

    async def connect_tls(self, target: Target, *, http1: bool) -> TlsWire:
        """The same with TLS, the host's certificate verified. Raises `Refused`."""
        if self._contexts is None:
            raise refusals.untrusted(target.host, "this proxy does not support TLS")
        wire = await self.connect(target)
        context = self._contexts.http1 if http1 else self._contexts.any_version
        tls = TlsWire(wire, context, server_side=False, host=target.host)
        try:
            with anyio.fail_after(CONNECT_S):
                await tls.handshake()
            return tls
        except BaseException as error:
            wire.abort()
            raise _tls_refusal(error, target) from error

    async def _connect_inside(self, target: Target) -> Wire:
        if self._inside is None:
            raise refusals.host_refused(self._policy, target.host, target.port)
        try:
            return await wire_of(await self._inside(target.port))
        except SandboxError as error:
            raise refusals.unreachable(target.host, target.port, error.message) from error

    async def _resolve(self, target: Target) -> list[str]:
        try:
            async with self._resolving:
                with anyio.fail_after(RESOLVE_S):
                    addresses = await self._network.resolve(target.host, target.port)
        except (OSError, UnicodeError) as error:  # a TimeoutError is an OSError too
            raise refusals.not_found(target.host) from error
        if not addresses:
            raise refusals.not_found(target.host)
        return addresses


def _tls_refusal(error: BaseException, target: Target) -> BaseException:
    if isinstance(error, TimeoutError):
        return refusals.timed_out(target.host, "to start TLS", CONNECT_S)
    if isinstance(error, ssl.SSLCertVerificationError):
        return refusals.untrusted(target.host, error.verify_message)
    if isinstance(error, (ssl.SSLError, ConnectionError)):
        return refusals.unreachable(target.host, target.port, f"TLS failed ({error})")
    return error
