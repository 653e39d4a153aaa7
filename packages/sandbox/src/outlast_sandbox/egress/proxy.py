"""The proxy of one sandbox: clients inside connect to its listener, and reach the hosts that the policy allows."""

import asyncio
import errno
import logging
import resource
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from outlast_sandbox.clock import Clock
from outlast_sandbox.egress import refusals
from outlast_sandbox.egress.client_hello import ALERT_UNRECOGNIZED_NAME, HANDSHAKE, NotTls, NotYet, server_name
from outlast_sandbox.egress.dialer import Dialer
from outlast_sandbox.egress.http1 import BadMessage, MessageReader, RequestHead, parse_request
from outlast_sandbox.egress.refusals import Refused
from outlast_sandbox.egress.relay import Relay
from outlast_sandbox.egress.rules import WEB_PORT, Policy, Target, may_reach, read_authority, same_authority, secrets_of
from outlast_sandbox.egress.transport import Channel, TlsWire, Wire, wire_of
from outlast_sandbox.egress.tunnel import join
from outlast_sandbox.host_patterns import NotAHost, is_address

if TYPE_CHECKING:
    from outlast_sandbox.egress.certificate_authority import Authority

MAX_CONNECTIONS: Final = 256
MIN_CONNECTIONS: Final = 16
MAX_PER_SECOND: Final = 300
FILES_PER_PLACE: Final = 64  # one sandbox may use at most 1 in 64 of the server's open files for connections
MAX_HANDSHAKES: Final = 4
HEAD_S: Final = 30.0
IDLE_S: Final = 600.0
HALF_CLOSED_S: Final = 60.0
ESTABLISHED: Final = b"HTTP/1.1 200 Connection Established\r\n\r\n"
LINGER_S: Final = 2.0
LINGER_READS: Final = 64
NO_DESCRIPTORS_S: Final = 0.2
log = logging.getLogger("outlast.egress")


@dataclass(frozen=True, slots=True)
class EgressStatistics:
    """Counts for one sandbox since its proxy started: connections open now, requests and tunnels passed on,
    refusals."""

    open: int
    requests: int
    tunnels: int
    refused: int


