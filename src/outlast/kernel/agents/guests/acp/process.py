"""An agent's process in a sandbox, and the connection to it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple

import orjson

from outlast.base.errors import NotFound, SandboxLost
from outlast.kernel.agents.guests.acp.messages import Event, Exited, Unknown, parse, refuse
from outlast.kernel.sandboxes.translation import translated
from outlast_sandbox.interactive import ProcessEnd, Processes, ProcessOutput, ProcessSpec

RELAY: Final = Path(__file__).with_name("relay.py").read_text()
TAG: Final = "acp "
KILL: Final = 9
MAX_LINE_BYTES: Final = 9_000_000  # the relay's longest, with its quotes escaped


class Said(NamedTuple):
    """What the agent said, and the number of its line."""

    number: int
    event: Event


class Connection:
    """The connection to one process. Numbers of lines count from 1; `taken` is that of the last one that needs no look
    again. Every call raises `SandboxLost` if the process or its sandbox is gone."""

    def __init__(self, processes: Processes, pid: int) -> None:
        self.pid = pid
        self._processes = processes
        self._following: AbstractAsyncContextManager[AsyncIterator[ProcessOutput | ProcessEnd]] | None = None
        self._outputs: AsyncIterator[ProcessOutput | ProcessEnd] | None = None
        self._lines: list[bytes] = []
        self._begun = bytearray()
        self._next: Said | None = None
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
        answered."""
        while self._next is None:
            item = await self._item()
            if "exit" in item:
                self._next = Said(item["n"], Exited(item["exit"], item["stderr"]))
            elif "line" in item:
                event = parse(item["line"])
                if event is not None and not isinstance(event, Unknown):
                    self._next = Said(item["n"], event)
                    break
                if event is not None:
                    await self.send(f"unknown {item['n']}", refuse(event.request_id, event.method))
                self.taken = item["n"]
        return self._next

    async def take(self) -> Said:
        """What the agent says next."""
        said = await self.peek()
        self._next, self.taken = None, said.number
        return said

    async def send(self, key: str, line: str) -> None:
        """Pass a line on to the agent: once for this key."""
        await self._order({"key": key, "line": line})

    async def recorded(self, done: int) -> None:
        """Lines up to this number are not needed again."""
        await self._order({"done": done})

    async def _order(self, order: Mapping[str, Any], before: bytes = b"") -> None:
        try:
            await self._processes.write(self.pid, before + orjson.dumps(order) + b"\n")
        except NotFound:
            raise _lost() from None

    async def _item(self) -> dict[str, Any]:
        while True:
            while self._lines:
                try:
                    item = orjson.loads(self._lines.pop(0))
                except ValueError:  # the rest of a line that an earlier server has read
                    continue
                if isinstance(item, dict):
                    return item
            await self._read()

    async def _read(self) -> None:
        assert self._outputs is not None
        with translated():  # the context manager of the outputs does it for its block only
            output = await anext(self._outputs)
        if isinstance(output, ProcessEnd):
            raise _lost()
        if output.stream != "stdout":
            return
        self._begun += output.data
        if len(self._begun) > MAX_LINE_BYTES:
            raise _lost()
        if b"\n" in output.data:
            *lines, rest = bytes(self._begun).split(b"\n")
            self._lines += lines
            self._begun = bytearray(rest)


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
