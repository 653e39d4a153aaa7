"""A real HTTP server that speaks the providers' wire formats and misbehaves on demand.

    async with ModelServer([Answer(text="Hello", fault=Fault.DISCONNECT_MID), Answer(text="Hello again")]) as server:
        ProviderConfig("openai-compatible", base_url=server.base_url, name="fake")

Formats, by the end of the path: `/chat/completions`, `/responses`, `/messages` (Anthropic), `:streamGenerateContent`
(Gemini). Each request takes the next `Answer`; when none is left, the default. The last user message may contain its
own: `[[model {"text": "Hi", "fault": "stall_mid"}]]`, or `[[model [{…}, {…}]]]` for the turns of a tool loop (the
number of tool results selects the turn, so the server keeps no state).

As a program: `python -m outlast.testing.model_server --port 9100 --script answers.json`; answers are added with
`POST /script` (a JSON list; `PUT` replaces those waiting) and requests read back with `GET /requests`.
"""

import argparse
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

import anyio
import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import ConfigDict, TypeAdapter

from outlast.kernel.models.protocol import CHECK_MARK, NOTE_MARK
from outlast.kernel.models.turn_calls import split_words
from outlast.testing.model_wire import (
    AnthropicWriter,
    ChatWriter,
    GeminiWriter,
    ResponsesWriter,
    WireEnd,
    WirePiece,
    Writer,
)

_ARGUMENT_PIECE_CHARS: Final = 10
_WRITE_BYTES: Final = 16 * 1024
_MALFORMED: Final = b'event: message_delta\ndata: {"type": "message_delta", "choices": [{"delta": \n\n'
_DIRECTIVE: Final = re.compile(r"\[\[model\s+(\{.*\}|\[.*\])\s*\]\]", re.DOTALL)


class Fault(StrEnum):
    """A fault to simulate. Faults in the middle strike after `Answer.after` pieces."""

    NONE = ""
    RATE_LIMITED = "rate_limited"  # 429 with Retry-After
    SERVER_ERROR = "server_error"  # 500
    OVERLOADED = "overloaded"  # 529
    BAD_KEY = "bad_key"  # 401, quoting the key as some providers do
    REJECTED = "rejected"  # 400, quoting the key as well
    CONTENT_REFUSED = "content_refused"  # 400 with the code content_filter
    NO_STREAM_OPTIONS = "no_stream_options"  # 400 while the request has stream_options
    NO_NAMED_TOOL = "no_named_tool"  # 400 while the request names the tool that must be called
    NO_TOOL_CHOICE = "no_tool_choice"  # 400 while the request requires a call
    STALL_FIRST = "stall_first"  # nothing at all
    STALL_BODY = "stall_body"  # headers, then nothing
    STALL_MID = "stall_mid"
    DISCONNECT_FIRST = "disconnect_first"
    DISCONNECT_MID = "disconnect_mid"  # in the middle of a frame
    MALFORMED_JSON = "malformed_json"
    ERROR_MID = "error_mid"  # an error event inside the stream
    NO_FINISH = "no_finish"  # the stream ends normally, the answer does not
    TOOL_CALL_CUT = "tool_call_cut"  # half of the arguments, then a proper end
    CONTENT_FILTER = "content_filter"  # the answer ends with this finish


_REFUSALS: Final[Mapping[Fault, tuple[int, str, str]]] = {
    Fault.RATE_LIMITED: (429, "rate_limit_error", "You are asking too often."),
    Fault.SERVER_ERROR: (500, "api_error", "The server had an error while processing your request."),
    Fault.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Fault.BAD_KEY: (401, "authentication_error", "Incorrect API key provided: {key}."),
    Fault.REJECTED: (400, "invalid_request_error", "The field foo is not known (asked with {key})."),
    Fault.CONTENT_REFUSED: (400, "content_filter", "The prompt was filtered by the content policy."),
    Fault.NO_STREAM_OPTIONS: (400, "invalid_request_error", "Unknown parameter: 'stream_options'."),
    Fault.NO_NAMED_TOOL: (400, "invalid_request_error", "Invalid tool_choice type: 'object'."),
    Fault.NO_TOOL_CHOICE: (400, "invalid_request_error", "Thinking mode does not support this tool_choice."),
}


