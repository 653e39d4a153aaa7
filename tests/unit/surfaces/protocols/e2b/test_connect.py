"""Connect's envelopes: however they are cut on the way, and what is refused of them."""

from __future__ import annotations

import struct
from typing import Any

import anyio
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from outlast.base.errors import InputTooLarge, MalformedInput, NotFound, OutlastError, SandboxLost
from outlast.kernel.http.event_stream import ABORT
from outlast.surfaces.protocols.e2b import connect
from outlast.surfaces.protocols.e2b.connect import END, STREAM, UNARY, Emit, StreamAnswer, envelope

MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=5)


def request_of(pieces: list[bytes], kind: str = STREAM, **headers: str) -> Request:
    waiting = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Any:
        return waiting.pop(0)

    given = {"content-type": kind} | {name.replace("_", "-"): value for name, value in headers.items()}
    pairs = [(name.encode(), value.encode()) for name, value in given.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": pairs, "query_string": b""}, receive)


async def messages_of(request: Request) -> list[Any]:
    return [message async for message in connect.read_stream(request)]


@given(MESSAGES, st.data())
def test_messages_are_the_same_however_the_stream_is_cut(messages: list[dict[str, str]], data: st.DataObject):
    body = b"".join(map(envelope, messages)) + envelope({}, END)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert anyio.run(messages_of, request_of(pieces)) == messages


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (struct.pack(">BI", 0, connect.MAX_MESSAGE_BYTES + 1), InputTooLarge),
        (struct.pack(">BI", 1, 2) + b"{}", MalformedInput),  # compressed
        (struct.pack(">BI", 0, 2) + b"[]", MalformedInput),
        (struct.pack(">BI", 0, 2) + b"{x", MalformedInput),
    ],
)
async def test_an_envelope_that_is_none_is_refused(body: bytes, error: type[OutlastError]):
    with pytest.raises(error):
        await messages_of(request_of([body]))


async def test_one_message_is_read_up_to_a_bound_and_in_json_alone():
    assert await connect.read_unary(request_of([b'{"a"', b":1}"], UNARY)) == {"a": 1}
    assert await connect.read_unary(request_of([], UNARY)) == {}
    with pytest.raises(InputTooLarge):
        await connect.read_unary(request_of([bytes(connect.MAX_MESSAGE_BYTES), b"x"], UNARY))
    for kind in ("application/proto", "text/plain", ""):
        with pytest.raises(MalformedInput):
            await connect.read_unary(request_of([b"{}"], kind))
    with pytest.raises(MalformedInput):
        await connect.read_unary(request_of([b"{}"], UNARY, content_encoding="gzip"))


@pytest.mark.parametrize(("stated", "seconds"), [("1500", 1.5), ("0", None), ("", None), ("x", None), ("9" * 30, None)])
def test_a_time_limit_is_read_in_milliseconds(stated: str, seconds: float | None):
    assert connect.timeout_of(request_of([], connect_timeout_ms=stated)) == seconds


def test_a_field_is_found_under_both_its_names():
    assert connect.field({"watcherId": "a"}, "watcherId") == "a"
    assert connect.field({"watcher_id": "a"}, "watcherId") == "a"
    assert connect.field({}, "watcherId") is None


async def answered(answer: StreamAnswer, **extensions: Any) -> tuple[int, list[Any]]:
    """The status, and each envelope as (flags, message)."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await anyio.sleep_forever()

    await answer({"type": "http", "extensions": {ABORT: extensions.get("cut")}}, receive, send)
    bodies = b"".join(message.get("body", b"") for message in sent)
    found = []
    while bodies:
        flags, length = struct.unpack_from(">BI", bodies)
        found.append((flags, orjson.loads(bodies[5 : 5 + length])))
        bodies = bodies[5 + length :]
    return sent[0]["status"], found


async def test_a_stream_ends_with_how_it_went():
    async def well(emit: Emit) -> None:
        await emit({"n": 1})

    async def badly(emit: Emit) -> None:
        await emit({"n": 1})
        raise NotFound("There is no such thing.")

    async def slowly(_emit: Emit) -> None:
        await anyio.sleep_forever()

    assert await answered(StreamAnswer(well)) == (200, [(0, {"n": 1}), (END, {})])
    status, (first, (flags, end)) = await answered(StreamAnswer(badly))
    assert (status, first, flags, end["error"]["code"]) == (200, (0, {"n": 1}), END, "not_found")
    assert (await answered(StreamAnswer(slowly, 0.01)))[1][-1][1]["error"]["code"] == "deadline_exceeded"


async def test_a_stream_whose_sandbox_goes_away_is_cut():
    cuts: list[bool] = []

    async def lost(emit: Emit) -> None:
        await emit({"n": 1})
        raise SandboxLost("It is gone.")

    assert (await answered(StreamAnswer(lost), cut=lambda: cuts.append(True)))[1] == [(0, {"n": 1})]
    assert cuts == [True]
    assert (await answered(StreamAnswer(lost)))[1][-1][1]["error"]["code"] == "unavailable"
