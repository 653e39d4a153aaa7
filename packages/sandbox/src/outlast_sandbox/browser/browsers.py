"""Running browsers, each in a local sandbox of its own.

A browser serves one sandbox only, so pages of different screens never meet. It stays for a minute for the next picture
of the same sandbox. Running browsers are kept in memory. The next server's `run` ends browsers that a killed server
left, and each browser ends by itself after ten minutes, even if its server is gone.
"""

import logging
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from outlast_sandbox.browser.chromium import LONGEST_S, folder_to_show, start_command
from outlast_sandbox.browser.devtools import MESSAGE_BYTES, Browser, BrowserGone
from outlast_sandbox.clock import Clock
from outlast_sandbox.errors import SandboxError, SandboxLost
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interactive import ProcessSpec
from outlast_sandbox.interface import Limits, SandboxSpec
from outlast_sandbox.providers.local.launch import Ground
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox

MAX_BROWSERS: Final = 2
IDLE_S: Final = 60.0
START_S: Final = 15.0
LAST_USE_S: Final = 120.0  # a browser with less time left is not used: it might end during a picture
LIMITS: Final = Limits(
    memory_bytes=1024**3, cpu_count=2.0, processes=512, disk_bytes=256 * 1024**2, output_bytes=64 * 1024**2
)
log = logging.getLogger("outlast.browser")


class WayOut(Protocol):
    """The only network access of one browser."""

    def flags(self, way_out: int) -> Sequence[str]:
        """Chromium's flags, if the sandbox's egress listener has this port inside."""

    async def serve(self, listener: socket.socket) -> None:
        """Serve until cancelled; owns the listener."""


W = TypeVar("W", bound=WayOut)


@dataclass(eq=False, slots=True)
class RunningBrowser(Generic[W]):
    """A browser that runs for `serves`: a sandbox and one port of it, or the owner of a page and 0. `closing` requests
    its end, `closed` is set when nothing is left of it. `users` counts the callers that use it or wait for their
    turn."""

    serves: tuple[str, int]
    browser: Browser
    proxy: W
    born: float
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    closing: anyio.Event = field(default_factory=anyio.Event)
    closed: anyio.Event = field(default_factory=anyio.Event)
    users: int = 0
    used_at: float = 0.0

    @property
    def is_usable(self) -> bool:
        return not self.closing.is_set() and not self.browser.gone.is_set()


Begun = RunningBrowser[Any] | SandboxError | BrowserGone


class _Start:
    """Passes the outcome of a browser's start to its caller, once."""

    def __init__(self, task_status: TaskStatus[Begun]) -> None:
        self._task_status, self._reported = task_status, False

    def report(self, begun: Begun) -> None:
        if not self._reported:
            self._reported = True
            self._task_status.started(begun)