_WRITERS: Final[Mapping[str, type[Writer]]] = {
    "/chat/completions": ChatWriter,
    "/responses": ResponsesWriter,
    "/messages": AnthropicWriter,
    ":streamGenerateContent": GeminiWriter,
}
"""By the end of the path."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request: `reasoning`, then `text` (or `tokens` words of filler), then `calls` (`{name,
    arguments, id?}`; arguments an object or its JSON text), word by word, `delay_s` apart. `events`: the body of a
    recorded answer, sent unchanged instead."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    text: str = ""
    tokens: int = 0
    reasoning: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    fault: Fault = Fault.NONE
    after: int = 3
    delay_s: float = 0.0
    finish: str = ""
    retry_after: str = "7"
    input_tokens: int = 100
    cached_tokens: int = 40
    events: str = ""

    def pieces(self) -> Iterator[WirePiece]:
        for word in split_words(self.reasoning):
            yield WirePiece("reasoning", word)
        words = (f"w{number} " for number in range(self.tokens)) if self.tokens else split_words(self.text)
        for word in words:
            yield WirePiece("text", word)
        for number, call in enumerate(self.calls):
            call_id = call.get("id") or f"call_{number}"
            arguments = call.get("arguments", {})
            text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
            if self.fault is Fault.TOOL_CALL_CUT:
                text = text[: len(text) // 2]
            yield WirePiece("call", call["name"], number, call_id)
            for at in range(0, len(text), _ARGUMENT_PIECE_CHARS):
                yield WirePiece("arguments", text[at : at + _ARGUMENT_PIECE_CHARS], number, call_id)

    def end(self, pieces: int) -> WireEnd:
        finish = "content_filter" if self.fault is Fault.CONTENT_FILTER else self.finish
        return WireEnd(
            finish or ("tool_calls" if self.calls else "stop"), self.input_tokens, pieces, self.cached_tokens
        )


ANSWERS: Final = TypeAdapter(list[Answer])
"""Reads answers from JSON. Raises `ValueError` for unknown fields."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A recorded request; header names are in lower case."""

    path: str
    headers: dict[str, str] = field(repr=False)
    body: dict[str, Any]
    peer: tuple[Any, ...] = ()  # the client's end of the connection


HOST: Final = "127.0.0.1"
DEFAULT: Final = Answer(text="Hello from the model server.")


