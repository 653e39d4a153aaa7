"""The server's handle on one sandbox on another machine."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from outlast_sandbox.errors import NotFound, SandboxError, SandboxUnavailable
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interface import SandboxStatistics
from outlast_sandbox.providers.docker.connections import attach
from outlast_sandbox.providers.docker.engine import Engine, EngineRefused, no_answer
from outlast_sandbox.providers.docker.handshake import bound
from outlast_sandbox.providers.docker.sandbox import statistics_of
from outlast_sandbox.providers.hosted.handle import HostedSandbox
from outlast_sandbox.providers.hosted.splice import Splices, check_port
from outlast_sandbox.providers.local.connection import Wire, connect_in, lost

from .multiplex import ChannelStream, Multiplex, Refused
from .plan import RELAY, users, volume_name

START_AGAIN_S: Final = 0.02
ASLEEP_LOOK_S: Final = 1.0
EGRESS_AGAIN_S: Final = (0.2, 1.0, 5.0)
KILL_TIMEOUT_S: Final = 60.0
EGRESS: Final = "egress"
BACKLOG: Final = 512
log = logging.getLogger("outlast.sandboxes")


class HostSandbox(HostedSandbox):
    """See `Sandbox`. In memory: one stream to a relay in the container, over which all connections go. When it breaks,
    the next call starts another relay; agent, commands and variables live on inside."""

    def __init__(
        self,
        engine: Engine,
        admit: Callable[[], Awaitable[None]],
        sandbox_id: str,
        ref: str,
        folder: Path,
        *,
        asleep: bool = False,
    ) -> None:
        super().__init__(sandbox_id, ref, asleep=asleep)
        self._engine = engine
        self._admit = admit  # raises unless the host may be used now
        self._container = ref.partition("/")[2]
        self._folder = folder
        self._splices = Splices()
        self._multiplex: Multiplex | None = None
        self._attaching = anyio.Lock()
        self._listener: socket.socket | None = None
        self._giving_way: asyncio.Future[None] | None = None

    async def introduce(self, config: dict[str, Any]) -> None:
        """Bring the agent, which starts at this moment, its configuration; returns once it serves. No time limit: the
        caller watches the container. Raises `OSError`."""
        stream = None
        while stream is None:
            try:
                stream = await self._open_channel("agent")
            except Refused:
                await anyio.sleep(START_AGAIN_S)  # it does not listen yet
        wire = Wire(stream)
        try:
            await wire.send(config, b"")
            await wire.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise ConnectionError("the agent gave up") from error
        finally:
            await wire.aclose()

    async def open_stream(self) -> ByteStream:
        try:
            return await self._open_channel("agent")
        except Refused as error:
            raise ConnectionError("the agent is gone") from error

    async def dial(self, port: int) -> socket.socket:
        check_port(port)
        await self.awake()
        try:
            channel = await self._open_channel(str(port))
        except Refused as error:
            raise NotFound(f"nothing listens on port {port} in the sandbox", noun="port") from error
        except OSError as error:
            raise lost(self.sandbox_id) from error
        return await self._splices.pair(channel)

    async def egress_listener(self) -> socket.socket:
        """See `Sandbox`. The newest caller of all servers gets the connections; the listener of the one before stays
        quiet from then on."""
        await self.awake()
        try:
            holder = await self._open_channel(EGRESS)
        except Refused as error:
            raise SandboxUnavailable(f"No egress: {error}", sandbox_id=self.sandbox_id) from error
        except OSError as error:
            raise lost(self.sandbox_id) from error
        if self._listener is None:
            self._listener = await anyio.to_thread.run_sync(self._listen)
        if self._giving_way is not None:
            self._giving_way.cancel()
        # It lives as long as the listener, which the caller owns.
        self._giving_way = asyncio.ensure_future(self._hold_way_out(holder))  # noqa: TID251
        return self._listener.dup()

    def _listen(self) -> socket.socket:
        """A socket in a folder that only this server's user may enter."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / EGRESS).unlink(missing_ok=True)
        listener = bound(self._folder, EGRESS, socket.SOCK_STREAM)
        listener.listen(BACKLOG)
        return listener

    async def _hold_way_out(self, holder: ByteStream) -> None:
        """Ask for the way out again whenever the stream broke, until another server asked, or the sandbox is gone; then
        the listener stays quiet."""
        while True:
            multiplex = self._multiplex
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                while True:
                    await holder.receive()
            if multiplex is not None and not multiplex.over.is_set():
                return  # the relay lives, so the agent has closed it: another server has taken over
            found = await self._ask_again()
            if found is None:
                return
            holder = found

    async def _ask_again(self) -> ByteStream | None:
        tries = 0
        while not self.killed:
            await self.awake()
            try:
                if not await self.is_there():
                    return None
                return await self._open_channel(EGRESS)
            except Refused:
                return None
            except (SandboxError, OSError):
                await anyio.sleep(EGRESS_AGAIN_S[min(tries, len(EGRESS_AGAIN_S) - 1)])
                tries += 1
        return None

    def _arrived(self, channel: ChannelStream) -> None:
        """Something inside connects outward."""
        # A short task of its own: it ends once both sides are joined.
        arriving = asyncio.ensure_future(self._let_out(channel))  # noqa: TID251
        arriving.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    async def _let_out(self, channel: ChannelStream) -> None:
        try:
            stream = await connect_in(self._folder, EGRESS)
        except OSError:
            await channel.aclose()  # no proxy serves it now
            return
        self._splices.carry(channel, stream)

    async def _open_channel(self, target: str) -> ChannelStream:
        """Raises `OSError` if the container is gone, `HostUnreachable`, `Refused`."""
        for last in (False, True):
            multiplex = await self._attached()
            try:
                return await multiplex.open(target)
            except OSError as error:
                if last:
                    why = multiplex.complaint.decode("utf-8", "replace").strip()
                    raise ConnectionError(why or str(error)) from error
        raise AssertionError

    async def _attached(self) -> Multiplex:
        async with self._attaching:
            if self._multiplex is None or self._multiplex.over.is_set():
                await self._admit()
                self._multiplex = Multiplex(await self._start_relay(), self._arrived)
            return self._multiplex

    async def _start_relay(self) -> Any:
        """Start a relay and attach to it; waits while the container is paused, perhaps by another server."""
        user = users(self.sandbox_id)[1]
        while True:
            try:
                process = await self._engine.prepare_process(self._container, RELAY, f"{user}:{user}")
                return await attach(self._engine.address, process)
            except EngineRefused as refused:
                if (await self._state()).get("Paused"):
                    await anyio.sleep(ASLEEP_LOOK_S)
                    continue
                raise ConnectionError(str(refused)) from refused
            except (OSError, TimeoutError) as error:
                if not await self.is_there():
                    raise
                raise no_answer(self._engine.address, error) from error

    async def is_there(self) -> bool:
        return _is_alive(await self._state())

    async def look(self) -> None:
        if not await self.is_there():
            raise lost(self.sandbox_id)

    async def extend(self) -> None:
        """An engine ends nothing by itself."""

    async def freeze(self) -> None:
        if (await self._alive_state()).get("Paused"):
            return
        await self.fall_asleep()
        try:
            await self._engine.pause(self._container)
        except EngineRefused as error:
            self.wake_up()
            raise SandboxUnavailable(
                f"The sandbox cannot be frozen there: {error}",
                hint="The engine needs a control group freezer; without it, idle sandboxes are stopped.",
            ) from error
        except BaseException:
            self.wake_up()
            raise

    async def thaw(self) -> None:
        await self._admit()
        try:
            if (await self._alive_state()).get("Paused"):
                await self._engine.unpause(self._container)
        except EngineRefused as error:
            if (await self._alive_state()).get("Paused"):
                raise SandboxUnavailable(f"The sandbox cannot be thawed: {error}") from error
        self.wake_up()

    async def kill(self) -> None:
        self.killed = True
        with anyio.move_on_after(KILL_TIMEOUT_S, shield=True):
            await self.aclose()
            await end_container(self._engine, self._container, self.sandbox_id)
        self.wake_up()

    async def _measure(self) -> SandboxStatistics:
        await self.look()
        usage = await self._engine.statistics(self._container)
        if usage is None:
            raise lost(self.sandbox_id)
        return statistics_of(usage)

    async def statistics(self) -> SandboxStatistics | None:
        if not self.sleeps and (await self._alive_state()).get("Paused"):
            return None  # another server has frozen it
        return await super().statistics()

    async def log(self) -> str:
        return await self._engine.log(self._container)

    async def aclose(self) -> None:
        if self._giving_way is not None:
            self._giving_way.cancel()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._splices.aclose()
        await super().aclose()
        self.drop_stream()
        await anyio.to_thread.run_sync(discard_folder, self._folder)

    def drop_stream(self) -> None:
        """Close the stream to the relay: the next call attaches again, after the host was looked at."""
        if self._multiplex is not None:
            self._multiplex.close()

    async def _state(self) -> dict[str, Any]:
        facts = await self._engine.inspect(self._container)
        state: dict[str, Any] = facts["State"] if facts is not None else {}
        return state

    async def _alive_state(self) -> dict[str, Any]:
        state = await self._state()
        if not _is_alive(state):
            raise lost(self.sandbox_id)
        return state


def _is_alive(state: dict[str, Any]) -> bool:
    return bool(state.get("Running") or state.get("Paused"))


async def end_container(engine: Engine, container: str, sandbox_id: str) -> None:
    """Remove the container with all its processes, then its volume. Idempotent. Raises `SandboxUnavailable`,
    `HostUnreachable`."""
    try:
        await engine.remove(container)
        await engine.remove_volume(volume_name(sandbox_id))
    except EngineRefused as error:
        raise SandboxUnavailable(f"the container {container[:12]} could not be removed: {error}") from error
