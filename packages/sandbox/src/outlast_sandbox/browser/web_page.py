"""The page of a browser that an agent uses: open an address, click and type, and look at what is there."""

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from outlast_sandbox.browser.devtools import Browser, BrowserGone, BrowserRefused
from outlast_sandbox.browser.page_outline import Numbers, render_outline
from outlast_sandbox.browser.web_proxy import WebProxy

SIZE: Final = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
EMPTY: Final = "about:blank"
JPEG_QUALITY: Final = 70
BEGIN_S: Final = 0.3  # for what a click or a key sets off
LOAD_S: Final = 15.0
SWAP_TRIES: Final = 5
QUIET_S: Final = 3.0  # after the page was loaded: until no request is open, or none of them goes on
SILENT_S: Final = 1.0  # of a worker's script, the page never reports the end
MAX_FRAMES: Final = 5
MAX_ERRANDS: Final = 100
MAX_NOTES: Final = 8
TEXT_CHARS: Final = 300
GONE: Final = "Element {number} cannot be used: it is not on the page any more, or not visible. Read the page again."
NO_ELEMENT: Final = "The page has no element {number}. Read the page: elements have their number in brackets."
TOO_LONG: Final = "The page is too long to be read as text; look at its pictures."
NO_OPTION: Final = "Element {number} has no such option."

# Sets what cannot be typed; of a field for text, selects the text that is there, so that it is replaced.
_SET: Final = """function (text) {
  const changed = () => ['input', 'change'].forEach(name => this.dispatchEvent(new Event(name, { bubbles: true })))
  if (this instanceof HTMLSelectElement) {
    const plain = words => words.trim().toLowerCase()
    const found = [...this.options].find(one => plain(one.label) === plain(text) || one.value === text)
    if (found === undefined) return 'no option'
    this.value = found.value
    changed()
    return 'set'
  }
  if (/^(date|time|month|week|datetime-local|color|range)$/.test(this.type)) {
    this.value = text
    changed()
    return 'set'
  }
  this.focus()
  if (this.select) this.select()
  else getSelection().selectAllChildren(this)
  return 'selected'
}"""


@dataclass(frozen=True, slots=True)
class Sight:
    """A page as it is after a step: its address, title and HTTP status (None if unknown), its whole text with numbered
    elements, a JPEG of its window (None if there is no page), notes on what the browser refused, and the
    `problem` for which the step could not be done, or ""."""

    url: str
    title: str
    status: int | None
    text: str
    picture: bytes | None
    notes: tuple[str, ...] = ()
    problem: str = ""


