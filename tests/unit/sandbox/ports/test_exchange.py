"""Answers as they come over a line, in pieces of any size."""

from __future__ import annotations

import socket

import anyio
import pytest

from outlast_sandbox.ports import exchange
from outlast_sandbox.ports.exchange import Answer, BadAnswer, Head, request_head
from outlast_sandbox.ports.line import Line


async def read(sent: bytes, *, is_head: bool = False, ends: bool = True) -> tuple[Head, bytes, Answer]:
    ours, theirs = socket.socketpair()
    line = Line(ours)
    with theirs, anyio.fail_after(60):
        theirs.sendall(sent)
        if ends:
            theirs.shutdown(socket.SHUT_WR)
        answer = Answer(line, is_head=is_head)
        try:
            head, body = await answer.head(), b""
            while (piece := await answer.piece()) is not None:
                body += piece
            return head, body, answer
        finally:
            line.close()


async def test_a_body_of_stated_length_leaves_the_line_open():
    head, body, answer = await read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok", ends=False)
    assert (head.status, head.headers, body) == (200, [(b"content-length", b"2"), (b"x-a", b"b")], b"ok")
    assert answer.may_reuse


async def test_chunks_are_joined_and_trailers_dropped():
    sent = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX-Late: 1\r\n\r\n"
    head, body, answer = await read(sent, ends=False)
    assert body == b"abc"
    assert head.headers == [(b"transfer-encoding", b"chunked")]
    assert answer.may_reuse


async def test_a_body_may_end_with_the_connection():
    _, body, answer = await read(b"HTTP/1.0 200 OK\r\n\r\nall of it")
    assert body == b"all of it"
    assert not answer.may_reuse


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_an_answer_without_a_body_is_over_at_once(status: str):
    _, body, answer = await read(f"HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n".encode(), ends=False)
    assert body == b""
    assert answer.may_reuse


async def test_the_answer_to_head_has_no_body():
    _, body, answer = await read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", is_head=True, ends=False)
    assert body == b""
    assert answer.may_reuse


async def test_answers_in_between_are_passed_over():
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    head, body, _ = await read(hints + b"HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", ends=False)
    assert (head.status, head.headers, body) == (201, [(b"content-length", b"1")], b"x")


async def test_what_follows_a_switch_of_protocols_is_kept():
    sent = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi"
    head, _, _ = await read(sent, ends=False)
    assert (head.status, head.rest) == (101, b"\x81\x02hi")
    assert (b"upgrade", b"websocket") in head.headers


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"220 mail ready\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_anything_else_is_no_answer(sent: bytes):
    with pytest.raises(BadAnswer):
        await read(sent)


async def test_headers_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange, "MAX_HEAD_BYTES", 1_000)
    with pytest.raises(BadAnswer):
        await read(b"HTTP/1.1 200 OK\r\nX-Endless: " + b"a" * 2_000, ends=False)


async def test_a_line_closed_while_idle_is_told_from_a_broken_answer():
    with pytest.raises(BadAnswer) as nothing:
        await read(b"")
    assert nothing.value.fresh
    with pytest.raises(BadAnswer) as half:
        await read(b"HTTP/1.1 200 OK\r\n")
    assert not half.value.fresh


def test_a_request_begins_with_its_target_and_headers():
    head = request_head("POST", b"/a?b", [(b"host", b"x")], (b"content-length", b"3"))
    assert head == b"POST /a?b HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n"