class SandboxProxy:
    """Serves one listener under one policy. In memory: connections only; all of them end with `serve`."""

    def __init__(
        self,
        sandbox_id: str,
        policy: Policy,
        dialer: Dialer,
        relay: Relay,
        clock: Clock,
        authority: "Authority | None" = None,
        on_refusal: Callable[[Refused], None] | None = None,
    ) -> None:
        self._on_refusal = on_refusal
        self._sandbox_id = sandbox_id
        self._policy = policy
        self._dialer = dialer
        self._relay = relay
        self._clock = clock
        self._authority = authority
        self._places = places()
        self._room = anyio.Semaphore(self._places)
        self._handshakes = anyio.Semaphore(MAX_HANDSHAKES)
        self._requests = self._tunnels = self._refused = 0

    def statistics(self) -> EgressStatistics:
        return EgressStatistics(self._places - self._room.value, self._requests, self._tunnels, self._refused)

    async def serve(self, listener: socket.socket) -> None:
        """Accept connections until cancelled, with a limit on their number and on new ones per second; others wait
        unaccepted. Owns and closes the listener. Returns when the listener is gone."""
        loop = asyncio.get_running_loop()
        second, accepted = 0, 0
        with listener:
            async with anyio.create_task_group() as tasks:
                while True:
                    await self._room.acquire()
                    now = self._clock.monotonic()
                    second, accepted = (second, accepted + 1) if int(now) == second else (int(now), 1)
                    if accepted > MAX_PER_SECOND:
                        await anyio.sleep(int(now) + 1 - now)
                    try:
                        sock, _ = await loop.sock_accept(listener)
                    except OSError as error:
                        self._room.release()
                        if not await _listens_on(listener, error):
                            return
                        continue
                    except BaseException:
                        self._room.release()
                        raise
                    tasks.start_soon(self._take, sock)

    async def _take(self, sock: socket.socket) -> None:
        """Serve one client's connection to its end. A failure ends only this connection."""
        wire = None
        try:
            sock.setblocking(False)
            wire = await wire_of(sock)
            with anyio.CancelScope() as scope:
                _end_with(wire, scope)
                await self._converse(wire, None)
        except (OSError, NotTls):  # also TimeoutError, ssl.SSLError: concerns only this client
            pass
        except Exception:
            log.exception("egress connection failed", extra={"sandbox": self._sandbox_id})
        finally:
            if wire is not None:
                wire.close()
            self._room.release()

    async def _converse(self, client: Channel, fixed: Target | None) -> None:
        """Serve request after request. `fixed`: the target of this connection after a CONNECT."""
        reader = MessageReader(client)
        while True:
            try:
                client.set_deadline(IDLE_S)
                data = await reader.head()
                client.set_deadline(None)
                if data is None:
                    return
                head = parse_request(data)
                if head.method == b"CONNECT" and fixed is None:
                    assert isinstance(client, Wire)
                    client.unread(reader.rest())
                    await self._connect(head, client)
                    return
                if not await self._request(head, fixed, reader, client):
                    return
            except BadMessage as error:
                await self._refuse(client, refusals.malformed(str(error), error.status))
                return
            except Refused as refused:
                await self._refuse(client, refused)
                return

    async def _request(self, head: RequestHead, fixed: Target | None, reader: MessageReader, client: Channel) -> bool:
        target, path = _where(head, fixed)
        if fixed is None:
            self._check(target)
        hosts = head.by_name.get(b"host", [])
        if len(hosts) > 1 or (not hosts and head.minor):
            raise BadMessage("it needs exactly one Host header")
        if hosts and not same_authority(hosts[0].decode("latin-1"), target):
            raise refusals.host_differs(hosts[0].decode("latin-1"), target.authority)
        self._requests += 1
        if path is not head.target:
            head = head._replace(target=path)
        return await self._relay.pass_on(head, target, reader, client)

    # --- CONNECT ------------------------------------------------------------------------------------------------------

    async def _connect(self, head: RequestHead, client: Wire) -> None:
        """A connection to one host: inspected if secrets belong to it, otherwise tunnelled."""
        try:
            host, port = read_authority(head.target.decode("latin-1"), True)
        except NotAHost as error:
            raise refusals.no_host(head.target.decode("latin-1"), error) from error
        if b":" not in head.target or not host:
            raise BadMessage("CONNECT needs HOST:PORT")
        target = Target(host, port, True)
        self._check(target)
        inspected = bool(secrets_of(self._policy, target))
        outside = None
        if inspected or port == WEB_PORT:
            await self._dialer.check(target)
        else:
            outside = await self._dialer.connect(target)
        try:
            await client.write(ESTABLISHED)
            await self._connected(client, target, outside, inspected)
        finally:
            if outside is not None:
                outside.close()

    async def _connected(self, client: Wire, target: Target, outside: Wire | None, inspected: bool) -> None:
        with anyio.fail_after(HEAD_S):
            first = await client.read()
        if not first:
            return
        client.unread(first)
        if first[0] != HANDSHAKE:
            await self._converse(client, Target(target.host, target.port, False))  # HTTP without TLS
        elif inspected:
            await self._inspect(client, target)
        else:
            await self._tunnel(client, target, outside)

    async def _inspect(self, client: Wire, target: Target) -> None:
        """Terminate TLS here, with a certificate of the sandbox's own authority."""
        assert self._authority is not None
        async with self._handshakes:
            # In a thread: a sandbox that requests many names must not block the server with signing.
            now = self._clock.now()
            context = self._authority.ready(target.host, now)
            if context is None:
                context = await anyio.to_thread.run_sync(self._authority.context, target.host, now)
            tls = TlsWire(client, context, server_side=True)
            with anyio.fail_after(HEAD_S):
                await tls.handshake()  # fails if the client does not trust the authority or requests another name
        await self._converse(tls, target)
        tls.close()

    async def _tunnel(self, client: Wire, target: Target, outside: Wire | None) -> None:
        """Tunnel TLS once the server name that the client requests is known to be the host's."""
        with anyio.fail_after(HEAD_S):
            hello = await _whole_hello(client)
        name = server_name(hello)
        if name is NotYet.MORE or not _is_name_of(name, target):
            self._refused += 1
            await client.write(ALERT_UNRECOGNIZED_NAME)
            return
        client.unread(hello)
        if outside is None:
            try:
                outside = await self._dialer.connect(target)
            except Refused as refused:  # the client is gone, so no response is sent
                self._note(refused)
                return
        self._tunnels += 1
        await join(client, outside)

    # --- refusing -----------------------------------------------------------------------------------------------------

    def _check(self, target: Target) -> None:
        if not may_reach(self._policy, target.host, target.port):
            raise refusals.host_refused(self._policy, target.host, target.port)

    def _note(self, refused: Refused) -> None:
        self._refused += 1
        if self._on_refusal is not None:
            self._on_refusal(refused)

    async def _refuse(self, client: Channel, refused: Refused) -> None:
        """Send the refusal, and read a little of the remaining data: closing at once would discard the response."""
        self._note(refused)
        log.debug("egress refused", extra={"sandbox": self._sandbox_id, "code": refused.code})
        with anyio.move_on_after(LINGER_S):
            await client.write(refused.answer())
            client.end()
            for _ in range(LINGER_READS):
                if not await client.read():
                    return


