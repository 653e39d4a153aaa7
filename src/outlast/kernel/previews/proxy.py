"""Forwards one HTTP request and its answer in pieces, at the speed of the slower side."""

from typing import Final

import anyio
from starlette.types import Message, Receive, Scope, Send

from outlast.base.records import dataclass
from outlast.kernel.http.event_stream import ABORT
from outlast.kernel.previews.actions import Visitor
from outlast.kernel.previews.headers import Headers, first, to_inside, to_outside
from outlast.kernel.previews.wake import Reached, Waker
from outlast_sandbox.ports.exchange import Answer, BadAnswer, Head, request_head
from outlast_sandbox.ports.line import Line

REPEATABLE: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"})
AWAKE_CHECK_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Request:
    """A visitor's request: the ASGI scope with its headers, the visitor, the scheme that they used, and the content
    security policy of the answer."""

    scope: Scope
    headers: Headers
    visitor: Visitor
    scheme: str
    policy: bytes

    @property
    def method(self) -> str:
        return str(self.scope["method"])

    @property
    def target(self) -> bytes:
        query = self.scope["query_string"]
        path: bytes = self.scope.get("raw_path") or self.scope["path"].encode()
        return path + b"?" + query if query else path

    @property
    def inside(self) -> list[tuple[bytes, bytes]]:
        """The headers for the app, without those that frame the body."""
        client = (self.scope.get("client") or ("",))[0]
        return to_inside(self.headers, client, self.scheme)

    @property
    def framing(self) -> tuple[bytes, bytes] | None:
        """The header that delimits the body for the app, or None if there is no body."""
        length = first(self.headers, b"content-length")
        if length:
            return b"content-length", length
        chunked = first(self.headers, b"transfer-encoding")
        return (b"transfer-encoding", b"chunked") if chunked else None


class Proxy:
    """Forwards one request. Its state is in memory only."""

    def __init__(self, waker: Waker, request: Request, receive: Receive, send: Send) -> None:
        self.waker = waker
        self.request = request
        self._receive = receive
        self._send = send
        self._body_begun = False
        self._body_sent = request.framing is None
        self._gone = False  # the visitor disconnected
        self._lent: Reached | None = None  # the line, until it is given back
        self.status = 0  # of the answer, once it has begun

    async def run(self, reached: Reached) -> None:
        """Forward until the end of the answer. Raises `BadAnswer` while nothing has been sent to the visitor, `Waiting`
        if a second connection was needed and could not be opened."""
        try:
            await self._pass(reached)
        except BadAnswer as error:
            if reached.is_fresh or not error.fresh or not self._may_repeat() or self._gone:
                raise
            # The other side had just closed its idle connection.
            await self._pass(await self.waker.reach(self.request.visitor, AWAKE_CHECK_S, fresh=True))

    def _may_repeat(self) -> bool:
        return not self._body_begun and self.request.method in REPEATABLE

    async def _pass(self, reached: Reached) -> None:
        answer = Answer(reached.line, is_head=self.request.method == "HEAD")
        self._lent, failure = reached, None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._pass_in, reached.line, tasks.cancel_scope)
                try:
                    await self.pass_out(answer)
                except BadAnswer as error:
                    failure = error
                tasks.cancel_scope.cancel()
            if failure is not None and not self._gone:
                raise failure
        finally:
            if self._lent is not None:
                reached.line.close()

    def _give_back(self, answer: Answer) -> None:
        """Free the line for the next request, which may arrive as soon as the visitor has this answer."""
        if self._lent is not None and answer.may_reuse and self._body_sent:
            reached, self._lent = self._lent, None
            self.waker.pool.give_back(reached.sandbox.sandbox_id, self.request.visitor.port, reached.line)

    async def _pass_in(self, line: Line, scope: anyio.CancelScope) -> None:
        """Forward head and body; then wait for the visitor to disconnect."""
        request = self.request
        try:
            await line.send(request_head(request.method, request.target, request.inside, request.framing))
            if request.framing is not None:
                await self._pass_body(line, chunked=request.framing[0] == b"transfer-encoding")
        except OSError:  # it closes, maybe after an answer, which is being read
            return
        while not self._gone:
            self._gone = (await self._receive())["type"] == "http.disconnect"
        scope.cancel()

    async def _pass_body(self, line: Line, *, chunked: bool) -> None:
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._gone = True
                return
            self._body_begun = True
            body, more = message.get("body", b""), message.get("more_body", False)
            if body:
                await line.send(b"%x\r\n%b\r\n" % (len(body), body) if chunked else body)
                self.waker.use(self.request.visitor)
        if chunked:
            await line.send(b"0\r\n\r\n")
        self._body_sent = True

    async def pass_out(self, answer: Answer) -> None:
        """Forward the answer of a sent request to the visitor. Raises `BadAnswer`."""
        head = await self._head(answer)
        self.status = head.status
        is_events = first(head.headers, b"content-type").startswith(b"text/event-stream")
        headers = to_outside(head.headers, self.request.policy)
        await self._send({"type": "http.response.start", "status": head.status, "headers": headers})
        piece = b""
        while not answer.is_over:
            piece = await answer.piece() or b""
            if not answer.is_over:
                await self._send(_body(piece, more=True))
                if not is_events:  # an event stream is often only kept open
                    self.waker.use(self.request.visitor)
        self._give_back(answer)
        await self._send(_body(piece, more=False))

    async def _head(self, answer: Answer) -> Head:
        """The head of the answer. A sandbox that fell asleep in between is woken."""
        with anyio.move_on_after(AWAKE_CHECK_S):
            return await answer.head()
        await self.waker.wake_again(self.request.visitor)
        return await answer.head()


def cut(scope: Scope) -> None:
    """Cut a connection whose answer broke off, so that the visitor's browser sees that it is incomplete."""
    abort = scope.get("extensions", {}).get(ABORT)
    if abort is not None:
        abort()


def _body(body: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}
