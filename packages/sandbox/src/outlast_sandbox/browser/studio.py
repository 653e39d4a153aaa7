"""The photographer: opens pages in a browser if there is one, and with plain requests otherwise."""

from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskStatus

from outlast_sandbox.browser.browsers import Browsers, RunningBrowser
from outlast_sandbox.browser.devtools import BrowserGone, BrowserRefused
from outlast_sandbox.browser.interface import Look
from outlast_sandbox.browser.page import Seen, look_at
from outlast_sandbox.browser.plain_requests import ask_page
from outlast_sandbox.browser.single_target_proxy import SingleTargetProxy, is_open
from outlast_sandbox.clock import Clock
from outlast_sandbox.errors import SandboxError, SandboxLost
from outlast_sandbox.interface import Sandbox

TAKE_S: Final = 20.0  # for a browser to start or to become free
LOOK_S: Final = 40.0  # Next compiles a page when it is first asked for
REQUESTS_S: Final = 20.0
AGAIN_AFTER_S: Final = 120.0  # after a failed start, no browser is started for this long
NO_PROGRAM: Final = "No picture was taken: Chromium is not installed on this server (apt install chromium)."
NOT_RUNNING: Final = "No picture was taken: the server is starting or stopping."
BUSY: Final = "No picture was taken: other pictures were still being taken."
NO_PAGE: Final = "No picture was taken: the page did not respond."
BROWSER_ENDED: Final = "The page crashed the browser; it may need more memory than is available."
NO_END: Final = "The page did not finish loading within {seconds:.0f} seconds; a script may be running without pause."


class Studio:
    """See `Photographer`. `program` None: no picture is taken, and `missing` is the reason. `folder` is private;
    `cache_dir` that of all local sandboxes. Running browsers are kept in memory."""

    def __init__(
        self, clock: Clock, folder: Path, cache_dir: Path, program: Path | None, missing: str = NO_PROGRAM
    ) -> None:
        self._clock, self._missing = clock, missing
        self.browsers = None if program is None else Browsers(clock, folder, cache_dir, program, SingleTargetProxy)
        self._failed: tuple[float, str] | None = None  # no browser is started until this time, for this reason

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; leaves no browser behind."""
        if self.browsers is not None:
            await self.browsers.run(task_status=task_status)
        else:
            task_status.started()

    async def look(self, sandbox: Sandbox, port: int, path: str, width: int, height: int) -> Look:
        began = anyio.current_time()
        if not await is_open(sandbox, port):
            return Look(None, (f"Nothing answers on port {port}.",), None, NO_PAGE)
        note = self._why_not()
        if not note and self.browsers is not None:
            try:
                with anyio.fail_after(TAKE_S):
                    at_hand = await self.browsers.take((sandbox.sandbox_id, port))
            except TimeoutError:
                note = BUSY
            except (BrowserGone, SandboxError) as error:
                note = self._remember(error)
            else:
                url = f"http://localhost:{port}{path}"
                return await self._through_browser(self.browsers, at_hand, sandbox, url, (width, height), began)
        return await self._through_requests(sandbox, port, path, note, began)

    def _why_not(self) -> str:
        """The reason why no browser is started, or "" to start it."""
        if self.browsers is None:
            return self._missing
        if not self.browsers.is_running:
            return NOT_RUNNING
        if self._failed is not None and self._clock.monotonic() < self._failed[0]:
            return self._failed[1]
        return ""

    def _remember(self, error: BrowserGone | SandboxError) -> str:
        reason = error.message if isinstance(error, SandboxError) else str(error)
        note = f"No picture was taken: Chromium did not start ({reason or 'no reason given'})."
        self._failed = (self._clock.monotonic() + AGAIN_AFTER_S, note)
        return note

    async def _through_browser(
        self,
        browsers: Browsers[SingleTargetProxy],
        at_hand: RunningBrowser[SingleTargetProxy],
        sandbox: Sandbox,
        url: str,
        size: tuple[int, int],
        began: float,
    ) -> Look:
        """Return the results so far even if the page times out or ends the browser."""
        seen, problem = Seen(), NO_END.format(seconds=LOOK_S)
        try:
            async with at_hand.turn:
                at_hand.proxy.open_to(sandbox, at_hand.serves[1])
                try:
                    with anyio.move_on_after(LOOK_S):
                        await look_at(at_hand.browser, url, *size, seen)
                        problem = ""
                except BrowserRefused as error:
                    problem = f"The page could not be opened: {error}."
                except (BrowserGone, SandboxLost):
                    problem = BROWSER_ENDED
                finally:
                    at_hand.proxy.close()
        finally:
            browsers.give_back(at_hand, usable=not problem)
        if at_hand.proxy.lost is not None:
            raise at_hand.proxy.lost
        if seen.status is None:
            await is_open(sandbox, at_hand.serves[1])  # raises if the sandbox is gone meanwhile
        if problem:
            seen.add(problem)
        note = "" if seen.picture is not None else "No picture was taken: the page did not load far enough."
        took_s = round(anyio.current_time() - began, 3)
        return Look(seen.picture, tuple(seen.errors), seen.status, note, took_s, tuple(seen.console))

    async def _through_requests(self, sandbox: Sandbox, port: int, path: str, note: str, began: float) -> Look:
        status, errors = None, [NO_END.format(seconds=REQUESTS_S)]
        with anyio.move_on_after(REQUESTS_S):
            status, errors = await ask_page(sandbox, port, path)
        return Look(None, tuple(errors), status, note, round(anyio.current_time() - began, 3))
