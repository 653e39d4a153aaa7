"""HTTP/1.1 to servers inside: one request at a time on one line, bodies in pieces both ways."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httptools

from outlast_sandbox.ports.line import Line

MAX_HEAD_BYTES: Final = 256 * 1024
SWITCHED: Final = 101


class BadAnswer(Exception):
    """The server inside does not speak HTTP/1, or ended the connection early. `fresh`: True if not one byte was
    received."""

    def __init__(self, why: str, *, fresh: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.fresh = fresh


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a response; header names in lower case. `rest` are the bytes after a switch of protocols (101)."""

    status: int
    headers: list[tuple[bytes, bytes]]
    rest: bytes = b""


def request_head(
    method: str, target: bytes, headers: Sequence[tuple[bytes, bytes]], framing: tuple[bytes, bytes] | None
) -> bytes:
    """The head of a request; `framing` is its Content-Length or Transfer-Encoding."""
    lines = [b"%b %b HTTP/1.1\r\n" % (method.encode(), target)]
    lines += [b"%b: %b\r\n" % pair for pair in headers]
    if framing is not None:
        lines.append(b"%b: %b\r\n" % framing)
    return b"".join([*lines, b"\r\n"])


class Answer:
    """Reads one response from a line. `is_head`: True for the response to a HEAD request, which has no body."""

    def __init__(self, line: Line, *, is_head: bool) -> None:
        self._line = line
        self._is_head = is_head
        self._parser: Any = httptools.HttpResponseParser(self)
        self._head: Head | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: deque[bytes] = deque()
        self._informational = False
        self._complete = False
        self._taken = 0
        self.may_reuse = False  # known once the response is complete

    @property
    def is_over(self) -> bool:
        """True once all of it was received and consumed."""
        return self._complete and not self._body

    async def head(self) -> Head:
        """The head of the response, after any 1xx. Raises `BadAnswer`."""
        while self._head is None:
            if not await self._feed():
                raise BadAnswer("it closed the connection without a response", fresh=self._taken == 0)
            if self._taken > MAX_HEAD_BYTES and self._head is None:
                raise BadAnswer("its headers never end")
        status = self._head.status
        if status != SWITCHED and not 200 <= status < 600:
            raise BadAnswer(f"its status {status} is not a valid HTTP status")
        return self._head

    async def piece(self) -> bytes | None:
        """The next piece of the body as received, or None at the end. Raises `BadAnswer` if the connection ends
        early."""
        while not self._body:
            if self._complete:
                return None
            if not await self._feed():
                if self._is_framed():
                    raise BadAnswer("it closed the connection before the end of its response")
                self._complete = True
        return self._body.popleft() if len(self._body) == 1 else self._joined()

    def _joined(self) -> bytes:
        whole = b"".join(self._body)
        self._body.clear()
        return whole

    def _is_framed(self) -> bool:
        assert self._head is not None
        return any(value for name, value in self._head.headers if name in (b"content-length", b"transfer-encoding"))

    async def _feed(self) -> bool:
        try:
            data = await self._line.receive()
        except OSError:
            data = b""
        if not data:
            return False
        self._taken += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as switched:
            self._switch(data[switched.args[0] :])
        except httptools.HttpParserError as error:
            if self._head is None or not self._complete:
                raise BadAnswer(f"it does not speak HTTP/1.1 ({error})") from error
            self.may_reuse = False
        return True

    def _switch(self, rest: bytes) -> None:
        status = self._head.status if self._head else SWITCHED
        self._head = Head(status, self._headers, rest)
        self._complete = True

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        if self._complete:  # a second response without a request
            self.may_reuse = False
            return
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is None:  # later ones are trailers
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self._head is not None:
            return
        status = self._parser.get_status_code()
        self._informational = 100 <= status < 200 and status != SWITCHED
        if self._informational:
            return
        self._head = Head(status, self._headers)
        if self._is_head:
            self._complete = True
            self.may_reuse = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        if not self._is_head:
            self._body.append(body)

    def on_message_complete(self) -> None:
        if self._informational:
            self._informational = False
        elif not self._complete:
            self._complete = True
            self.may_reuse = self._parser.should_keep_alive()