class Browsers(Generic[W]):
    """`folder` is private: two servers never share one. `cache_dir` is that of all local sandboxes. `most` browsers run
    at a time, each at most `longest_s`; `open_way` makes the way out of one, for what it serves. `answer_bytes` is
    that of `Browser`."""

    def __init__(
        self,
        clock: Clock,
        folder: Path,
        cache_dir: Path,
        program: Path,
        open_way: Callable[[tuple[str, int]], W],
        *,
        most: int = MAX_BROWSERS,
        longest_s: float = LONGEST_S,
        answer_bytes: int = MESSAGE_BYTES,
    ) -> None:
        self._answer_bytes = answer_bytes
        self._open_way, self._most, self._longest_s = open_way, most, longest_s
        self._clock = clock
        self._work = folder / "work"
        self._provider = LocalProvider(folder / "state", cache_dir)
        self._program = program
        self._tasks: TaskGroup | None = None
        self._all: list[RunningBrowser[W]] = []
        self._opening = anyio.Lock()
        self._returned = anyio.Event()

    @property
    def is_running(self) -> bool:
        return self._tasks is not None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """End the browsers that a killed server left, then hold browsers until cancelled, and end them all."""
        await self._sweep()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            task_status.started()
            try:
                await anyio.sleep_forever()
            finally:
                self._tasks = None

    async def take(self, serves: tuple[str, int]) -> RunningBrowser[W]:
        """The browser for this port of this sandbox, started if there is none. Waits while all are in use. Give it back
        with `give_back`. Raises `BrowserGone`, `SandboxUnavailable` or another sandbox error if it does not start."""
        if (at_hand := self._find(serves)) is not None:
            return at_hand
        async with self._opening:
            if (at_hand := self._find(serves)) is not None:  # another task has started it meanwhile
                return at_hand
            await self._make_room()
            if self._tasks is None:
                raise BrowserGone("the server is stopping")
            begun: Begun = await self._tasks.start(self._keep, serves)
            if not isinstance(begun, RunningBrowser):
                raise begun
            begun.users += 1
            return begun

    def give_back(self, at_hand: RunningBrowser[W], *, usable: bool = True) -> None:
        """`usable` false: the browser may hang, so it is closed."""
        at_hand.users -= 1
        at_hand.used_at = self._clock.monotonic()
        if not usable:
            at_hand.closing.set()
        self._returned.set()
        self._returned = anyio.Event()

    def _find(self, serves: tuple[str, int]) -> RunningBrowser[W] | None:
        for found in self._all:
            old = self._clock.monotonic() - found.born > self._longest_s - LAST_USE_S
            if found.serves == serves and found.is_usable and not old:
                found.users += 1
                return found
        return None

    async def _make_room(self) -> None:
        """Wait until another browser may run; the one that was idle for longest is closed."""
        while len(self._all) >= self._most:
            idle = [one for one in self._all if one.users == 0]
            if not idle:
                await self._returned.wait()
                continue
            oldest = min(idle, key=lambda one: one.used_at)
            oldest.closing.set()
            await oldest.closed.wait()

    async def _keep(self, serves: tuple[str, int], *, task_status: TaskStatus[Begun]) -> None:
        """Run one browser; its faults end nothing else."""
        start = _Start(task_status)
        try:
            await self._live(serves, start)
        except Exception:
            log.exception("browser failed", extra={"serves": serves[0]})
        start.report(BrowserGone("an internal error; see the server log"))

    async def _live(self, serves: tuple[str, int], start: _Start) -> None:
        """Run one browser from its start to its end. A failed start is passed to the caller as a value."""
        name = f"browser_{secrets.token_hex(6)}"
        at_hand: RunningBrowser[W] | None = None
        box: LocalSandbox | None = None
        try:
            with anyio.fail_after(START_S):
                box = await self._provider.start(*self._plan(name))
                listener = await box.egress_listener()
                proxy = self._open_way(serves)
                flags = proxy.flags(listener.getsockname()[1])
                process = await box.processes.start(ProcessSpec(start_command(self._program, flags, self._longest_s)))
            browser = Browser(box.processes, process.pid, self._answer_bytes)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(proxy.serve, listener)
                tasks.start_soon(browser.read)
                with anyio.fail_after(START_S):
                    await browser.ask("Browser.getVersion")
                now = self._clock.monotonic()
                at_hand = RunningBrowser(serves, browser, proxy, now, used_at=now)
                self._all.append(at_hand)
                start.report(at_hand)
                await self._until_over(at_hand)
                tasks.cancel_scope.cancel()
        except BaseException as error:
            failure = _cause(error)
            if at_hand is None and failure is not None:
                start.report(failure)
            elif failure is None:
                raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._clear(name, box)
            if at_hand is not None:
                at_hand.closing.set()
                self._all.remove(at_hand)
                at_hand.closed.set()
            self._returned.set()
            self._returned = anyio.Event()

    async def _until_over(self, at_hand: RunningBrowser[W]) -> None:
        """Wait until the browser is asked to close, ends by itself, or is idle for a while."""

        async def wait(event: anyio.Event, scope: anyio.CancelScope) -> None:
            await event.wait()
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, at_hand.closing, tasks.cancel_scope)
            tasks.start_soon(wait, at_hand.browser.gone, tasks.cancel_scope)
            while (left_s := at_hand.used_at + IDLE_S - self._clock.monotonic()) > 0 or at_hand.users:
                await self._clock.sleep(max(left_s, 1.0))
            tasks.cancel_scope.cancel()

    def _plan(self, name: str) -> tuple[SandboxSpec, Ground, Path]:
        spec = SandboxSpec(name, self._work / name, LIMITS, egress=True)
        program_folder = folder_to_show(self._program)
        ground = Ground(read_only=() if program_folder is None else ((program_folder, str(program_folder)),))
        return spec, ground, self._provider.state_dir / name

    async def _clear(self, name: str, box: LocalSandbox | None) -> None:
        if box is not None:
            with suppress(SandboxLost):
                await box.kill()
        await anyio.to_thread.run_sync(discard_folder, self._work / name)

    async def _sweep(self) -> None:
        """Only this server works in the folder, so any process in it belongs to a server that was killed."""
        with suppress(OSError):  # the first start reports a folder that cannot be read
            for sandbox_id, ref in await self._provider.list_refs():
                with suppress(SandboxLost):
                    await (await self._provider.connect(sandbox_id, ref)).kill()
        await anyio.to_thread.run_sync(discard_folder, self._work)


def _cause(error: BaseException) -> SandboxError | BrowserGone | None:
    """The reason why a browser failed, also from a group of errors, or None if the error is of another kind."""
    if isinstance(error, BaseExceptionGroup):
        causes = [_cause(inner) for inner in error.exceptions]
        return causes[0] if causes and all(causes) else None
    if isinstance(error, TimeoutError):
        return BrowserGone(f"it did not start within {START_S:.0f} seconds")
    if isinstance(error, OSError):
        return BrowserGone(str(error))
    return error if isinstance(error, (SandboxError, BrowserGone)) else None