class ModelServer:
    """The server, on `port` of `host` (0 chooses a free one). An async context manager."""

    def __init__(self, answers: Iterable[Answer] = (), *, host: str = HOST, port: int = 0) -> None:
        self.requests: list[RecordedRequest] = []
        self.hung_up = 0  # answers whose client left before the end
        self._answers = list(answers)
        self._host, self._port = host, port
        self._changed = anyio.Event()

    @property
    def base_url(self) -> str:
        """The base URL, without a version or a trailing slash."""
        return f"http://{self._host}:{self._port}"

    def add(self, *answers: Answer) -> None:
        self._answers.extend(answers)

    async def wait_requests(self, count: int) -> None:
        """Return once `count` requests have arrived."""
        while len(self.requests) < count:
            await self._changed.wait()

    async def wait_hung_up(self, count: int = 1) -> None:
        """Return once `count` clients have disconnected in the middle of an answer."""
        while self.hung_up < count:
            await self._changed.wait()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/requests", self._show_requests)
        app.router.add_post("/script", self._add_script)
        app.router.add_put("/script", self._add_script)
        app.router.add_post("/{path:.*}", self._answer)
        self._server = TestServer(
            app, host=self._host, port=self._port
        )  # cancels a stalled answer when its client leaves
        await self._server.start_server(access_log=None, shutdown_timeout=0.1)
        self._port = self._server.port or 0
        return self

    async def __aexit__(self, *_error: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._server.close()

    async def _healthz(self, request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _show_requests(self, request: web.Request) -> web.Response:
        shown = [{"path": seen.path, "body": seen.body} for seen in self.requests]
        return web.Response(body=orjson.dumps(shown), content_type="application/json")

    async def _add_script(self, request: web.Request) -> web.Response:
        try:
            answers = ANSWERS.validate_json(await request.read())
        except ValueError as error:
            return web.Response(status=400, text=f"not a list of answers: {error}")
        if request.method == "PUT":
            self._answers.clear()
        self.add(*answers)
        return web.Response(text=f"{len(self._answers)} answers waiting")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = orjson.loads(await request.read())
        kind = next((kind for end, kind in _WRITERS.items() if request.path.endswith(end)), None)
        if kind is None:
            return web.Response(status=404, text=f"there is no model at {request.path}")
        writer = kind(body)
        headers = {name.lower(): value for name, value in request.headers.items()}
        peer = request.transport.get_extra_info("peername") if request.transport is not None else ()
        self.requests.append(RecordedRequest(request.path, headers, body, tuple(peer)))
        self._tell()
        answer = directive(body) or (self._answers.pop(0) if self._answers else DEFAULT)
        if refusal := _refusal(answer, writer, body, headers):
            return refusal
        try:
            return await _stream(request, answer, writer)
        except (anyio.get_cancelled_exc_class(), ConnectionError):
            self.hung_up += 1
            self._tell()
            raise

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def directive(body: dict[str, Any]) -> Answer | None:
    """The answer that the last user message contains, if any."""
    messages = body.get("messages") or body.get("input") or body.get("contents") or []
    asked, turns_done, after_result = "", 0, False
    for message in messages if isinstance(messages, list) else []:
        is_result = _is_tool_result(message) or any(
            text.startswith((CHECK_MARK, NOTE_MARK)) for text in _strings(message)
        )
        turns_done += is_result and not after_result  # the results of parallel calls are consecutive
        after_result = is_result
        if message.get("role") == "user" and not is_result:
            found = [match.group(1) for text in _strings(message) if (match := _DIRECTIVE.search(text))]
            asked, turns_done = (found[-1] if found else ""), 0
    if not asked:
        return None
    value = orjson.loads(asked)
    turns = value if isinstance(value, list) else [value]
    return ANSWERS.validate_python(turns)[min(turns_done, len(turns) - 1)]


def _is_tool_result(message: dict[str, Any]) -> bool:
    content = message.get("content") or message.get("parts") or []
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    return (
        message.get("role") == "tool"
        or message.get("type") == "function_call_output"
        or first.get("type") == "tool_result"
        or "functionResponse" in first
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _refusal(answer: Answer, writer: Writer, body: dict[str, Any], headers: Mapping[str, str]) -> web.Response | None:
    choice = body.get("tool_choice")
    accepted = {
        Fault.NO_STREAM_OPTIONS: "stream_options" not in body,
        Fault.NO_NAMED_TOOL: not isinstance(choice, dict),
        Fault.NO_TOOL_CHOICE: choice is None,
    }
    if answer.fault not in _REFUSALS or accepted.get(answer.fault):
        return None
    status, kind, message = _REFUSALS[answer.fault]
    key = headers.get("authorization") or headers.get("x-api-key") or headers.get("x-goog-api-key") or ""
    text = message.format(key=key.removeprefix("Bearer "))
    extra = {"Retry-After": answer.retry_after} if status in (429, 529) else {}
    failure = orjson.dumps(writer.failure(status, kind, text))
    return web.Response(status=status, body=failure, content_type="application/json", headers=extra)


async def _stream(request: web.Request, answer: Answer, writer: Writer) -> web.StreamResponse:
    if answer.fault is Fault.STALL_FIRST:
        await anyio.sleep_forever()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    if answer.fault is Fault.DISCONNECT_FIRST:
        return _abort(request, response)
    await response.prepare(request)
    if answer.fault is Fault.STALL_BODY:
        await anyio.sleep_forever()
    waiting = bytearray()
    async for frame in _frames(answer, writer):
        if frame is None:  # the client disconnects here, or the server does
            await response.write(bytes(waiting))
            if answer.fault is Fault.DISCONNECT_MID:
                return _abort(request, response)
            await anyio.sleep_forever()
            continue
        waiting += frame
        if answer.delay_s > 0 or len(waiting) >= _WRITE_BYTES:
            await response.write(bytes(waiting))
            waiting.clear()
    await response.write(bytes(waiting))
    await response.write_eof()
    return response


async def _frames(answer: Answer, writer: Writer) -> AsyncIterator[bytes | None]:
    """The answer's frames, at their times; None where a stall or a disconnect strikes."""
    if answer.events:
        yield answer.events.encode()
        return
    for frame in writer.open():
        yield frame
    number = 0
    for number, piece in enumerate(answer.pieces(), start=1):
        frames = list(writer.piece(piece))
        if number == answer.after + 1:
            if answer.fault is Fault.MALFORMED_JSON:
                yield _MALFORMED
                return
            if answer.fault is Fault.ERROR_MID:
                yield writer.failure_event(529, "overloaded_error", "Overloaded in the middle")
                return
            if answer.fault in (Fault.STALL_MID, Fault.DISCONNECT_MID):
                yield b"".join(frames)[:12]
                yield None
        for frame in frames:
            yield frame
        if answer.delay_s > 0:
            await anyio.sleep(answer.delay_s)
    if answer.fault is not Fault.NO_FINISH:
        for frame in writer.close(answer.end(number)):
            yield frame


def _abort(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response


async def _main(port: int, answers: list[Answer]) -> None:
    async with ModelServer(answers, port=port) as server:
        print(server.base_url, flush=True)  # noqa: T201 (the program's one line of output: where it listens)
        await anyio.sleep_forever()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description="A model server for tests: real wire formats, faults on demand.")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free port and prints it first")
    parser.add_argument("--script", type=Path, help="a JSON file with a list of answers")
    options = parser.parse_args()
    anyio.run(_main, options.port, ANSWERS.validate_json(options.script.read_bytes()) if options.script else [])


if __name__ == "__main__":
    main()
