"""Browsers of agents: each has one page, for one thread, until it was not used for a while.

The pages are kept in memory: a program that starts again has none, and says so at the next step.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from outlast_sandbox.browser.browsers import Browsers, RunningBrowser
from outlast_sandbox.browser.devtools import BrowserGone, BrowserRefused
from outlast_sandbox.browser.web_page import Sight, WebPage
from outlast_sandbox.browser.web_proxy import WebProxy
from outlast_sandbox.clock import Clock
from outlast_sandbox.egress.dialer import DialInside
from outlast_sandbox.errors import SandboxError

IDLE_S: Final = 600.0
YIELDS_AFTER_S: Final = 60.0  # a page not used for so long ends if another thread waits for a browser
LONGEST_S: Final = 3600.0
WAIT_S: Final = 300.0
STEP_S: Final = 60.0
ANSWER_BYTES: Final = 1_300_000  # some 3,500 nodes of a page: 50 ms to parse, on the event loop
CHECK_S: Final = 2.0
NO_PAGE: Final = (
    "No page is open. A page closes after {minutes:.0f} minutes without a step, when its run is cancelled, and when "
    "the server restarts. Open it with browser_open; what was typed or signed in there has to be done again."
)
BUSY: Final = "All {most} browsers of this server are in use. Try again later."
HANGS: Final = (
    "The page did not respond within {seconds:.0f} seconds, so its browser was closed. Do not repeat the step."
)
CRASHED: Final = "The page ended its browser; it may need more memory than there is. Do not repeat the step."
WAITING: Final = "Waiting for a free browser…\n"
log = logging.getLogger("outlast.browser")

Step = Callable[[WebPage], Awaitable[None]]
Over = Callable[[Collection[str]], Awaitable[Mapping[str, bool]]]
"""Which of these users are done: true if they were cancelled, so that their page ends at once."""


class StepFailed(Exception):
    """A step could not be done; the message is for the model."""


@dataclass(eq=False, slots=True)
class _Session:
    browser: RunningBrowser[WebProxy]
    page: WebPage
    used_at: float
    user: str = ""
    steps: int = 0  # that run or wait
    is_over: bool = False
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    closing: anyio.Event = field(default_factory=anyio.Event)


class AgentBrowsers:
    """At most `most` browsers at a time; `folder` is private. `allow_private` as for `WebProxy`."""

    def __init__(
        self,
        clock: Clock,
        folder: Path,
        cache_dir: Path,
        program: Path,
        over: Over,
        *,
        most: int,
        allow_private: tuple[str, ...] = (),
    ) -> None:
        self._clock, self._over, self._most = clock, over, most
        self._browsers = Browsers(
            clock,
            folder,
            cache_dir,
            program,
            lambda _: WebProxy(allow_private),
            most=most,
            longest_s=LONGEST_S,
            answer_bytes=ANSWER_BYTES,
        )
        self._sessions: dict[str, _Session] = {}
        self._tasks: TaskGroup | None = None
        self._queue = anyio.Lock()
        self._changed = anyio.Event()

    @property
    def owners(self) -> Collection[str]:
        """Those that have a page."""
        return self._sessions.keys()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Hold the pages until cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._browsers.run)
                self._tasks = tasks
                task_status.started()
                await self._end_unused()
        finally:
            self._tasks = None
            self._sessions.clear()

    async def open(
        self, owner: str, user: str, step: Step, waiting: Callable[[str], None], inside: DialInside | None = None
    ) -> Sight:
        """A step that needs no page: a new one is opened if the owner has none. Waits up to `WAIT_S` for a free
        browser; `waiting` shows that. `inside`: for loopback addresses, from now on. Raises `StepFailed`."""
        if self._find(owner) is None:
            await self._start(owner, waiting)
        session = self._find(owner)
        if session is not None and inside is not None:
            session.browser.proxy.inside = inside
        return await self.step(owner, user, step)

    async def step(self, owner: str, user: str, step: Step) -> Sight:
        """Do one step on the owner's page, and look at it; steps of one page wait for each other. `user`: for `Over`.
        Raises `StepFailed`; what `step` raises is passed on."""
        session = self._find(owner)
        if session is None:
            raise StepFailed(NO_PAGE.format(minutes=IDLE_S / 60))
        session.user, session.is_over = user, False
        session.steps += 1
        try:
            async with session.turn:
                with anyio.fail_after(STEP_S):
                    await step(session.page)
                    return await session.page.look()
        except TimeoutError:
            session.closing.set()
            raise StepFailed(HANGS.format(seconds=STEP_S)) from None
        except BrowserGone:
            session.closing.set()
            raise StepFailed(CRASHED) from None
        except BrowserRefused as error:
            raise StepFailed(f"The browser could not do this: {error}.") from None
        finally:
            session.steps -= 1
            session.used_at = self._clock.monotonic()
            self._ring()

    def close(self, owner: str) -> None:
        """End the owner's page, if there is one."""
        if (session := self._sessions.get(owner)) is not None:
            session.closing.set()

    def _find(self, owner: str) -> _Session | None:
        session = self._sessions.get(owner)
        usable = session is not None and not session.closing.is_set() and session.browser.is_usable
        return session if usable else None

    async def _start(self, owner: str, waiting: Callable[[str], None]) -> None:
        if self._queue.locked() or (len(self._sessions) >= self._most and self._yielding() is None):
            waiting(WAITING)
        try:
            with anyio.fail_after(WAIT_S):
                async with self._queue:
                    if self._find(owner) is None:  # another call of the same step may have opened it
                        await self._make_room(owner)
                        await self._begin(owner)
        except TimeoutError:
            raise StepFailed(BUSY.format(most=self._most)) from None
        except (BrowserGone, BrowserRefused, SandboxError) as error:
            log.warning("browser did not start", extra={"reason": str(error)})
            raise StepFailed(f"The browser of this server did not start ({error}).") from None

    async def _make_room(self, owner: str) -> None:
        while owner in self._sessions or len(self._sessions) >= self._most:
            ending = self._sessions.get(owner) or self._yielding()
            changed = self._changed
            if ending is not None:
                ending.closing.set()
            with anyio.move_on_after(CHECK_S):
                await changed.wait()

    def _yielding(self) -> _Session | None:
        """The page that makes room for another: the least recently used one of those that are not needed now."""
        now = self._clock.monotonic()
        unused = [
            one
            for one in self._sessions.values()
            if not one.steps and (one.is_over or one.closing.is_set() or now - one.used_at > YIELDS_AFTER_S)
        ]
        return min(unused, key=lambda one: one.used_at, default=None)

    async def _begin(self, owner: str) -> None:
        if self._tasks is None:
            raise BrowserGone("the server is stopping")
        browser = await self._browsers.take((owner, 0))
        session = _Session(browser, WebPage(browser.browser, browser.proxy), self._clock.monotonic())
        self._sessions[owner] = session
        self._ring()
        try:
            started: BrowserGone | None = await self._tasks.start(self._keep, owner, session)
            if started is not None:
                raise started
        except BaseException:  # cancelled before it was kept: nothing else would end it
            browser.closing.set()
            self._drop(owner, session)
            raise

    async def _keep(
        self, owner: str, session: _Session, *, task_status: TaskStatus[BrowserGone | None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve a page until it is to end, or its browser has ended; its faults end nothing else."""
        is_open = False
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(session.page.serve)
                is_open = True
                task_status.started(None)
                tasks.start_soon(_end_with, session.browser.browser.gone, tasks.cancel_scope)
                await session.closing.wait()
                tasks.cancel_scope.cancel()
        except Exception as error:
            if is_open:
                log.exception("the page of a browser failed")
            else:
                task_status.started(BrowserGone(f"no page was opened: {error}"))
        finally:
            self._browsers.give_back(session.browser, usable=False)
            with anyio.CancelScope(shield=True):
                await session.browser.closed.wait()
            self._drop(owner, session)

    def _drop(self, owner: str, session: _Session) -> None:
        session.closing.set()
        if self._sessions.get(owner) is session:
            del self._sessions[owner]
        self._ring()

    async def _end_unused(self) -> None:
        """End pages that were not used for a while, and those of cancelled users."""
        while True:
            if not self._sessions:
                await self._changed.wait()
                continue
            await self._clock.sleep(CHECK_S)
            users = {one.user for one in self._sessions.values() if one.user and not one.is_over}
            over = await self._ask_over(users) if users else {}
            for one in self._sessions.values():
                one.is_over = one.is_over or one.user in over
                idle_s = self._clock.monotonic() - one.used_at
                if over.get(one.user) or (not one.steps and idle_s > IDLE_S):
                    one.closing.set()

    async def _ask_over(self, users: Collection[str]) -> Mapping[str, bool]:
        try:
            return await self._over(users)
        except Exception:  # asked again at the next look; pages outlive a database that does not answer
            log.warning("it is not known which runs have ended", exc_info=True)
            return {}

    def _ring(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


async def _end_with(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
