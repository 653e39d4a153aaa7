"""An agent's process in a sandbox, and the connection to it."""

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple

import anyio
import orjson

from outlast.base.agent_errors import GuestFailed
from outlast.base.errors import NotFound, SandboxLost
from outlast.kernel.agents.guests.acp.messages import Event, Exited, Pause, Unknown, parse, refuse
from outlast.kernel.mcp.answer_sizes import AnswerSize
from outlast.kernel.runs.turns import encodable
from outlast.kernel.sandboxes.translation import translated
from outlast_sandbox.interactive import ProcessEnd, Processes, ProcessOutput, ProcessSpec

RELAY: Final = Path(__file__).with_name("relay.py").read_text()
TAG: Final = "acp "
KILL: Final = 9
MAX_LINE_BYTES: Final = 9_000_000  # the relay's longest, with its quotes escaped
EASY_BYTES: Final = 20_000  # read in 10 ms, whatever they are
BLOCK_BYTES: Final = 65_536
HEAD_BYTES: Final = 300  # where a message says what it is
PAUSE_BYTES: Final = 16_000_000  # a quarter of what the relay keeps
MANY_LINES: Final = 100
MAX_NUMBER: Final = 2**53
FORGED: Final = "The agent's program wrote lines that are none of its relay's."
TOO_LARGE: Final = "The agent's program wrote a message that is too large to be read."


class Said(NamedTuple):
    """What the agent said, the number of its line, and the size of that line."""

    number: int
    event: Event
    size: int = 0


class Connection:
    """The connection to one process. Numbers of lines count from 1; `taken` is that of the last one that needs no look
    again. Every call raises `SandboxLost` if the process or its sandbox is gone, and those that read `GuestFailed` if
    it writes what the relay never does."""

    def __init__(self, processes: Processes, pid: int) -> None:
        self.pid = pid
        self._processes = processes
        self._following: AbstractAsyncContextManager[AsyncIterator[ProcessOutput | ProcessEnd]] | None = None
        self._outputs: AsyncIterator[ProcessOutput | ProcessEnd] | None = None
        self._lines: deque[bytes] = deque()
        self._begun = bytearray()
        self._next: Said | None = None
        self._size = 0  # of the lines taken since some were recorded
        self._items = 0
        self.taken = 0

    async def open(self, done: int) -> None:
        """Read the lines after number `done`."""
        self.taken = done
        self._following = self._processes.follow(self.pid)
        self._outputs = await self._following.__aenter__()
        greeting = token_hex(8)
        await self._order({"greeting": greeting, "done": done}, b"\n")
        while (await self._item()).get("greeting") != greeting:
            pass

    async def aclose(self) -> None:
        """Leave the process, which works on."""
        if self._following is not None:
            following, self._following = self._following, None
            await following.__aexit__(None, None, None)

    async def peek(self) -> Said:
        """What the agent says next; the same until it is taken. Requests that this client does not know are
        answered. After each 16 MB that were not recorded, it is a `Pause`."""
        while self._next is None:
            if self._size > PAUSE_BYTES:
                self._size = 0
                self._next = Said(self.taken, Pause())
                break
            item = await self._item()
            if "greeting" in item:  # of another connection, which makes the relay repeat lines
                continue
            number, line = item.get("n"), item.get("line")
            if type(number) is not int or not 0 < number <= MAX_NUMBER:
                raise GuestFailed(FORGED)
            if number <= self.taken:
                continue
            event = _exit_of(item) if "exit" in item else await _event_of(line)
            size = len(line) if isinstance(line, str) else 0
            if event is not None and not isinstance(event, Unknown):
                self._next = Said(number, event, size)
                break
            if event is not None:
                await self.send(f"unknown {number}", refuse(event.request_id, event.method))
            self._count(number, size)
        return self._next

    async def take(self) -> Said:
        """What the agent says next."""
        said = await self.peek()
        self._next = None
        self._count(said.number, said.size)
        return said

    def _count(self, number: int, size: int) -> None:
        self.taken = number
        self._size += size

    async def send(self, key: str, line: str) -> None:
        """Pass a line on to the agent: once for this key."""
        await self._order({"key": key, "line": line})

    async def recorded(self, done: int) -> None:
        """Lines up to this number are not needed again."""
        self._size = 0
        await self._order({"done": done})

    async def _order(self, order: Mapping[str, Any], before: bytes = b"") -> None:
        try:
            await self._processes.write(self.pid, before + orjson.dumps(order) + b"\n")
        except NotFound:
            raise _lost() from None

    async def _item(self) -> dict[str, Any]:
        while True:
            while self._lines:
                self._items += 1
                if self._items % MANY_LINES == 0:
                    await anyio.lowlevel.checkpoint()
                line = self._lines.popleft()
                if not await _is_readable(line):
                    _leave_out(line, b'{"n"')
                    continue
                try:
                    item = orjson.loads(line)
                except ValueError:  # the rest of a line that an earlier server has read
                    continue
                if isinstance(item, dict):
                    return item
            await self._read()

    async def _read(self) -> None:
        assert self._outputs is not None
        await anyio.lowlevel.checkpoint()  # the next output may be here already
        with translated():  # the context manager of the outputs does it for its block only
            output = await anext(self._outputs)
        if isinstance(output, ProcessEnd):
            raise _lost()
        if output.stream != "stdout":
            return
        self._begun += output.data
        if b"\n" in output.data:
            *lines, rest = bytes(self._begun).split(b"\n")
            self._lines.extend(filter(None, lines))
            self._begun = bytearray(rest)
        if len(self._begun) > MAX_LINE_BYTES:
            raise GuestFailed(TOO_LARGE)


