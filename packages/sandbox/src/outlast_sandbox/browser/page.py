"""One visit to one page in a browser.

Open it, wait until it has settled, collect its errors, take a screenshot.
"""

import base64
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from outlast_sandbox.browser.devtools import Browser, BrowserGone, BrowserRefused

SETTLE_S: Final = 6.0  # after the page was loaded: until the network is quiet and the fonts are there
QUIET_S: Final = 0.3  # for errors that a page throws after its first effects ran
MAX_TEXTS: Final = 20
TEXT_CHARS: Final = 2_000
READ_CHARS: Final = 50_000  # of one text; pages may throw and log texts of any length

_DOMAINS: Final = ("Page", "Runtime", "Log")
_READY: Final = """Promise.race([
  document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))),
  new Promise(done => setTimeout(done, 2000)),
]).then(() => true)"""
# A dialog would block the page until a user answers it.
_NO_DIALOGS: Final = """window.alert = () => {}; window.confirm = () => true; window.prompt = () => null;
window.print = () => {};"""
_STATUS: Final = "performance.getEntriesByType('navigation')[0]?.responseStatus || 0"
# The error overlays of the templates' dev servers (Vite's and Next's).
_OVERLAY: Final = r"""(() => {
  const words = [];
  const vite = document.querySelector('vite-error-overlay')?.shadowRoot;
  if (vite) words.push(['.message', '.file', '.frame'].map(at => vite.querySelector(at)?.textContent?.trim() ?? '')
    .filter(text => text !== '').join('\n'));
  for (const portal of document.querySelectorAll('nextjs-portal')) {
    const dialog = portal.shadowRoot?.querySelector('[data-nextjs-dialog], [role=dialog]');
    const text = dialog?.innerText?.trim() ?? '';
    if (text !== '') words.push(text);
  }
  return words.filter(text => text !== '');
})()"""
_NOT_LOADED: Final = "Failed to load resource"
_LIBRARY: Final = re.compile(r"\s+at .*(/node_modules/|/\.vite/|/_next/|node_modules_|react_stack_bottom_frame)")
_FORMAT: Final = re.compile(r"%[sdifoOc]")


@dataclass(slots=True)
class Seen:
    """The results so far; also the result when time runs out."""

    picture: bytes | None = None
    status: int | None = None
    errors: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    loaded: bool = False

    def add(self, text: str, *, console: bool = False) -> None:
        """Keep a text once, shortened."""
        texts, words = (self.console if console else self.errors), text[:READ_CHARS].strip()
        short = words if len(words) <= TEXT_CHARS else f"{words[: TEXT_CHARS - 1]}…"
        if short and short not in texts and len(texts) < MAX_TEXTS:
            texts.append(short)


async def look_at(browser: Browser, url: str, width: int, height: int, seen: Seen) -> None:
    """Fill `seen`. Raises `BrowserGone`, `BrowserRefused`. Cancelled: the page may stay open."""
    async with _page(browser, width, height) as session:
        page = _Page(browser, session, url, seen)
        browser.listen(session, page.on_event)
        for domain in _DOMAINS:
            await browser.ask(f"{domain}.enable", session)
        await browser.ask("Page.setLifecycleEventsEnabled", session, enabled=True)
        await browser.ask("Page.addScriptToEvaluateOnNewDocument", session, source=_NO_DIALOGS)
        await page.open()
        await page.settle()
        await page.judge()
        seen.picture = await page.photograph()


@asynccontextmanager
async def _page(browser: Browser, width: int, height: int) -> AsyncIterator[str]:
    """A session with a page that shares nothing with any other. Closed afterwards if the browser still answers."""
    context = (await browser.ask("Target.createBrowserContext"))["browserContextId"]
    session = ""
    try:
        target = await browser.ask("Target.createTarget", url="about:blank", browserContextId=context)
        attached = await browser.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        session = attached["sessionId"]
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await browser.ask("Emulation.setDeviceMetricsOverride", session, **size)
        yield session
    finally:
        browser.forget(session)
        with anyio.CancelScope(shield=True), anyio.move_on_after(1), suppress(BrowserGone, BrowserRefused):
            await browser.ask("Target.disposeBrowserContext", browserContextId=context)


