"""A follower with any interruptions sees each event once, in order, and ends with the same state as the whole log."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any, cast

import anyio
import orjson
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.base.clock import SystemClock
from outlast.db.database import Database, Tx
from outlast.kernel.runs import claims
from outlast.kernel.runs.shapes import PartCarrier, RunCompleted, RunReference, RunStarted, StepReset
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams import channel, follow, writer
from outlast.kernel.streams.fold import RunFold, apply, fold_lines
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.log_store import NamedEvent, read_all
from outlast.kernel.streams.writer import RunWriter
from outlast.kernel.threads.parts import NoticePart, TextPart
from tests.factories import make_project, make_run, make_thread, make_user

TEXT = TextPart(id="prt_1", step=1)
OPS = st.one_of(
    st.tuples(st.just("stream"), st.integers(1, 12)),
    st.tuples(st.just("record"), st.integers(0, 3)),
    st.tuples(st.just("flush"), st.just(0)),
    # The attempt ends here; 1: and the process with it.
    st.tuples(st.just("break"), st.sampled_from([0, 0, 1])),
    # A follower reads at most so many frames, then is cut off.
    st.tuples(st.just("read"), st.integers(1, 9)),
    st.tuples(st.just("read"), st.integers(1, 60)),
)


@dataclass
class Follower:
    """Somebody who is cut off and comes back from their cursor."""

    cursor: int = 0
    numbers: list[int] = field(default_factory=list)
    state: RunFold = field(default_factory=RunFold)

    async def read(self, it: Stand, most: int | None, target: int | None) -> None:
        """Follow until `most` frames have come, or the cursor is at `target`, or the stream ends."""
        if target is not None and self.cursor >= target:
            return
        chunks = cast("AsyncGenerator[bytes, None]", follow.follow_run(it.db, it.hub, it.run_id, self.cursor))
        async with aclosing(chunks):
            async for chunk in chunks:
                for frame in chunk.split(b"\n\n")[:-1]:
                    head, body = frame.split(b"\ndata: ")
                    event = orjson.loads(body)
                    self.cursor = int(head.removeprefix(b"id: "))
                    assert self.cursor == event["sequenceNumber"]
                    self.numbers.append(self.cursor)
                    apply(self.state, event)
                    if most is not None and (most := most - 1) <= 0:
                        return
                if target is not None and self.cursor >= target:
                    return


@dataclass
class Stand:
    """One run with its writer, as a worker would have them."""

    db: Database
    run_id: str
    hub: Hub = field(default_factory=Hub)
    writer: RunWriter | None = None

    async def claim(self) -> None:
        """A new attempt takes the run up and takes back what was not saved."""

        def take(tx: Tx) -> tuple[Any, int]:
            tx.execute(sa.update(runs).where(runs.c.id == self.run_id).values(leg="ready"))
            return claims.claim_ready(tx, "nod_test", timedelta(60), 1)[0]

        run, first = await self.db.write(take)
        saved = fold_lines(await self.db.read(read_all, self.run_id))
        args = (run.id, run.attempt, run.seq_saved, first, run.seq_reserved)
        self.writer = RunWriter(self.db, self.hub, SystemClock(), *args)
        self.writer.open()
        parts = [part for part in saved.parts if part["step"] == 1] or [TEXT.model_dump()]
        data = {"run_id": run.id, "step": 1, "attempt": run.attempt, "parts": parts}
        started = RunStarted(run_id=run.id, attempt=run.attempt)
        await self.record([("run.started", started), ("step.reset", StepReset.model_validate(data))])

    async def record(self, facts: list[NamedEvent], last: bool = False) -> None:
        def change(tx: Tx) -> None:
            if last:
                tx.execute(sa.update(runs).where(runs.c.id == self.run_id).values(leg="ended"))

        assert self.writer is not None
        await self.writer.record(facts, change, last)

    async def do(self, op: str, count: int) -> None:
        assert self.writer is not None
        if op == "stream":
            self.writer.stream([("text.delta", "prt_1", f"{n} ") for n in range(count)])
        elif op == "record":
            made = PartCarrier(part=NoticePart(id=f"prt_n{count}", step=1, code="x", text="Note"))
            await self.record([("part.created", made)] * count)
        elif op == "flush":
            await self.writer.flush()
        elif op == "break":
            self.writer.close()
            self.hub = Hub() if count else self.hub
            await self.claim()

    def head(self) -> int:
        with self.hub.listen(self.run_id) as channel:
            return channel.head

    async def end(self) -> None:
        usage = RunCompleted(run_id=self.run_id, message_id=None, stop_reason="end")
        ending: list[NamedEvent] = [("run.completed", usage), ("stream.ended", RunReference(run_id=self.run_id))]
        await self.record(ending, last=True)
        assert self.writer is not None
        self.writer.close()


@pytest.fixture
async def thread_id(db: Database) -> str:
    def make(tx: Tx) -> str:
        owner = make_user(tx)
        return make_thread(tx, make_project(tx, owner), owner)

    return await db.write(make)


async def make_stand(db: Database, thread_id: str) -> Stand:
    def make(tx: Tx) -> str:
        owner = tx.execute(sa.select(sa.text("id")).select_from(sa.text("users"))).scalar_one()
        return make_run(tx, thread_id, type("Who", (), {"user_id": owner})(), leg="ready", status="queued")

    stand = Stand(db, await db.write(make))
    await stand.claim()
    return stand


@pytest.mark.parametrize("folds", [False, True], ids=["as_written", "folded_when_far_behind"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(ops=st.lists(OPS, min_size=12, max_size=40), tail=st.sampled_from([4, 20_000]), late=st.integers(0, 20))
async def test_each_event_once_in_order_with_any_interruptions(
    db: Database, thread_id: str, folds: bool, ops: list[tuple[str, int]], tail: int, late: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follow, "FOLD_BEYOND", 6 if folds else 1 << 60)
        patch.setattr(channel, "TAIL_LINES", tail)
        patch.setattr(writer, "RESERVE", 40)
        patch.setattr(claims, "RESERVE", 40)
        patch.setattr(writer, "LOW_WATER", 15)
        it = await make_stand(db, thread_id)
        followers = [Follower(), Follower()]
        for at, (op, count) in enumerate(ops):
            if op == "read":
                await followers[count % len(followers)].read(it, count, it.head())
            else:
                await it.do(op, count)
            if at == late:
                followers.append(Follower())
        await it.end()
        for follower in followers:
            await follower.read(it, None, None)
    saved = await db.read(read_all, it.run_id)
    kept = [seq for seq, _ in saved]
    for follower in followers:
        assert follower.numbers == sorted(set(follower.numbers))
        assert follower.numbers[-1] == kept[-1]
        assert asdict(follower.state) == asdict(fold_lines(saved))
        if not folds:  # every saved event; besides them only deltas that were taken back
            assert set(kept) <= set(follower.numbers)


@pytest.mark.parametrize("then", ["parked", "ended"])
async def test_what_is_written_between_the_first_page_and_the_following_is_shown(
    db: Database, thread_id: str, then: str
) -> None:
    """A run that parked in that moment looked as if it worked for ever: its question never came."""
    it = await make_stand(db, thread_id)

    def first(tx: Tx) -> follow.Page | None:
        run = tx.find(follow.RunLog, runs, {"id": it.run_id})
        assert run is not None
        return follow.first_page(tx, run, 0)

    page = await db.read(first)
    assert page is not None
    if then == "ended":
        await it.end()
    else:
        await it.do("record", 1)
        assert it.writer is not None
        it.writer.close()
    [*_, (last, _)] = await db.read(read_all, it.run_id)
    seen = 0
    frames = cast("AsyncGenerator[bytes, None]", follow.follow_run(db, it.hub, it.run_id, 0, None, page))
    with anyio.fail_after(10):
        async with aclosing(frames):
            while seen < last:
                chunk = await anext(frames)
                seen = int(chunk.split(b"\n\n")[-2].split(b"\n")[0].removeprefix(b"id: "))
    assert seen == last


@pytest.mark.parametrize("pushed", [False, True], ids=["woken", "pushed"])
async def test_a_follower_beside_a_writer_that_lost_its_run_goes_on_with_the_newer_attempt_and_never_back(
    db: Database, thread_id: str, pushed: bool
) -> None:
    """The writer hung in a lost connection: its followers waited for ever beside it, while another node went on."""
    here = await make_stand(db, thread_id)
    await here.do("stream", 5)
    numbers: list[int] = []

    def take(chunk: bytes) -> bool:
        numbers.extend(int(frame.split(b"\n")[0].removeprefix(b"id: ")) for frame in chunk.split(b"\n\n")[:-1])
        return True

    async def read() -> None:
        async for chunk in follow.follow_run(db, here.hub, here.run_id, 0, take if pushed else None):
            take(chunk)

    async def until_seen(number: int) -> None:
        while not numbers or numbers[-1] < number:  # noqa: ASYNC110 - frames are read, not waited for
            await anyio.sleep(0.005)

    there = Stand(db, here.run_id)  # another node: no bell of it rings here
    with anyio.fail_after(30), here.hub.listen(here.run_id) as channel:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await until_seen(channel.head)
            channel.look_again()
            await there.claim()
            await there.do("record", 2)
            channel.look_again()  # still since the last look
            await until_seen((await db.read(read_all, here.run_id))[-1][0])
            await here.do("stream", 50)  # it has not noticed yet
            await there.do("stream", 3)
            await there.do("flush", 0)
            here.hub.ring(here.run_id)
            await until_seen((await db.read(read_all, here.run_id))[-1][0])
            await there.end()
            channel.look_again()
            channel.look_again()
    assert numbers == sorted(set(numbers))
    assert {seq for seq, _ in await db.read(read_all, here.run_id)} <= set(numbers)
