"""A database that kills its own process at a chosen commit: what a power cut does, at a place with a name.

Every commit has a *label*: the transaction function and the facts it logs, as `_name_effect.change[step.started]`.
A `CrashPoint` names the n-th commit of a label from the moment the point was armed, and which side of it: "before"
(the function has run, nothing is durable) or "after" (durable, nobody has been told). SIGKILL leaves no time for
anything else.

A point is armed by writing it to a file, also while the server runs; it disarms itself as it strikes, so that the
server can be started again. `python -m tests.crash.crash_server` is the server with such a database.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

import orjson
import sqlalchemy as sa

from outlast.db.database import Database, Tx

P = ParamSpec("P")
T = TypeVar("T")
POINT_FILE: Final = "OUTLAST_CRASH_POINT_FILE"  # environment variable: where a point is armed
COMMITS_FILE: Final = "OUTLAST_CRASH_COMMITS_FILE"  # environment variable: where each commit's label is written
BLOCKING: Final = "OUTLAST_CRASH_BLOCKING"  # environment variable: "1" gives the agent `chat` a tool that blocks
CLOCK: Final = "OUTLAST_CRASH_CLOCK"  # environment variable: seconds that the server's clock is ahead of the machine's
STAGED: Final = "OUTLAST_CRASH_STAGED"  # environment variable: "1" gives the agent `chat` stages
GUEST: Final = "OUTLAST_CRASH_GUEST"  # environment variable: the module whose guest is the agent `chat`
FLOWS: Final = "OUTLAST_CRASH_FLOWS"  # environment variable: "1" makes the agent `chat` a flow


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """The n-th commit of this label after arming (1, 2, …), and the side of it."""

    label: str
    nth: int
    when: Literal["before", "after"]

    def __str__(self) -> str:
        return f"{self.when} {self.label}#{self.nth}"

    def arm(self, file: Path) -> None:
        """Arm it for the server that reads this file; it strikes once. Whatever was armed before is forgotten."""
        fresh = file.with_suffix(".new")
        fresh.write_bytes(orjson.dumps(asdict(self)))
        fresh.replace(file)


class _RecordingTx(Tx):
    """A transaction that remembers the names of the facts it logs."""

    __slots__ = ("facts",)

    def __init__(self, inner: Tx) -> None:
        super().__init__(inner.conn, inner.now, inner.hooks, inner.notices)
        self.facts: dict[str, None] = {}

    def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]:
        if isinstance(statement, sa.Insert) and getattr(statement.table, "name", "") == "log":
            body = (parameters or statement.compile().params)["body"]
            names = [orjson.loads(line)["event"] for line in body.split(b"\n")]
            # Which deltas go along with a fact is a matter of time, so they are no part of its name
            self.facts |= dict.fromkeys(name for name in names if not name.endswith(".delta"))
        return super().execute(statement, parameters)

    def insert_many(self, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
        for row in rows if table.name == "log" else ():
            self.insert(table, **row)  # each shows its facts
        if table.name != "log":
            super().insert_many(table, rows)


class CrashingDatabase:
    """A `Database` over another one. `point_file`: see the module; `commits_file` gets one line per commit."""

    def __init__(self, inner: Database, point_file: Path, commits_file: Path | None = None) -> None:
        self._inner, self._point_file, self._commits_file = inner, point_file, commits_file
        self.dialect, self.clock = inner.dialect, inner.clock
        self._lock = threading.Lock()
        # Inode and time of the file, so that a new one is noticed; a freed inode is soon another file's.
        self._armed: tuple[tuple[int, int], CrashPoint] | None = None
        self._seen: Counter[str] = Counter()

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(tx: Tx) -> T:
            recording = _RecordingTx(tx)
            result = fn(recording, *args, **kwargs)
            recording.end()
            self._pass(tx, label_of(getattr(fn, "__func__", fn), recording.facts))
            return result

        return await self._inner.write(run)

    async def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._inner.read(fn, *args, **kwargs)

    def on_notice(self, listener: Callable[[str], None]) -> None:
        self._inner.on_notice(listener)

    async def tell(self, messages: Sequence[str]) -> None:
        await self._inner.tell(messages)

    def on_message(self, listener: Callable[[str], None]) -> None:
        self._inner.on_message(listener)

    @asynccontextmanager
    async def in_thread(self) -> AsyncIterator[CrashingDatabase]:
        async with self._inner.in_thread() as inner:
            yield CrashingDatabase(inner, self._point_file, self._commits_file)

    @asynccontextmanager
    async def patient(self) -> AsyncIterator[CrashingDatabase]:
        async with self._inner.patient() as inner:
            yield CrashingDatabase(inner, self._point_file, self._commits_file)

    async def background(self) -> None:
        await self._inner.background()

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _pass(self, tx: Tx, label: str) -> None:
        """A transaction is about to commit: strike here, or right after, or write down that it happened."""
        point = self._point(label)
        if point is not None and point.when == "before":
            self._strike()
        tx.hooks.insert(0, lambda: self._committed(label, point))

    def _committed(self, label: str, point: CrashPoint | None) -> None:
        if self._commits_file is not None:
            with self._commits_file.open("a") as file:
                file.write(f"{label}\n")
        if point is not None:
            self._strike()

    def _point(self, label: str) -> CrashPoint | None:
        """The armed point, if this is its commit."""
        with self._lock:
            try:
                found = self._point_file.stat()
                file = (found.st_ino, found.st_mtime_ns)
                if self._armed is None or self._armed[0] != file:
                    self._armed = (file, CrashPoint(**orjson.loads(self._point_file.read_bytes())))
                    self._seen.clear()
            except FileNotFoundError:
                self._armed = None
                return None
            self._seen[label] += 1
            point = self._armed[1]
            return point if (point.label, point.nth) == (label, self._seen[label]) else None

    def _strike(self) -> None:
        self._point_file.unlink(missing_ok=True)
        while True:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(1)


def label_of(fn: Callable[..., Any], facts: dict[str, None]) -> str:
    """The name of the transaction function, or of the change that it wraps, and the facts it logs in their order."""
    while "change" in fn.__code__.co_freevars and fn.__closure__ is not None:
        wrapped = fn.__closure__[fn.__code__.co_freevars.index("change")].cell_contents
        if not hasattr(wrapped, "__code__"):  # a change as a value, such as that of a screen
            break
        fn = wrapped
    name = fn.__qualname__.replace(".<locals>", "").replace("<lambda>", "λ")
    return f"{name}[{' '.join(facts)}]" if facts else name
