"""A client for Chromium inside a sandbox: its DevTools protocol over two pipes (`--remote-debugging-pipe`).

No port is opened for it, so no page can reach it. Messages are JSON, each ended by a zero byte.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
import orjson

from outlast_sandbox.interactive import ProcessEnd, Processes

MESSAGE_BYTES: Final = 64 * 1024**2  # a page that makes the browser send more at once is not supported
_ANSWER: Final = re.compile(rb'\{"id":(\d+),')
LAST_WORDS: Final = 2_000
Listener = Callable[[str, Mapping[str, Any]], None]


class BrowserGone(Exception):
    """The browser has ended, or sends invalid messages."""


class BrowserRefused(Exception):
    """The browser refused this one request."""


class Browser:
    """One browser process. `read` must run during all calls. Sessions are those of the protocol: one per page. An
    answer of more than `answer_bytes` counts as refused: parsing it would hold up the program."""

    def __init__(self, processes: Processes, pid: int, answer_bytes: int = MESSAGE_BYTES) -> None:
        self._answer_bytes = answer_bytes
        self._processes = processes
        self._pid = pid
        self._number = 0
        self._answers: dict[int, tuple[anyio.Event, dict[str, Any]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._errors = b""
        self.gone = anyio.Event()

    async def read(self) -> None:
        """Read messages until the browser ends. Listeners are called from here, one event after the other."""
        rest = bytearray()
        try:
            async with self._processes.follow(self._pid) as outputs:
                async for output in outputs:
                    if isinstance(output, ProcessEnd):
                        return
                    if output.stream == "stderr":
                        self._errors = (self._errors + output.data)[-LAST_WORDS:]
                        continue
                    if output.skipped or len(rest) > MESSAGE_BYTES:
                        return
                    searched = len(rest)
                    rest += output.data
                    while (end := rest.find(b"\0", searched)) >= 0:
                        self._hear(_parse(bytes(rest[:end]), self._answer_bytes))
                        del rest[: end + 1]
                        searched = 0
        except orjson.JSONDecodeError:
            return
        finally:
            self.gone.set()
            for event, _ in self._answers.values():
                event.set()

    async def ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Return the result of a request. Raises `BrowserGone`, `BrowserRefused`; cancelled: the result is dropped."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        answered, answer = self._answers[number] = (anyio.Event(), {})
        try:
            if self.gone.is_set():
                raise BrowserGone(self.last_words)
            await self._processes.write(self._pid, orjson.dumps(message) + b"\0")
            await answered.wait()
        finally:
            del self._answers[number]
        if not answer:
            raise BrowserGone(self.last_words)
        if "error" in answer:
            raise BrowserRefused(f"{method}: {answer['error'].get('message', '')}")
        result: dict[str, Any] = answer.get("result", {})
        return result

    def listen(self, session: str, listener: Listener) -> None:
        """Call `listener` with each event of this session; it must not wait."""
        self._listeners[session] = listener

    def forget(self, session: str) -> None:
        self._listeners.pop(session, None)

    @property
    def last_words(self) -> str:
        """The last line that it wrote to its error stream."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _hear(self, message: dict[str, Any]) -> None:
        if "id" in message:
            waiting = self._answers.get(message["id"])
            if waiting is not None:
                waiting[1].update(message)
                waiting[0].set()
            return
        listener = self._listeners.get(message.get("sessionId", ""))
        if listener is not None:
            listener(message["method"], message["params"])


def _parse(message: bytes, most: int) -> dict[str, Any]:
    answered = _ANSWER.match(message) if len(message) > most else None
    if answered is not None:
        return {"id": int(answered[1]), "error": {"message": "the answer is too long"}}
    parsed: dict[str, Any] = orjson.loads(message)
    return parsed
