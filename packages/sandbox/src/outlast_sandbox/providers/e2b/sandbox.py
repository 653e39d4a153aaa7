"""The server's handle on one sandbox of E2B."""

import asyncio
import shlex
import socket
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import ByteStream
from e2b import AsyncSandbox

from outlast_sandbox.errors import SandboxError, SandboxLost
from outlast_sandbox.providers.hosted.handle import HostedSandbox
from outlast_sandbox.providers.hosted.relays import RelayStream, as_lines
from outlast_sandbox.providers.hosted.splice import Splices, check_port
from outlast_sandbox.providers.hosted.startup import RUNNING, dial_words, find_command, relay_words
from outlast_sandbox.providers.local.connection import lost

from .service import Service, call_sdk, shell

CLOSE_TIMEOUT_S: Final = 5.0


class E2bSandbox(HostedSandbox):
    """See `Sandbox`. In memory: the SDK's object, or None while it sleeps; `placed`: its fence and its host."""

    def __init__(self, service: Service, sandbox_id: str, ref: str, nonce: str, awake: AsyncSandbox | None) -> None:
        super().__init__(sandbox_id, ref, asleep=awake is None)
        self._service = service
        self._nonce = nonce
        self._awake = awake
        self._splices = Splices()
        self.placed = 0, ""

    @property
    def fence(self) -> int:
        return self.placed[0]

    @property
    def host(self) -> str:
        return self.placed[1]

    async def freeze(self) -> None:
        if self._awake is None:
            await self.look()
            return
        await self.fall_asleep()
        try:
            await self._service.pause(self.ref)
        except BaseException:
            self.wake_up()
            raise
        self._awake = None

    async def thaw(self) -> None:
        if self._awake is None:
            self._awake = await find_agent(self._service, self.sandbox_id, self.ref, self._nonce)
        if self.sleeps:
            self.wake_up()

    async def kill(self) -> None:
        self.killed = True
        with anyio.CancelScope(shield=True):
            await self.aclose()
            with suppress(SandboxLost):
                await self._service.kill(self.ref)
            self.wake_up()

    async def look(self) -> None:
        await self._service.look(self.ref)

    async def extend(self) -> None:
        await self._service.extend(self.ref)

    async def is_there(self) -> bool:
        if self.sleeps:
            return True
        try:
            self._awake = await find_agent(self._service, self.sandbox_id, self.ref, self._nonce)
        except SandboxError:
            return False
        return True

    async def open_stream(self) -> ByteStream:
        return await self._relay(relay_words(self._nonce))

    async def dial(self, port: int) -> socket.socket:
        check_port(port)
        await self.awake()
        try:
            return await self._splices.join(await self._relay(dial_words(port, self._nonce)), port)
        except (OSError, anyio.EndOfStream) as error:
            raise lost(self.sandbox_id) from error

    async def aclose(self) -> None:
        self._splices.aclose()
        await super().aclose()

    async def _relay(self, words: list[str]) -> ByteStream:
        """Raises OSError if the sandbox sleeps or is gone."""
        sandbox = self._awake
        if sandbox is None:
            raise OSError("it sleeps")
        stream = _E2bRelay()
        try:
            await stream.start(sandbox, shlex.join(words))
        except SandboxLost as error:
            raise OSError("it is gone") from error
        return stream


class _E2bRelay(RelayStream):
    """A relay as a background command of the SDK, whose own task feeds it."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    async def start(self, sandbox: AsyncSandbox, command: str) -> None:
        self._handle = await call_sdk(
            sandbox.sandbox_id,
            lambda: sandbox.commands.run(
                command, background=True, stdin=True, timeout=0, on_stdout=self._heard, retain_output=False
            ),
        )
        # The SDK reports the end only to a waiting caller; this waits next to the SDK's own task, as long as that
        # lives.
        ending = asyncio.ensure_future(self._handle.wait())  # noqa: TID251
        ending.add_done_callback(self._over)

    async def _heard(self, text: str) -> None:
        await self.arrived(text.encode())

    def _over(self, ending: "asyncio.Future[Any]") -> None:
        if not ending.cancelled():
            ending.exception()  # its exit does not matter, only the agent's response
        self.ended()

    async def send(self, item: bytes) -> None:
        try:
            for line in as_lines(item):
                await call_sdk("", partial(self._handle.send_stdin, line))
        except SandboxError as error:
            raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        try:
            await call_sdk("", self._handle.close_stdin)
        except SandboxError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        await super().aclose()
        if self._handle is not None:
            handle, self._handle = self._handle, None
            with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
                with suppress(SandboxError):
                    await call_sdk("", handle.kill)


async def find_agent(service: Service, sandbox_id: str, ref: str, nonce: str) -> AsyncSandbox:
    """The sandbox, awake, with the agent in it. Raises `SandboxLost` if the agent did not survive."""
    sandbox = await service.connect(ref)
    if await shell(sandbox, find_command(nonce)) != RUNNING:
        await service.kill(ref)
        raise lost(sandbox_id)
    return sandbox
