"""Copies bytes both ways between two connections until one of them ends."""

import anyio

from outlast_sandbox.egress.redaction import RedactedStream
from outlast_sandbox.egress.transport import Channel, Wire


async def join(inside: Channel, outside: Channel, hidden: RedactedStream | None = None) -> None:
    """Copy until both directions have ended; `hidden` hides secrets in data from outside. Closes both; also when
    cancelled."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_copy, inside, outside, None, tasks.cancel_scope)
            await _copy(outside, inside, hidden, tasks.cancel_scope)
    finally:
        inside.close()
        outside.close()


async def _copy(source: Channel, sink: Channel, hidden: RedactedStream | None, whole: anyio.CancelScope) -> None:
    try:
        while data := await source.read():
            redacted = hidden.feed(data) if hidden is not None else data
            if redacted:
                await sink.write(redacted)
        rest = hidden.finish() if hidden is not None else b""
        if rest:
            await sink.write(rest)
    except ConnectionError:
        whole.cancel()
        return
    if isinstance(sink, Wire):
        sink.end()
    else:
        whole.cancel()
