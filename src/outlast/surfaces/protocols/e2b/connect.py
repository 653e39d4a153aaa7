"""The Connect protocol with JSON: one message in and one out, or a stream of enveloped messages either way.

An envelope is a byte of flags, four bytes of length (big endian) and a JSON message. A stream ends with an envelope
whose flag is END, which holds the error if there was one: its status is always 200.
"""

import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from outlast.base.errors import InputTooLarge, MalformedInput, OutlastError, SandboxLost
from outlast.base.records import dataclass
from outlast.kernel.http.event_stream import ABORT
from outlast.kernel.http.responses import reply
from outlast.surfaces.protocols.e2b.names import whole_number
from outlast.surfaces.protocols.e2b.problems import connect_code, full_message

Message = dict[str, Any]
Emit = Callable[[Message], Awaitable[None]]
Produce = Callable[[Emit], Awaitable[None]]

UNARY: Final = "application/json"
STREAM: Final = "application/connect+json"
COMPRESSED: Final = 1
END: Final = 2
MAX_MESSAGE_BYTES: Final = 4_000_000
LOST: Final = "The sandbox was not found: it ended during this call."
DEFAULT_PING_S: Final = 90.0
_HEAD: Final = struct.Struct(">BI")


def envelope(message: Message, flags: int = 0) -> bytes:
    body = orjson.dumps(message)
    return _HEAD.pack(flags, len(body)) + body


def field(message: Message, name: str) -> Any:
    """A field by its JSON name (`watcherId`), or as the schema writes it (`watcher_id`); None if it is missing."""
    if name in message:
        return message[name]
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return message.get(snake)


def object_in(message: Message, name: str) -> Message:
    """A field that is itself an object; empty if it is missing. Raises `MalformedInput` for anything else."""
    value = message.get(name)
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise MalformedInput(f"{name} must be an object.", field=name)
    return value


def timeout_of(request: Request) -> float | None:
    """Seconds that the caller waits; None means without a limit."""
    stated = whole_number(request.headers.get("connect-timeout-ms", ""))
    return stated / 1000 if stated is not None and 0 < stated < 10**10 else None


def ping_s(request: Request) -> float:
    """Seconds of silence after which the caller expects a keepalive message."""
    stated = whole_number(request.headers.get("keepalive-ping-interval", ""))
    return max(1.0, float(stated)) if stated is not None and 0 <= stated < 10**5 else DEFAULT_PING_S


@asynccontextmanager
async def pinging(emit: Emit, ping: Message, every_s: float) -> AsyncIterator[None]:
    """Emit `ping` every `every_s` seconds while the context is open. An error inside is passed on unchanged."""

    async def send_pings() -> None:
        while True:
            await anyio.sleep(every_s)
            await emit(ping)

    failed: OutlastError | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send_pings)
        try:
            yield
        except OutlastError as error:
            failed = error
        tasks.cancel_scope.cancel()
    if failed is not None:
        raise failed


async def read_unary(request: Request) -> Message:
    """The one message. Raises `MalformedInput`, `InputTooLarge`."""
    _check_kind(request, UNARY)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise MalformedInput("Compressed messages are not supported.")
    return _parsed(await read_body(request, MAX_MESSAGE_BYTES) or b"{}")


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Raises `InputTooLarge` for a body of more than `max_bytes`."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise InputTooLarge(f"A body can have at most {max_bytes:,} bytes.", limit_bytes=max_bytes)
    return bytes(body)


async def read_stream(request: Request) -> AsyncIterator[Message]:
    """The messages as they arrive. Raises `MalformedInput`, `InputTooLarge`."""
    _check_kind(request, STREAM)
    waiting = bytearray()
    async for chunk in request.stream():
        waiting += chunk
        while len(waiting) >= _HEAD.size:
            flags, length = _HEAD.unpack_from(waiting)
            if length > MAX_MESSAGE_BYTES:
                raise InputTooLarge(
                    f"A message can have at most {MAX_MESSAGE_BYTES:,} bytes.", limit_bytes=MAX_MESSAGE_BYTES
                )
            if len(waiting) < _HEAD.size + length:
                break
            body = bytes(waiting[_HEAD.size : _HEAD.size + length])
            del waiting[: _HEAD.size + length]
            if flags & COMPRESSED:
                raise MalformedInput("Compressed messages are not taken here.")
            if flags & END:
                return
            yield _parsed(body)


async def read_one(request: Request) -> Message:
    """The only message of a request stream, for calls that answer with a stream."""
    async for message in read_stream(request):
        return message
    raise MalformedInput("The request contains no message.")


def unary_error(error: OutlastError) -> Response:
    code, status = connect_code(error)
    return reply({"code": code, "message": full_message(error)}, status)


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """An ASGI answer: the messages that `produce` emits, then the end. A caller that hangs up cancels it; after
    `timeout_s` the stream ends with `deadline_exceeded`. If the sandbox ends meanwhile, the connection is cut, as SDKs
    expect: they then check whether the sandbox still runs."""

    produce: Produce
    timeout_s: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", STREAM.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_until_hung_up, receive, tasks.cancel_scope)
            end = await self._run(send)
            cut = scope.get("extensions", {}).get(ABORT)
            if end is None and cut is not None:
                cut()
            else:
                gone = {"error": {"code": "unavailable", "message": LOST}}
                body = envelope(gone if end is None else end, END)
                await send({"type": "http.response.body", "body": body, "more_body": False})
            tasks.cancel_scope.cancel()

    async def _run(self, send: Send) -> Message | None:
        """The last message of the stream, or None if the sandbox is gone."""

        async def emit(message: Message) -> None:
            await send({"type": "http.response.body", "body": envelope(message), "more_body": True})

        try:
            with anyio.move_on_after(self.timeout_s) as deadline:
                await self.produce(emit)
        except SandboxLost:
            return None
        except OutlastError as error:
            return {"error": {"code": connect_code(error)[0], "message": full_message(error)}}
        if deadline.cancelled_caught:
            return {"error": {"code": "deadline_exceeded", "message": "The caller's time limit is over."}}
        return {}


def stream_error(error: OutlastError) -> StreamAnswer:
    """A stream with only this error."""

    async def produce(_emit: Emit) -> None:
        raise error

    return StreamAnswer(produce)


async def _until_hung_up(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _check_kind(request: Request, kind: str) -> None:
    given = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if given != kind:
        raise MalformedInput(
            f"The content type is {given[:60] or 'missing'}; this call accepts {kind}.",
            hint="Use Connect with its JSON codec.",
        )


def _parsed(body: bytes) -> Message:
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedInput("The message is not JSON.") from None
    if not isinstance(message, dict):
        raise MalformedInput("The message is not a JSON object.")
    return message
