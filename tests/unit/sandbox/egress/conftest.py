"""A proxy over a loopback listener, in a world of stand-ins."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import anyio
import anyio.abc
import pytest

from outlast.base.clock import SystemClock
from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast_sandbox.egress.certificate_authority import Authority
from outlast_sandbox.egress.dialer import Dialer
from outlast_sandbox.egress.http1 import RequestHead
from outlast_sandbox.egress.proxy import SandboxProxy
from outlast_sandbox.egress.relay import Relay
from outlast_sandbox.egress.rules import Target, names
from outlast_sandbox.egress.secrets import OperatorSecrets, SandboxSecrets, placeholder
from outlast_sandbox.egress.upstream import Upstreams
from tests.hosts import Handle, Host, Trust, World, listening

SECRET = "lin_api_Zx81+/qq/7=="
OTHER_SECRET = "other-secret-value-99"


@dataclass
class Use:
    secret: str
    user_id: str | None
    host: str
    status: int | None


@dataclass
class UseNotes:
    uses: list[Use] = field(default_factory=list)

    async def record(
        self,
        names: Sequence[str],
        user_id: str | None,
        target: Target,
        head: RequestHead,
        status: int | None,
        own: Collection[str],
    ) -> None:
        self.uses += [Use(name, user_id, target.authority, status) for name in names]


def settings(*, allow: Sequence[str] = (), hosts: Sequence[str] = (), private: Sequence[str] = ()) -> SandboxSettings:
    return SandboxSettings(
        allow_hosts=tuple(allow),
        dependencies=(
            DependencySettings("npm:a", secret_env="A_KEY", hosts=tuple(hosts), allow_private=tuple(private)),
            DependencySettings("npm:b", secret_env="B_KEY", hosts=("api.other.example",)),
        ),
    )


@dataclass
class Answer:
    status: int
    head: bytes
    body: bytes


class Client:
    """A client inside, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> Answer:
        head = (await self.reader.readuntil(b"\r\n\r\n"))[:-4]
        return Answer(int(head.split(b" ")[1]), head, b"")

    async def ask(self, data: bytes) -> Answer:
        """Send a request, read the whole answer."""
        if data:
            await self.send(data)
        answer = await self.head()
        fields = {
            key.lower(): value for key, value in (line.split(b": ", 1) for line in answer.head.split(b"\r\n")[1:])
        }
        if fields.get(b"transfer-encoding") == b"chunked":
            while size := int(await self.reader.readuntil(b"\r\n"), 16):
                answer.body += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readexactly(2)
        else:
            answer.body = await self.reader.readexactly(int(fields.get(b"content-length", b"0")))
        return answer

    async def rest(self) -> bytes:
        with contextlib.suppress(ConnectionError):
            return await self.reader.read()
        return b""


class Proxied:
    """One proxy, its world, and clients of it."""

    def __init__(self, stack: AsyncExitStack, tasks: anyio.abc.TaskGroup) -> None:
        self.world = World()
        self.trust = Trust()
        self.authority = Authority.fresh("sbx_1")
        self.uses = UseNotes()
        self.user: str | None = "usr_1"
        self.environment: dict[str, str] = {"A_KEY": SECRET, "B_KEY": OTHER_SECRET}
        self.inside: int | None = None  # a port of this machine that stands for one inside
        self.port = 0
        self.proxy: SandboxProxy
        self.upstreams: Upstreams
        self._stack, self._tasks = stack, tasks

    def placeholder(self, name: str = "A_KEY") -> str:
        return placeholder(b"key", "sbx_1", name)

    async def start(self, of: SandboxSettings) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        self.port = listener.getsockname()[1]
        policy = policy_of(of)
        placeholders = {name: self.placeholder(name) for name in names(policy)}

        async def whose() -> str | None:
            return self.user

        async def dial(port: int) -> socket.socket:
            assert self.inside is not None
            return socket.create_connection(("127.0.0.1", self.inside))

        secrets = SandboxSecrets(placeholders, "prj_1", OperatorSecrets(self.environment), whose)
        dialer = Dialer(policy, self.world, self.trust.contexts(), dial)
        clock = SystemClock()
        self.upstreams = Upstreams(dialer, clock, self._tasks.start_soon)
        relay = Relay(policy, secrets, self.upstreams, self.uses)
        self.proxy = SandboxProxy("sbx_1", policy, dialer, relay, clock, self.authority)
        self._tasks.start_soon(self.proxy.serve, listener)

    async def host(
        self, name: str, port: int = 443, host: Host | None = None, *, secure: bool = True, tls_name: str | None = None
    ) -> Host:
        """A host of this name and a public address; with TLS (and a certificate for `tls_name`) unless its port is
        80."""
        host = host or Host()
        tls = self.trust.server(tls_name or name) if secure and port != 80 else None
        host.port = await self.door(name, port, host.serve, tls)
        return host

    async def door(self, name: str, port: int, handle: Handle, tls: ssl.SSLContext | None, address: str = "") -> int:
        opened = await self._stack.enter_async_context(listening(handle, tls))
        self.world.put(name, port, opened, address or f"93.184.216.{len(self.world.doors) + 10}")
        return opened

    async def client(self) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self.port))

    async def connected(self, authority: str) -> tuple[Answer, Client]:
        client = await self.client()
        await client.send(b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n\r\n" % ((authority.encode(),) * 2))
        return await client.head(), client

    async def secure(
        self, host: str, *, name: str | None = None, port: int = 443, context: ssl.SSLContext | None = None
    ) -> Client:
        """A TLS client over CONNECT that trusts the sandbox's authority (or `context`) and asks for `name`."""
        answer, client = await self.connected(f"{host}:{port}")
        assert answer.status == 200, answer.head
        trusted = context or ssl.create_default_context(cadata=self.authority.pem)
        await client.writer.start_tls(trusted, server_hostname=name or host)
        return client


@pytest.fixture
async def proxied() -> AsyncIterator[Proxied]:
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        made = Proxied(stack, tasks)
        with anyio.fail_after(60):
            yield made
        made.upstreams.close()
        tasks.cancel_scope.cancel()
