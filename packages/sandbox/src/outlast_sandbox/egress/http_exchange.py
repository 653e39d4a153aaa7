"""Passes on one request and its response."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from outlast_sandbox.egress import refusals
from outlast_sandbox.egress.content_encoding import Inflated, Plain, decoder_of
from outlast_sandbox.egress.http1 import (
    NO_BODY,
    AnswerHead,
    BadMessage,
    Body,
    Framing,
    Headers,
    MessageReader,
    RequestHead,
    end_of,
    end_to_end,
    framed,
    framing_header,
    serialise,
)
from outlast_sandbox.egress.redaction import Redactor
from outlast_sandbox.egress.rules import Target
from outlast_sandbox.egress.transport import Channel
from outlast_sandbox.egress.tunnel import join
from outlast_sandbox.egress.upstream import Exchange, Http1Exchange, Upstreams

MAX_AT_ONCE: Final = 64 * 1024  # a body of up to this size is sent together with its head
MAX_TOGETHER: Final = 128 * 1024  # of a response, in one write
MAX_INTERIM: Final = 20
ANSWER_S: Final = 600.0
SILENCE_S: Final = 600.0
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_REPEATABLE: Final = frozenset((b"GET", b"HEAD", b"OPTIONS", b"PUT", b"DELETE", b"TRACE"))

Noted = Callable[[int | None], Awaitable[None]]


class Passage:
    """Passes on one request; `run` does all of it."""

    def __init__(
        self,
        request: RequestHead,
        headers: Headers,
        target: Target,
        reader: MessageReader,
        client: Channel,
        upstreams: Upstreams,
        redactor: Redactor,
        noted: Noted,
    ) -> None:
        self._request = request
        self._headers = headers  # as the host receives them
        self._target = target
        self._reader = reader
        self._client = client
        self._upstreams = upstreams
        self._redactor = redactor
        self._noted = noted
        self._exchange: Exchange | None = None
        self._status: int | None = None
        self._answered = False
        self._keeps = False
        self._clients_fault: Exception | None = None

    async def run(self) -> bool:
        """See `Relay.pass_on`."""
        try:
            body = self._whole_body()
            if body is None:
                await self._run_both_ways()
            else:
                head = await self._ask(body)
                await self._answer(head)
            assert self._exchange is not None
            self._exchange.release()
            return self._keeps
        except BaseException:
            if self._exchange is not None:
                self._exchange.abort()
            raise
        finally:
            if self._status is None:
                with anyio.CancelScope(shield=True):
                    await self._noted(None)

    # --- request ------------------------------------------------------------------------------------------------------

    def _whole_body(self) -> bytes | None:
        """The request's body if it has arrived completely, or None if it must be streamed."""
        if self._reader.done:
            return b""
        if self._request.upgrade:
            raise BadMessage("a request to change the protocol cannot have a body")
        return None if self._request.expects_continue else self._reader.whole(MAX_AT_ONCE)

    async def _ask(self, body: bytes) -> AnswerHead:
        """Send the request and wait for its response; once more if a reused connection turns out to be closed."""
        framing = Framing(Body.LENGTH, len(body)) if self._request.body.kind is not Body.NONE else NO_BODY
        upgrades = self._request.upgrade == b"websocket"
        exchange = self._exchange = await self._upstreams.exchange(self._target, http1=upgrades)
        try:
            await exchange.send_head(self._request, self._headers, framing, body)
            return await self._final_head(exchange)
        except (ConnectionError, BadMessage, TimeoutError) as error:
            stale = isinstance(error, ConnectionError) and exchange.reused
            if not stale or self._request.method not in _REPEATABLE:
                raise self._fault(error) from error
        exchange.abort()
        exchange = self._exchange = await self._upstreams.exchange(self._target, fresh=True)
        try:
            await exchange.send_head(self._request, self._headers, framing, body)
            return await self._final_head(exchange)
        except (ConnectionError, BadMessage, TimeoutError) as error:
            raise self._fault(error) from error

    async def _run_both_ways(self) -> None:
        """Stream the request's body while waiting for the response or receiving it."""
        exchange = self._exchange = await self._upstreams.exchange(self._target)
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            try:
                await exchange.send_head(self._request, self._headers, self._request.body)
                tasks.start_soon(self._upload, exchange)
                head = await self._final_head(exchange)
                await self._answer(head)
            except (ConnectionError, BadMessage, TimeoutError) as error:
                failure = self._clients_fault or self._fault(error)
            except Exception as error:
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _upload(self, exchange: Exchange) -> None:
        """Send the request's body. A host that no longer reads it may still have answered."""
        if self._request.expects_continue and not exchange.continues:
            self._client.write_nowait(CONTINUE)
        while True:
            try:
                piece = await self._reader.piece()
            except (ConnectionError, BadMessage) as error:
                self._clients_fault = error
                exchange.abort()
                return
            try:
                if not piece:
                    await exchange.finish()
                    return
                await exchange.send(piece)
            except ConnectionError:
                return

    async def _final_head(self, exchange: Exchange) -> AnswerHead:
        for _ in range(MAX_INTERIM):
            head = await exchange.answer(ANSWER_S)
            if head.status >= 200 or (head.status == 101 and self._request.upgrade == b"websocket"):
                self._status = head.status
                await self._noted(head.status)
                return head
            if head.status == 100 and self._request.expects_continue:
                await self._client.write(CONTINUE)
        raise BadMessage("it consists of interim responses only")

    def _fault(self, error: Exception) -> Exception:
        """The client's error for a host's failure; once a response has started, the connection can only be closed."""
        if self._answered:
            return ConnectionResetError(str(error))
        if isinstance(error, BadMessage):
            return refusals.broken(self._target.host, str(error))
        if isinstance(error, TimeoutError):
            return refusals.timed_out(self._target.host, "to answer", ANSWER_S)
        return refusals.unreachable(self._target.host, self._target.port, str(error))

    # --- response -----------------------------------------------------------------------------------------------------

    async def _answer(self, head: AnswerHead) -> None:
        assert self._exchange is not None
        if head.status == 101:
            await self._change_over(head)
            return
        try:
            decoder = decoder_of(head) if self._redactor else Plain()
        except BadMessage as error:
            raise refusals.broken(self._target.host, str(error)) from error
        framing = self._framing(head, decoder)
        self._keeps = self._request.keeps_alive and self._reader.done and framing.kind is not Body.UNTIL_CLOSE
        await self._pass_body(self._answer_head(head, framing, decoder), framing, decoder)

    def _framing(self, head: AnswerHead, decoder: Plain | Inflated) -> Framing:
        """The framing of the body for the client."""
        if head.body.kind is Body.NONE or (head.body.kind is Body.LENGTH and isinstance(decoder, Plain)):
            return head.body
        return Framing(Body.CHUNKED if self._request.minor else Body.UNTIL_CLOSE)

    def _answer_head(self, head: AnswerHead, framing: Framing, decoder: Plain | Inflated) -> bytes:
        headers = self._redact(end_to_end(head))
        if isinstance(decoder, Inflated):
            headers = [header for header in headers if header[0].lower() != b"content-encoding"]
        headers = headers + framing_header(framing)
        if framing.kind is Body.NONE and head.status != 204:  # the length that the body would have, as for HEAD
            headers += [(b"Content-Length", value) for value in head.by_name.get(b"content-length", ())]
        if not self._keeps:
            headers.append((b"Connection", b"close"))
        elif self._request.minor == 0:
            headers.append((b"Connection", b"keep-alive"))
        return serialise(b"HTTP/1.1 %d %b" % (head.status, self._redactor.hide(head.reason)), headers)

    def _redact(self, headers: Headers) -> Headers:
        """The headers with secrets hidden in them. Values only: a name cannot be a secret."""
        redactor = self._redactor
        if not redactor or not redactor.finds(b"\n".join([value for _, value in headers])):
            return headers
        return [(name, redactor.hide(value)) for name, value in headers]

    async def _pass_body(self, first: bytes, framing: Framing, decoder: Plain | Inflated) -> None:
        """Head and body; in one write if they arrive together, each piece as soon as it arrives."""
        exchange, client, hidden = self._exchange, self._client, self._redactor.stream()
        assert exchange is not None
        out, size = [first], len(first)
        while True:
            if out and (size > MAX_TOGETHER or not exchange.ready):
                self._answered = True
                await client.write(b"".join(out))
                out, size = [], 0
            piece = await self._next_piece(exchange)
            if not piece:
                break
            for plain in decoder.pieces(piece):
                redacted = hidden.feed(plain)
                if redacted:
                    out.append(framed(redacted, framing))
                    size += len(redacted)
                if size > MAX_TOGETHER:
                    self._answered = True
                    await client.write(b"".join(out))
                    out, size = [], 0
        rest = hidden.finish()
        out += [framed(rest, framing)] if rest else []
        out.append(end_of(framing))
        self._answered = True
        await client.write(b"".join(out))

    async def _next_piece(self, exchange: Exchange) -> bytes:
        try:
            if exchange.ready:
                return await exchange.piece()
            with anyio.fail_after(SILENCE_S):
                return await exchange.piece()
        except (BadMessage, TimeoutError) as error:
            raise self._fault(error) from error

    async def _change_over(self, head: AnswerHead) -> None:
        """Switch to a WebSocket: bytes both ways, with secrets hidden in the data from the host."""
        assert isinstance(self._exchange, Http1Exchange)
        headers = self._redact(end_to_end(head))
        headers = [*headers, (b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
        self._answered = True
        await self._client.write(serialise(b"HTTP/1.1 101 Switching Protocols", headers))
        host = self._exchange.channel
        self._client.unread(self._reader.rest())
        host.unread(self._exchange.reader.rest())
        await join(self._client, host, self._redactor.stream())