async def _is_readable(line: bytes) -> bool:
    """Whether the line can be parsed in some 50 ms."""
    if len(line) <= EASY_BYTES:
        return True
    size = AnswerSize()
    for at in range(0, len(line), BLOCK_BYTES):
        if size.is_too_large(line[at : at + BLOCK_BYTES]):
            return False
        await anyio.lowlevel.checkpoint()
    return True


def _leave_out(line: bytes, start: bytes) -> None:
    """Accept that a line of this start is not read. Raises `GuestFailed` unless it is an update, which is the only
    thing that neither side waits for."""
    if line.startswith(start) and b"session/update" not in line[:HEAD_BYTES]:
        raise GuestFailed(TOO_LARGE)


async def _event_of(line: Any) -> Event | None:
    if not isinstance(line, str):
        raise GuestFailed(FORGED)
    if len(line) > EASY_BYTES // 4:
        data = line.encode()
        if not await _is_readable(data):
            _leave_out(data, b"{")
            return None
    return parse(line)


def _exit_of(item: Mapping[str, Any]) -> Exited:
    code, stderr = item["exit"], item.get("stderr")
    if type(code) is not int or not isinstance(stderr, str):
        raise GuestFailed(FORGED)
    return Exited(code, encodable(stderr))


def _lost() -> SandboxLost:
    return SandboxLost("The process of the agent is gone.")


async def start(processes: Processes, argv: Sequence[str], env: Mapping[str, str], tag: str) -> int:
    """Start an agent. Returns its process id."""
    words = ("python3", "-u", "-c", RELAY, *argv)
    return (await processes.start(ProcessSpec(words, env=env, stdin=True, tag=f"{TAG}{tag}"))).pid


async def find(processes: Processes, tag: str) -> int | None:
    """The id of the process with this tag, if it runs."""
    return next((one.pid for one in await processes.list() if one.spec.tag == f"{TAG}{tag}"), None)


async def end_all(processes: Processes) -> None:
    """End every agent in the sandbox, with what it has started."""
    for one in await processes.list():
        if (one.spec.tag or "").startswith(TAG):
            await end(processes, one.pid)


async def end(processes: Processes, pid: int) -> None:
    """End an agent with what it has started. One that has ended is no error."""
    with suppress(NotFound):
        await processes.signal(pid, KILL, group=True)
