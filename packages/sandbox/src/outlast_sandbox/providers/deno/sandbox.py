"""The server's handle on one sandbox at Deno."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import ByteStream

from outlast_sandbox.errors import SandboxError, SandboxLost
from outlast_sandbox.interactive import Files, Processes
from outlast_sandbox.providers.hosted.handle import HostedSandbox
from outlast_sandbox.providers.hosted.relays import Lines, as_lines
from outlast_sandbox.providers.hosted.startup import RUNNING, find_command, relay_words
from outlast_sandbox.providers.unsupported import lacking

from .service import CLOSE_TIMEOUT_S, Machine, Service

READ_BYTES: Final = 1 << 18


class DenoSandbox(HostedSandbox):
    """See `Sandbox`. In memory: one connection, opened again after it ends. `record` is the file that records the
    sandbox here."""

    def __init__(self, service: Service, sandbox_id: str, machine: Machine, nonce: str, record: Path) -> None:
        super().__init__(sandbox_id, machine.ref)
        self._service = service
        self._machine = machine
        self._nonce = nonce
        self._record = record

    @property
    def processes(self) -> Processes:
        lacking("interactive", "interactive processes are not supported")

    @property
    def files(self) -> Files:
        lacking("interactive", "files outside the workspace cannot be reached")

    async def freeze(self) -> None:
        if not await self.is_there():
            raise SandboxLost("The sandbox is gone.", sandbox_id=self.sandbox_id)
        lacking("pause", "it cannot be frozen")

    async def thaw(self) -> None:
        """Does nothing: it is always awake."""

    async def kill(self) -> None:
        self.killed = True
        with anyio.CancelScope(shield=True):
            await self.aclose()
            await self._service.kill(self.ref)
            self._record.unlink(missing_ok=True)

    async def extend(self) -> None:
        await self._machine.extend()

    async def is_there(self) -> bool:
        """Uses a new connection: the current connection may have failed."""
        try:
            fresh = await self._service.connect(self.ref)
        except SandboxError:
            return False
        old, self._machine = self._machine, fresh
        await old.aclose()
        try:
            return await fresh.shell(find_command(self._nonce)) == RUNNING
        except (SandboxError, TimeoutError):
            return False

    async def open_stream(self) -> ByteStream:
        return _DenoRelay(self._machine, relay_words(self._nonce))

    async def aclose(self) -> None:
        await super().aclose()
        await self._machine.aclose()


class _DenoRelay(ByteStream):
    """The SDK accepts a process's whole input only at its start, so each request is a relay of its own."""

    def __init__(self, machine: Machine, words: list[str]) -> None:
        self._machine = machine
        self._words = words
        self._process: Any = None
        self._lines = Lines()
        self._ready: list[bytes] = []

    async def send(self, item: bytes) -> None:
        await self._end()
        self._lines, self._ready = Lines(), []
        try:
            self._process = await self._machine.spawn(self._words, list(as_lines(item)))
        except SandboxLost as error:
            raise anyio.BrokenResourceError from error

    async def receive(self, max_bytes: int = 65536) -> bytes:
        while not self._ready:
            text = await self._process.stdout.read(READ_BYTES)
            if not text:
                raise anyio.EndOfStream
            self._ready.extend(self._lines.feed(text))
        return self._ready.pop(0)

    async def send_eof(self) -> None:
        raise NotImplementedError("half-close is not supported; a request to the agent is self-delimiting")

    async def aclose(self) -> None:
        with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(Exception):  # the SDK raises plain exceptions for processes that have ended
            await process.kill()