def _end_with(wire: Wire, scope: anyio.CancelScope) -> None:
    """Close the connection. A client that is gone needs no response; one that has only ended its data gets time for its
    response."""

    def said_all() -> None:
        scope.deadline = min(scope.deadline, anyio.current_time() + HALF_CLOSED_S)

    wire.on_end, wire.on_lost = said_all, scope.cancel


def places() -> int:
    """The number of connections that one sandbox may have at a time, so that none can use up the server's
    descriptors."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(MIN_CONNECTIONS, allowed // FILES_PER_PLACE))


def _where(head: RequestHead, fixed: Target | None) -> tuple[Target, bytes]:
    """The target of a request, and the path for the host. Raises `Refused`, `BadMessage`."""
    if fixed is not None and (head.target.startswith(b"/") or head.target == b"*"):
        return fixed, head.target
    scheme, separator, rest = head.target.partition(b"://")
    encrypted = scheme.lower() == b"https"
    if not separator or scheme.lower() not in (b"http", b"https"):
        raise BadMessage("its target is not a path") if fixed is not None else refusals.not_a_proxy_request()
    end = next((at for at, byte in enumerate(rest) if byte in b"/?#"), len(rest))
    authority, path = rest[:end].decode("latin-1"), rest[end:]
    try:
        host, port = read_authority(authority, encrypted)
    except NotAHost as error:
        raise refusals.no_host(authority, error) from error
    target = Target(host, port, encrypted)
    if not host or (fixed is not None and target != fixed):
        raise refusals.host_differs(authority, fixed.authority if fixed is not None else "nowhere")
    return target, path if path.startswith(b"/") else b"/" + path


def _is_name_of(name: str | None, target: Target) -> bool:
    """True if this server name means the target. Addresses are requested without a name."""
    return is_address(target.host) if name is None else name.removesuffix(".") == target.host


async def _whole_hello(client: Wire) -> bytes:
    """The first bytes of a client, up to the end of its ClientHello or further."""
    data = await client.read()
    while server_name(data) is NotYet.MORE:
        more = await client.read()
        if not more:
            raise ConnectionResetError("the client closed the connection")
        data += more
    return data


async def _listens_on(listener: socket.socket, error: OSError) -> bool:
    """True if accepting can go on after this error: an aborted connection, or no descriptor is free now."""
    if listener.fileno() < 0 or error.errno in (errno.EBADF, errno.EINVAL, errno.ENOTSOCK):
        return False
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
        await anyio.sleep(NO_DESCRIPTORS_S)
    return True
