"""Connections to an engine: for requests, and for the streams of a process in a container."""

import asyncio
import socket
from contextlib import suppress
from typing import Any, Final

import aiohttp
import orjson

from .address import Address, SshAddress, TcpAddress, UnixAddress

MAX_HEAD_BYTES: Final = 64 * 1024
SWITCHED: Final = (101, 200)  # Docker answers 101 where an upgrade is asked for, old Podman 200
# A connection that was cut without a word is noticed after some 25 s.
_KEEP_ALIVE: Final = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
USER_TIMEOUT_MS: Final = 25_000

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_children: Final[set["asyncio.Future[Any]"]] = set()  # `ssh` programs that run; each ends with its connection


def connector_to(address: Address) -> aiohttp.BaseConnector:
    if isinstance(address, UnixAddress):
        return aiohttp.UnixConnector(str(address.path))
    if isinstance(address, TcpAddress):
        return aiohttp.TCPConnector(ssl=address.tls.context() if address.tls else False)
    return _SshConnector(address)


class _SshConnector(aiohttp.BaseConnector):
    """Each connection is a program `ssh`, whose standard streams lead to the engine."""

    def __init__(self, address: SshAddress) -> None:
        super().__init__()
        self._address = address

    async def _create_connection(self, req: Any, traces: Any, timeout: Any) -> Any:
        sock = await _start_ssh(self._address)
        _, protocol = await self._loop.create_connection(self._factory, sock=sock)
        return protocol


async def attach(address: Address, process: str) -> Streams:
    """Start a prepared process; its streams are the caller's from now on. Raises `OSError` if the engine does not
    answer or refuses. A cancelled call leaves nothing open."""
    reader, writer = await _open(address)
    try:
        async with asyncio.timeout(address.connect_s):
            body = orjson.dumps({"Detach": False, "Tty": False})
            head = (
                f"POST /v1.40/exec/{process}/start HTTP/1.1\r\nHost: engine\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
            status = await _status(reader)
        if status not in SWITCHED:
            raise ConnectionError(f"the engine did not start the process ({status})")
    except BaseException:
        writer.close()
        raise
    return reader, writer


async def _open(address: Address) -> Streams:
    async with asyncio.timeout(address.connect_s):
        if isinstance(address, UnixAddress):
            return await asyncio.open_unix_connection(str(address.path), limit=MAX_HEAD_BYTES)
        if isinstance(address, SshAddress):
            return await asyncio.open_connection(sock=await _start_ssh(address), limit=MAX_HEAD_BYTES)
        context = address.tls.context() if address.tls else None
        streams = await asyncio.open_connection(address.host, address.port, ssl=context, limit=MAX_HEAD_BYTES)
    _watch(streams[1].get_extra_info("socket"))
    return streams


def _watch(sock: Any) -> None:
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option, value in _KEEP_ALIVE:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


async def _status(reader: asyncio.StreamReader) -> int:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise ConnectionError("the engine closed the connection") from error
    words = head.split(b"\r\n")[0].split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


async def _start_ssh(address: SshAddress) -> socket.socket:
    """Our end of its streams. It ends when this is closed."""
    ours, theirs = socket.socketpair()
    try:
        ours.setblocking(False)
        end, quiet = theirs.fileno(), asyncio.subprocess.DEVNULL
        program = await asyncio.create_subprocess_exec(*address.words, stdin=end, stdout=end, stderr=quiet)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    # It outlives this call, and ends with the connection; the task only collects its exit.
    ending = asyncio.ensure_future(program.wait())  # noqa: TID251
    _children.add(ending)
    ending.add_done_callback(_children.discard)
    return ours