class _Page:
    """An open page and its events so far. A navigation starts again: a dev server reloads the page by itself."""

    def __init__(self, browser: Browser, session: str, url: str, seen: Seen) -> None:
        self._browser = browser
        self._session = session
        self._url = url
        self._origin = "/".join(url.split("/")[:3])
        self._seen = seen
        self._frame = ""
        self._happened: dict[str, anyio.Event] = {"load": anyio.Event(), "networkIdle": anyio.Event()}

    async def open(self) -> None:
        navigated = await self._browser.ask("Page.navigate", self._session, url=self._url)
        if failure := navigated.get("errorText"):
            self._seen.add(f"The page could not be opened: {failure}.")
            return
        await self._happened["load"].wait()
        self._seen.loaded = True

    async def settle(self) -> None:
        """Wait until the network was quiet for half a second and the fonts are loaded, or time is up."""
        if not self._seen.loaded:
            return
        with anyio.move_on_after(SETTLE_S):
            await self._happened["networkIdle"].wait()
            with suppress(BrowserRefused):  # the page has navigated to another address meanwhile
                await self._evaluate(_READY)
        await anyio.sleep(QUIET_S)

    async def judge(self) -> None:
        """Record the page's status and the errors that its dev server shows."""
        if not self._seen.loaded:
            return
        self._seen.status = as_status(await self._evaluate(_STATUS))
        overlays = await self._evaluate(_OVERLAY)
        if isinstance(overlays, list) and overlays:  # its messages are better than the browser's
            others = [text for text in self._seen.errors if not text.startswith(_NOT_LOADED)]
            self._seen.errors.clear()
            for text in [*map(str, overlays), *others]:
                self._seen.add(text)
        if self._seen.status is not None and self._seen.status >= 400:
            self._seen.add(f"The page answered with status {self._seen.status}.")

    async def photograph(self) -> bytes | None:
        if not self._seen.loaded:
            return None
        shot = await self._browser.ask("Page.captureScreenshot", self._session, format="png")
        return base64.b64decode(shot["data"])

    async def _evaluate(self, expression: str) -> Any:
        answer = await self._browser.ask(
            "Runtime.evaluate", self._session, expression=expression, awaitPromise=True, returnByValue=True
        )
        return answer["result"].get("value")

    def on_event(self, method: str, params: Mapping[str, Any]) -> None:
        """Handle an event of the page."""
        if len(self._seen.errors) >= MAX_TEXTS and method == "Runtime.exceptionThrown":
            return
        if len(self._seen.console) >= MAX_TEXTS and method == "Runtime.consoleAPICalled":
            return
        if method == "Runtime.exceptionThrown":
            self._seen.add(exception_text(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self._seen.add(console_text(params["args"]), console=True)
        elif method == "Log.entryAdded":
            self._on_log_entry(params["entry"])
        elif method == "Page.lifecycleEvent":
            if params["name"] in self._happened and params["frameId"] == self._frame:
                self._happened[params["name"]].set()
        elif method == "Page.frameNavigated" and "parentId" not in params["frame"]:
            self._begin(params["frame"]["id"])

    def _begin(self, frame: str) -> None:
        self._frame = frame
        self._seen.errors.clear()
        self._seen.console.clear()
        for name in ("load", "networkIdle"):
            if self._happened[name].is_set():
                self._happened[name] = anyio.Event()

    def _on_log_entry(self, entry: Mapping[str, Any]) -> None:
        """Resources that could not be loaded count only if they are the page's own: nothing else can be reached from
        here."""
        url = str(entry.get("url", ""))
        if entry["source"] == "network" and entry["level"] == "error":
            if url.startswith(f"{self._origin}/") and not url.endswith("/favicon.ico") and url != self._url:
                self._seen.add(f"{entry['text']} ({url.removeprefix(self._origin)})")
        elif entry["level"] == "error":
            self._seen.add(entry["text"], console=True)


def exception_text(details: Mapping[str, Any]) -> str:
    """The text of the thrown value, with its stack if it has one."""
    thrown = details.get("exception", {})
    text = _own_frames(str(thrown.get("description") or "")[:READ_CHARS]) or thrown.get("value")
    where = "" if thrown.get("description") else _place(details)
    return f"{details.get('text', 'Uncaught')} {details_text(text)}{where}".strip()


def _own_frames(stack: str) -> str:
    """The stack without frames of libraries: the first lines say what went wrong and where in the project."""
    return "\n".join(line for line in stack.splitlines() if not _LIBRARY.match(line))


def details_text(value: Any) -> str:
    return "" if value is None else str(value)[:READ_CHARS]


def as_status(value: Any) -> int | None:
    """The HTTP status that the page reports, or None. It may be anything: the page's scripts can answer in the
    browser's place."""
    usable = isinstance(value, int | float) and 100 <= value <= 599
    return int(value) if usable else None


def _place(details: Mapping[str, Any]) -> str:
    url = details.get("url")
    return f" ({url}:{details.get('lineNumber', 0) + 1})" if url else ""


def console_text(arguments: Sequence[Mapping[str, Any]]) -> str:
    """Arguments of console.error as one text, the first one's format filled in."""
    words = [details_text(one.get("value", one.get("description"))) for one in arguments]
    if not words:
        return ""
    rest = iter(words[1:])

    def fill(match: re.Match[str]) -> str:
        value = next(rest, match.group())
        return "" if match.group() == "%c" else value

    first = _FORMAT.sub(fill, words[0]) if arguments[0].get("type") == "string" else words[0]
    return " ".join([first, *rest])
