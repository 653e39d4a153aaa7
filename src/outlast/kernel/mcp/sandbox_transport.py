"""The library `mcp` over standard input and output of a process in a sandbox. Import it in a thread: it takes long to
load."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, ClientSession
from mcp.shared.message import SessionMessage
from mcp_types import Implementation, jsonrpc_message_adapter

from outlast.base.errors import OutlastError
from outlast.kernel.mcp.answer_sizes import AnswerSize
from outlast.kernel.mcp.live_calls import Ask, refuse
from outlast.kernel.mcp.sdk_requests import Tasks, elicitation
from outlast_sandbox.interactive import ProcessEnd, Processes

MANY_LINES: Final = 1_000
Messages = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def connect(processes: Processes, pid: int, over: anyio.Event, ask: Ask = refuse) -> AsyncIterator[ClientSession]:
    """A client of the server in this process. Sets `over` when the process has ended, or cannot be understood. `ask`
    asks a person while a call waits."""
    who = Implementation(name="outlast", version=version("outlast"))
    streams = _transport(processes, pid, over)
    more: Any = {"elicitation_callback": elicitation(ask), "extensions": [Tasks()]}
    async with Client(streams, client_info=who, cache=None, **more) as client:
        yield client.session


@asynccontextmanager
async def _transport(processes: Processes, pid: int, over: anyio.Event) -> AsyncIterator[Streams]:
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, processes, pid, to_client, over)
        tasks.start_soon(_write, processes, pid, from_client, over)
        try:
            yield from_server, to_server
        finally:
            tasks.cancel_scope.cancel()


async def _read(processes: Processes, pid: int, to_client: Messages, over: anyio.Event) -> None:
    """Closes the stream of messages at the end of the process: calls in progress fail then."""
    try:
        async with to_client, processes.follow(pid) as outputs:
            line, size = bytearray(), AnswerSize()
            async for output in outputs:
                if isinstance(output, ProcessEnd) or output.skipped:
                    return
                if output.stream != "stdout":
                    continue
                line += output.data
                for number, part in enumerate(output.data.split(b"\n")):
                    if number % MANY_LINES == MANY_LINES - 1:
                        await anyio.lowlevel.checkpoint()
                    size = AnswerSize() if number else size  # each message has a line
                    if part and size.is_too_large(part):
                        return
                if b"\n" not in output.data:
                    continue
                *lines, rest = bytes(line).split(b"\n")
                line = bytearray(rest)
                for one in filter(None, lines):
                    await _pass_on(one, to_client)
    except (OutlastError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the sandbox is gone, or the client has ended
    finally:
        over.set()


async def _pass_on(line: bytes, to_client: Messages) -> None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:  # servers print other things, too
        await anyio.lowlevel.checkpoint()
        return
    await to_client.send(SessionMessage(message))


async def _write(
    processes: Processes, pid: int, from_client: MemoryObjectReceiveStream[SessionMessage], over: anyio.Event
) -> None:
    try:
        async with from_client:
            async for one in from_client:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                await processes.write(pid, text.encode() + b"\n")
    except OutlastError:  # the process has ended: `_read` reports it
        over.set()
