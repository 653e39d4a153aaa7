"""A cheap fake model server: chat completions as server-sent events, one process, raw protocol.

The last user message sets the answer: `bench tokens=50 rate=50 first_ms=100 tool=1`. `rate` is tokens a
second, 0 for all in one write; `first_ms` is the wait before the first; `tool=1` asks for `terminal` with
`rm -rf build`, and answers with tokens once the conversation holds its result. Every token's text is
`t<monotonic ns when sent>.<index> `; the first is preceded by `r<monotonic ns when the request arrived> `.
Run as a program: `python -m bench.model_server PORT`.
"""

import asyncio
import re
import sys
import time
from typing import Any, Final

import orjson
import uvloop

_ORDER: Final = re.compile(rb"bench tokens=(\d+) rate=([\d.]+) first_ms=(\d+) tool=(\d)")
_TOOL_RESULT: Final = re.compile(rb'"role": ?"tool"')
_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)
COMMAND: Final = "rm -rf build"


def order(tokens: int, rate: float = 0, first_ms: int = 0, tool: bool = False) -> str:
    """The message that requests such an answer."""
    return f"bench tokens={tokens} rate={rate:g} first_ms={first_ms} tool={int(tool)}"


def _frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    event = {"id": "bench", "object": "chat.completion.chunk", "created": 0, "model": "bench", "choices": [choice]}
    return b"data: " + orjson.dumps(event) + b"\n\n"


_TOKEN_HEAD, _TOKEN_TAIL = _frame({"content": "%"}).split(b"%")
_USAGE: Final = (
    b'data: {"id":"bench","object":"chat.completion.chunk","created":0,"model":"bench","choices":[],'
    b'"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}\n\ndata: [DONE]\n\n'
)
_CALL: Final = {
    "index": 0,
    "id": "call_bench",
    "type": "function",
    "function": {"name": "terminal", "arguments": orjson.dumps({"command": COMMAND}).decode()},
}


class ModelConnection(asyncio.Protocol):
    """One connection, with one answer at a time."""

    def __init__(self) -> None:
        self._rest = b""
        self._transport: Any = None
        self._loop = asyncio.get_running_loop()
        self._next = 0
        self._tokens = 0
        self._rate = 0.0
        self._began = 0.0
        self._arrived_ns = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._rest += data
        end = self._rest.find(b"\r\n\r\n")
        if end < 0:
            return
        length = re.search(rb"(?i)content-length: *(\d+)", self._rest[:end])
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self._rest) < size:
            return
        body, self._rest = self._rest[end + 4 : size], self._rest[size:]
        self._answer(body)

    def _answer(self, body: bytes) -> None:
        self._arrived_ns = time.monotonic_ns()
        wanted = _ORDER.findall(body)
        tokens, rate, first_ms, tool = wanted[-1] if wanted else (b"10", b"0", b"0", b"0")
        self._tokens, self._rate, self._next = int(tokens), float(rate), 0
        self._transport.write(_HEAD)
        if tool == b"1" and not _TOOL_RESULT.search(body):
            self._close(_frame({"tool_calls": [_CALL]}), "tool_calls")
            return
        self._began = self._loop.time() + int(first_ms) / 1000
        self._loop.call_at(self._began, self._send)

    def _send(self) -> None:
        if self._transport is None:
            return
        due = self._tokens
        if self._rate:
            due = min(self._tokens, int((self._loop.time() - self._began) * self._rate) + 1)
        if due > self._next:
            now = time.monotonic_ns()
            texts = [b"t%d.%d " % (now, index) for index in range(self._next, due)]
            if self._next == 0:
                texts[0] = b"r%d %b" % (self._arrived_ns, texts[0])
            self._next = due
            self._chunk(b"".join(_TOKEN_HEAD + text + _TOKEN_TAIL for text in texts))
        if self._next >= self._tokens:
            self._close(b"", "stop")
        else:
            self._loop.call_at(self._began + self._next / self._rate, self._send)

    def _chunk(self, body: bytes) -> None:
        self._transport.write(b"%x\r\n%b\r\n" % (len(body), body))

    def _close(self, frames: bytes, finish: str) -> None:
        self._chunk(frames + _frame({}, finish) + _USAGE)
        self._transport.write(b"0\r\n\r\n")


async def serve(port: int) -> None:
    """Serves until the process ends."""
    server = await asyncio.get_running_loop().create_server(ModelConnection, "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
