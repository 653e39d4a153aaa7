"""Two nodes on one database, with the writer of a run on one and followers on both: for tests of live text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import anyio
import orjson
import sqlalchemy as sa
from anyio.abc import TaskGroup

from outlast.base.clock import SystemClock
from outlast.base.settings.fields import SecretUrl
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.runs import claims
from outlast.kernel.runs.shapes import RunReference, RunStarted
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams import follow
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.live.open import open_live
from outlast.kernel.streams.log_store import NamedEvent, read_all
from outlast.kernel.streams.writer import Flusher, RunWriter
from tests.factories import make_project, make_run, make_thread, make_user

SAVE_S = 1.0


@dataclass
class Node:
    """One server's part in live text."""

    db: Database
    hub: Hub
    flusher: Flusher

    def delta(self, writer: RunWriter, text: str = "word ") -> int:
        """Shows one more delta; its number."""
        writer.stream([("text.delta", "prt_1", text)])
        return writer._seq - 1


@dataclass
class Follower:
    """Reads a run on one node from a cursor on, as a client would."""

    node: Node
    run_id: str
    cursor: int = 0
    numbers: list[int] = field(default_factory=list)
    at: dict[int, float] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    pushed: int = 0
    _news: anyio.Event = field(default_factory=anyio.Event)
    began: int = 0

    def __post_init__(self) -> None:
        self.began = self.cursor

    async def run(self) -> None:
        frames = follow.follow_run(self.node.db, self.node.hub, self.run_id, self.cursor, self._push)
        async with aclosing(cast("AsyncGenerator[bytes, None]", frames)) as chunks:
            async for chunk in chunks:
                self._take(chunk)

    async def until(self, number: int, within_s: float = 10) -> None:
        with anyio.fail_after(within_s):
            while self.cursor < number:
                await self._news.wait()

    def _push(self, chunk: bytes) -> bool:
        self.pushed += 1
        self._take(chunk)
        return True

    def _take(self, chunk: bytes) -> None:
        now = anyio.current_time()
        for frame in chunk.split(b"\n\n")[:-1]:
            head, body = frame.split(b"\ndata: ")
            self.cursor = int(head.removeprefix(b"id: "))
            self.numbers.append(self.cursor)
            self.at[self.cursor] = now
            self.events.append(orjson.loads(body))
        self._news.set()
        self._news = anyio.Event()


@dataclass
class Stage:
    """`here` writes, `there` follows; with one node both are the same."""

    here: Node
    there: Node
    group: TaskGroup
    run_id: str = ""

    async def claim(self, node: Node | None = None) -> RunWriter:
        """The next attempt begins to write, on `here` unless another node is given."""
        node = node or self.here

        def take(tx: Tx) -> tuple[Any, int]:
            tx.execute(sa.update(runs).where(runs.c.id != self.run_id).values(leg="ended"))
            tx.execute(sa.update(runs).where(runs.c.id == self.run_id).values(leg="ready"))
            return claims.claim_ready(tx, "nod_test", timedelta(60), 1)[0]

        run, first = await node.db.write(take)
        args = (run.id, run.attempt, run.seq_saved, first, run.seq_reserved)
        writer = RunWriter(node.db, node.hub, SystemClock(), *args)
        writer.open()
        node.flusher.add(writer)
        await record(writer, ("run.started", RunStarted(run_id=run.id, attempt=run.attempt)))
        return writer

    def follow(self, node: Node | None = None, cursor: int = 0) -> Follower:
        follower = Follower(node or self.there, self.run_id, cursor)
        self.group.start_soon(follower.run)
        return follower

    async def end(self, writer: RunWriter, node: Node | None = None) -> int:
        """The run ends; the number of its last event."""

        def change(tx: Tx) -> None:
            tx.execute(sa.update(runs).where(runs.c.id == self.run_id).values(leg="ended"))

        await writer.record([("stream.ended", RunReference(run_id=self.run_id))], change, True)
        (node or self.here).flusher.remove(writer)
        writer.close()
        return writer._seq - 1

    async def saved(self) -> list[int]:
        return [seq for seq, _ in await self.here.db.read(read_all, self.run_id)]


async def record(writer: RunWriter, *facts: NamedEvent) -> None:
    await writer.record(facts, lambda _: None)


@asynccontextmanager
async def opened_node(url: str, folder: Path, redis_url: str = "") -> AsyncIterator[Node]:
    """A node with everything that runs beside it for live text."""
    db = open_database(url, folder, SystemClock())
    hub = Hub()
    db.on_notice(hub.ring)
    hub.live = await open_live(SecretUrl(redis_url), db, SystemClock())
    flusher = Flusher(SAVE_S, hub.live)
    try:
        async with anyio.create_task_group() as group:
            listening = anyio.Event()
            db.on_notice(lambda name: listening.set() if name == "*" else None)
            for run in (db.background, hub.live.run, flusher.run):
                group.start_soon(run)
            if db.dialect == "postgresql":
                with anyio.fail_after(10):
                    await listening.wait()
            yield Node(db, hub, flusher)
            group.cancel_scope.cancel()
    finally:
        await hub.live.aclose()
        await db.aclose()


@asynccontextmanager
async def opened_stage(url: str, folder: Path, redis_url: str = "") -> AsyncIterator[Stage]:
    """Both nodes, and a run that is ready to be claimed."""

    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(opened_node(url, folder, redis_url))
        one = here.db.dialect == "sqlite"
        there = here if one else await stack.enter_async_context(opened_node(url, folder, redis_url))
        group = await stack.enter_async_context(anyio.create_task_group())
        stage = Stage(here, there, group, await here.db.write(new_run))
        yield stage
        group.cancel_scope.cancel()


def new_run(tx: Tx) -> str:
    """A run in a thread of its own, ready to be claimed."""
    ada = make_user(tx)
    return make_run(tx, make_thread(tx, make_project(tx, ada), ada), ada, status="queued", leg="ready")
