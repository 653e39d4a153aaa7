"""An upgraded connection, such as a WebSocket: forwards its handshake, then its bytes both ways, unread.  The browser's
bytes are only inspected to tell use by a person from keepalives (`Beats`).
"""

import anyio

from outlast.kernel.http.takeover import TAKE_OVER, TakenOver
from outlast.kernel.previews.headers import first, to_outside
from outlast.kernel.previews.proxy import Proxy, Request
from outlast.kernel.previews.wake import Waker
from outlast_sandbox.ports.exchange import SWITCHED, Answer, BadAnswer, Head, request_head
from outlast_sandbox.ports.keepalives import Beats
from outlast_sandbox.ports.line import Line


async def pass_on(proxy: Proxy, patience_s: float) -> None:
    """Forward a visitor's request, until the end of its answer or connection. Raises `Waiting` if there is no
    connection within `patience_s`, and `BadAnswer`; nothing has been sent to the visitor while `proxy.status` is 0."""
    if first(proxy.request.headers, b"upgrade").strip().lower() == b"websocket":
        await _connect(proxy)
    else:  # other upgrades are ignored, as HTTP allows
        await proxy.run(await proxy.waker.reach(proxy.request.visitor, patience_s))


async def _connect(proxy: Proxy) -> None:
    """Connect a WebSocket. It thaws a frozen sandbox but restarts none: a forgotten tab retries forever."""
    request = proxy.request
    reached = await proxy.waker.reach_awake(request.visitor)
    try:
        head, answer = await _shake_hands(reached.line, request)
        take_over = request.scope.get("extensions", {}).get(TAKE_OVER)
        browser = take_over() if take_over is not None and head.status == SWITCHED else None
        if browser is None:
            await proxy.pass_out(answer)
            return
        proxy.status = head.status
        await pass_bytes(reached.line, browser, head, request, proxy.waker)
    finally:
        reached.line.close()


async def _shake_hands(line: Line, request: Request) -> tuple[Head, Answer]:
    """Forward the upgrade request. Returns the answer with its head. Raises `BadAnswer`."""
    upgrade = first(request.headers, b"upgrade")
    headers = [*request.inside, (b"connection", b"Upgrade"), (b"upgrade", upgrade)]
    try:
        await line.send(request_head(request.method, request.target, headers, None))
    except OSError as error:
        raise BadAnswer("it closed the connection without an answer") from error
    answer = Answer(line, is_head=False)
    return await answer.head(), answer


async def pass_bytes(line: Line, browser: TakenOver, head: Head, request: Request, waker: Waker) -> None:
    """Answer the handshake, then forward bytes both ways until one side ends. Cancelling cuts both."""
    headers = to_outside(head.headers, request.policy)
    headers += [(b"connection", b"Upgrade"), (b"upgrade", first(head.headers, b"upgrade"))]
    lines = [b"HTTP/1.1 101 Switching Protocols\r\n", *(b"%b: %b\r\n" % pair for pair in headers), b"\r\n"]
    try:
        await browser.send(b"".join(lines) + head.rest)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_inwards, browser, line, request, waker, tasks.cancel_scope)
            tasks.start_soon(_outwards, line, browser, tasks.cancel_scope)
    except BaseException:
        browser.abort()
        raise
    finally:
        line.close()
        browser.close()


async def _inwards(browser: TakenOver, line: Line, request: Request, waker: Waker, scope: anyio.CancelScope) -> None:
    beats = Beats()
    try:
        while data := await browser.receive():
            if beats.feed(data):
                waker.use(request.visitor)
            await line.send(data)
    except OSError:
        pass
    scope.cancel()


async def _outwards(line: Line, browser: TakenOver, scope: anyio.CancelScope) -> None:
    try:
        while data := await line.receive():
            await browser.send(data)
    except OSError:
        pass
    scope.cancel()
