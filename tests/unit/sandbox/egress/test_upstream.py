"""One request over one connection to a host."""

from __future__ import annotations

import anyio

from outlast_sandbox.egress.http1 import Body, Framing, RequestHead
from outlast_sandbox.egress.transport import Channel
from outlast_sandbox.egress.upstream import Http1Exchange

CHUNKED = Framing(Body.CHUNKED)


class Line:
    """A channel that answers when told to, and notes its deadlines."""

    def __init__(self) -> None:
        self.deadlines: list[float | None] = []
        self.written: list[bytes] = []
        self.answers = anyio.Event()
        self.expired = self.closed = False

    async def read(self) -> bytes:
        await self.answers.wait()
        return b"HTTP/1.1 204 No Content\r\n\r\n"

    def read_nowait(self) -> bytes:
        return b""

    def unread(self, data: bytes) -> None: ...

    async def write(self, data: bytes) -> None:
        self.written.append(data)

    def write_nowait(self, data: bytes) -> None: ...
    def end(self) -> None: ...

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def set_deadline(self, seconds: float | None) -> None:
        self.deadlines.append(seconds)

    @property
    def is_quiet(self) -> bool:
        return True


async def test_the_time_for_an_answer_begins_anew_with_each_piece_that_is_sent() -> None:
    line = Line()
    kept: list[Channel] = []
    exchange = Http1Exchange(line, kept.append, reused=False)
    await exchange.send_head(RequestHead(b"POST", b"/", 1, [], {}, CHUNKED), [(b"Host", b"a")], CHUNKED)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(exchange.answer, 5.0)
        await anyio.wait_all_tasks_blocked()
        await exchange.send(b"one")
        await exchange.send(b"two")
        assert line.deadlines == [5.0, 5.0, 5.0]
        await exchange.finish()
        line.answers.set()
    assert line.deadlines[-1] is None
    await exchange.send(b"late")
    assert line.deadlines[-1] is None
    assert b"".join(line.written).endswith(b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n4\r\nlate\r\n")
    exchange.release()
    assert kept == [line]


async def test_a_connection_whose_request_was_not_sent_whole_is_not_used_again() -> None:
    line = Line()
    kept: list[Channel] = []
    exchange = Http1Exchange(line, kept.append, reused=False)
    await exchange.send_head(RequestHead(b"POST", b"/", 1, [], {}, CHUNKED), [(b"Host", b"a")], CHUNKED)
    line.answers.set()
    assert (await exchange.answer(5.0)).status == 204
    exchange.release()
    assert not kept
    assert line.closed