class WebPage:
    """The only page of a browser. `serve` must run during all calls, which must not overlap. Each call is a step, and
    ends when the page has settled or `LOAD_S` and `QUIET_S` are over. All raise `BrowserGone`, `BrowserRefused`;
    cancelled: the page is as the step left it."""

    def __init__(self, browser: Browser, proxy: WebProxy) -> None:
        self._browser, self._proxy = browser, proxy
        self._session = self._target = ""
        self._numbers = Numbers()
        self._loading, self._requests = False, set[str]()
        self._status: int | None = None
        self._refused = False
        self._new_tab = ""
        self._notes: dict[str, None] = {}
        self._problem = ""
        self._changed = anyio.Event()
        self._send, self._errands = anyio.create_memory_object_stream[Callable[[], Awaitable[Any]]](MAX_ERRANDS)

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Open an empty page, and answer its dialogs until cancelled."""
        browser = self._browser
        browser.listen("", self._on_browser_event)
        await browser.ask("Browser.setDownloadBehavior", behavior="deny", eventsEnabled=True)
        self._target = (await browser.ask("Target.createTarget", url=EMPTY))["targetId"]
        attached = await browser.ask("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        browser.listen(self._session, self._on_event)
        for domain in ("Page", "Network", "DOM", "Accessibility"):
            await self._ask(f"{domain}.enable")
        await self._ask("Page.setInterceptFileChooserDialog", enabled=True)
        await self._ask("Emulation.setDeviceMetricsOverride", **SIZE)
        await browser.ask("Target.setDiscoverTargets", discover=True)
        task_status.started()
        async for errand in self._errands:
            with suppress(BrowserGone, BrowserRefused):
                await errand()

    async def open(self, url: str) -> None:
        """Open an address, which the caller has checked: http or https."""
        self._begin()
        await self._navigate(url)

    async def click(self, number: int) -> None:
        """Click on the middle of an element, as a person does."""
        self._begin()
        if (node := self._node(number)) is None:
            return
        try:
            x, y = await self._middle(node)
        except BrowserRefused:
            self._problem = GONE.format(number=number)
            return
        await self._mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            await self._mouse(kind, x, y, button="left", clickCount=1)
        await self._settle()

    async def type(self, number: int, text: str, submit: bool) -> None:
        """Replace the text of a field, or choose the option of a list by its label; `submit`: then press Enter."""
        self._begin()
        if (node := self._node(number)) is None:
            return
        try:
            await self._ask("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
            found = await self._ask("DOM.resolveNode", backendNodeId=node)
            answer = await self._ask(
                "Runtime.callFunctionOn",
                objectId=found["object"]["objectId"],
                functionDeclaration=_SET,
                arguments=[{"value": text}],
                returnByValue=True,
            )
        except BrowserRefused:
            self._problem = GONE.format(number=number)
            return
        outcome = answer["result"].get("value")
        if outcome == "no option":
            self._problem = NO_OPTION.format(number=number)
            return
        if outcome == "selected":
            await (self._ask("Input.insertText", text=text) if text else self._key("Delete", 46))
        if submit:
            await self._key("Enter", 13, text="\r")
        await self._settle()

    async def scroll_to(self, number: int | None) -> None:
        """Bring an element into the window; None: leave the page as it is."""
        self._begin()
        node = None if number is None else self._node(number)
        if node is not None:
            try:
                await self._ask("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
            except BrowserRefused:
                self._problem = GONE.format(number=number)

    async def address(self) -> str:
        """The address of the page now."""
        return str((await self._entry())["url"])

    async def look(self) -> Sight:
        """The page as the last step left it."""
        entry = await self._entry()
        text = await anyio.to_thread.run_sync(render_outline, await self._trees(), self._numbers)
        picture = None if entry["url"] == EMPTY else await self._photograph()
        failed = self._proxy.failed if self._problem else ()  # a page that opened may have asked for anything
        notes = (*self._notes, *(f"Refused: {one}" for one in self._proxy.refused), *failed)
        return Sight(entry["url"], entry["title"][:TEXT_CHARS], self._status, text, picture, notes, self._problem)

    async def _photograph(self) -> bytes | None:
        with suppress(BrowserRefused):
            shot = await self._ask("Page.captureScreenshot", format="jpeg", quality=JPEG_QUALITY)
            return base64.b64decode(shot["data"])
        return None

    # --- parts of a step ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._proxy.forget()
        self._notes.clear()
        self._problem = self._new_tab = ""

    async def _navigate(self, url: str) -> None:
        self._status, self._refused = None, False
        self._requests.clear()
        with anyio.move_on_after(LOAD_S) as time:
            answer = await self._ask("Page.navigate", url=url)
            if (failure := answer.get("errorText")) and not self._notes:  # a download has its own note
                self._problem = f"The address could not be opened ({failure})."
        if time.cancelled_caught:
            self._problem = f"The address did not answer within {LOAD_S:.0f} seconds."
        await self._settle()

    async def _settle(self) -> None:
        await anyio.sleep(BEGIN_S)
        with anyio.move_on_after(LOAD_S):
            while self._loading:
                await self._changed.wait()
        with anyio.move_on_after(QUIET_S):
            silent = False
            while self._requests and not silent:
                with anyio.move_on_after(SILENT_S) as waiting:
                    await self._changed.wait()
                silent = waiting.cancelled_caught
        if self._new_tab:
            url, self._new_tab = self._new_tab, ""
            self._note("The page opened a new tab; its address was opened in this one instead.")
            await self._navigate(url)
        if not (await self.address()).startswith(("http://", "https://", "about:", "chrome-error:")):
            self._problem = "The page led to an address that is neither http nor https; it was closed."
        elif self._refused:
            self._problem = "The address could not be opened."
        else:
            return
        self._refused = False
        await self._ask("Page.navigate", url=EMPTY)

    def _node(self, number: int) -> int | None:
        node = self._numbers.node(number)
        if node is None:
            self._problem = NO_ELEMENT.format(number=number)
        return node

    async def _middle(self, node: int) -> tuple[float, float]:
        """Raises `BrowserRefused` for an element that has no place on the page."""
        await self._ask("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
        quads = (await self._ask("DOM.getContentQuads", backendNodeId=node))["quads"]
        if not quads:
            raise BrowserRefused("the element has no size")
        return sum(quads[0][0::2]) / 4, sum(quads[0][1::2]) / 4

    async def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        await self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    async def _key(self, key: str, code: int, **more: Any) -> None:
        for kind in ("keyDown", "keyUp"):
            await self._ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    async def _entry(self) -> Mapping[str, Any]:
        for _ in range(SWAP_TRIES):
            with suppress(BrowserRefused):  # while a page of another site takes the place of this one
                return self._current(await self._ask("Page.getNavigationHistory"))
            await anyio.sleep(BEGIN_S)
        return self._current(await self._ask("Page.getNavigationHistory"))

    @staticmethod
    def _current(history: Mapping[str, Any]) -> Mapping[str, Any]:
        entry: Mapping[str, Any] = history["entries"][history["currentIndex"]]
        return entry

    async def _trees(self) -> Sequence[Sequence[Mapping[str, Any]]]:
        """The accessibility trees of the page and of the frames in its process."""
        frames, waiting = list[str](), [(await self._ask("Page.getFrameTree"))["frameTree"]]
        while waiting and len(frames) < MAX_FRAMES:
            one = waiting.pop(0)
            frames.append(one["frame"]["id"])
            waiting += one.get("childFrames", ())
        trees = []
        for frame in frames:
            with suppress(BrowserRefused):
                trees.append((await self._ask("Accessibility.getFullAXTree", frameId=frame))["nodes"])
        if not trees:
            self._note(TOO_LONG)
        return trees

    async def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._browser.ask(method, self._session, **params)

    # --- events -------------------------------------------------------------------------------------------------------

    def _on_browser_event(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "Browser.downloadWillBegin":
            self._note(f"A download was refused: {str(params['suggestedFilename'])[:TEXT_CHARS]}")
        elif method == "Target.targetCreated":
            info = params["targetInfo"]
            if info["type"] == "page" and info["targetId"] != self._target and info.get("openerId") == self._target:
                self._errand(partial(self._browser.ask, "Target.closeTarget", targetId=info["targetId"]))

    def _on_event(self, method: str, params: Mapping[str, Any]) -> None:
        main = params.get("frameId") == self._target
        if method == "Page.frameStartedLoading" and main:
            self._loading = True
        elif method == "Page.frameStoppedLoading" and main:
            self._loading = False
        elif method == "Page.frameNavigated" and "parentId" not in params["frame"]:
            self._numbers = Numbers()
            self._requests.clear()  # of some that an earlier page left, the browser never reports the end
        elif method == "Network.requestWillBeSent":
            self._requests.add(params["requestId"])
        elif method in ("Network.loadingFinished", "Network.loadingFailed"):
            self._requests.discard(params["requestId"])
        elif method == "Network.responseReceived" and main and params["type"] == "Document":
            self._status = int(params["response"]["status"])
            self._refused = any(name.lower() == "x-outlast-refused" for name in params["response"]["headers"])
        elif method == "Page.javascriptDialogOpening":
            self._on_dialog(params)
        elif method == "Page.fileChooserOpened":
            self._note("The page asked for a file of this computer; none was given.")
        elif method == "Page.windowOpen" and str(params["url"]).startswith(("http://", "https://")):
            self._new_tab = str(params["url"])
        self._changed.set()
        self._changed = anyio.Event()

    def _on_dialog(self, params: Mapping[str, Any]) -> None:
        """Dialogs are dismissed; leaving a page that asks whether it may be left goes on."""
        leaving = params["type"] == "beforeunload"
        if not leaving:
            self._note(f"The page showed a dialog, which was dismissed: {str(params['message'])[:TEXT_CHARS]}")
        self._errand(partial(self._ask, "Page.handleJavaScriptDialog", accept=leaving))

    def _errand(self, errand: Callable[[], Awaitable[Any]]) -> None:
        with suppress(anyio.WouldBlock):
            self._send.send_nowait(errand)

    def _note(self, text: str) -> None:
        if len(self._notes) < MAX_NOTES:
            self._notes[text] = None
