"""Whatever a function asks for, in whatever order, and wherever it is interrupted: it reads the same each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import anyio
import orjson
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.agent_errors import StepFailed
from outlast.base.errors import StorageUnavailable
from outlast.kernel.runs.journal import Parked, RunJournal, Write
from outlast.kernel.runs.rows import FunctionStepRow
from outlast.kernel.runs.transcript import Effect

START = datetime(2026, 1, 1, tzinfo=UTC)
Tree = tuple[Any, ...]
LEAVES = st.one_of(
    st.tuples(st.just("step"), st.integers(0, 3)),  # with so many turns of the event loop within it
    st.tuples(st.just("fail")),
    st.tuples(st.just("write"), st.integers(0, 2)),  # too late so many times
    st.tuples(st.just("sleep")),
    st.tuples(st.just("random")),
    st.tuples(st.just("now")),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(st.just("gather"), st.lists(st.lists(inner, min_size=1, max_size=3), max_size=3)),
    max_leaves=12,
)


class House:
    """The part of a run that a journal needs, over rows in memory. The records of `cuts` are lost, or are the last that
    are written, and so is everything after them until the function is called again."""

    def __init__(self, cuts: dict[int, str]) -> None:
        self.rows: dict[str, FunctionStepRow] = {}
        self.cuts, self.count, self.is_cut, self.time = cuts, 0, False, START
        clock, threads = SimpleNamespace(now=self.tick), anyio.CapacityLimiter(4)
        self.engine: Any = SimpleNamespace(clock=clock, log=lambda *_a, **_k: None, threads=threads)
        self.run = SimpleNamespace(id="run_1", attempt=1)
        self.conn = SimpleNamespace(dialect=SimpleNamespace(name="sqlite"))

    def tick(self) -> datetime:
        self.time += timedelta(milliseconds=1)
        return self.time

    @property
    def now(self) -> datetime:
        return self.tick()

    def is_stopping(self) -> bool:
        return False

    async def record(self, change: Callable[[Any, list[Any]], FunctionStepRow | None]) -> FunctionStepRow | None:
        await anyio.lowlevel.checkpoint()
        self.count += 1
        cut = self.cuts.get(self.count)
        if self.is_cut or cut == "before":
            self.is_cut = True
            raise StorageUnavailable("The process has ended.")
        row = change(self, [])
        if row is not None:
            self.rows[row.id] = row
        if cut == "after":
            self.is_cut = True
            raise StorageUnavailable("The process has ended.")
        return row

    def insert(self, _table: Any, **_row: Any) -> None: ...
    def execute(self, _statement: Any, _parameters: Any) -> None: ...
    def ring(self, _bell: str) -> None: ...


class Played:
    """A function that follows a tree: what it read at each place, at each call, and how often each step was done and
    each change was made."""

    def __init__(
        self, journal: RunJournal, seen: dict[str, set[str]], done: Counter[str], written: Counter[str]
    ) -> None:
        self.journal, self.seen, self.done, self.written = journal, seen, done, written

    async def play(self, trees: list[Tree], place: str = "") -> list[Any]:
        values = []
        for number, tree in enumerate(trees):
            here = f"{place}.{number}"
            values.append(await self._one(tree, here))
            self.seen.setdefault(here, set()).add(repr(values[-1]))
        return values

    async def _one(self, tree: Tree, here: str) -> Any:
        match tree:
            case ("step", turns):
                return await self.journal.step(here, self._work, here, turns)
            case ("fail",):
                try:
                    await self.journal.step(here, self._fail, here)
                except StepFailed as error:
                    return error.message
            case ("write", late):
                return await self.journal.write("state", here, self._prepare(here, late))
            case ("sleep",):
                await self.journal.sleep_until(START + timedelta(days=1))
            case ("random",):
                return self.journal.random().random()
            case ("now",):
                return self.journal.now()
            case ("gather", branches):
                return await self.journal.gather(
                    *(self.play(branch, f"{here}.{index}") for index, branch in enumerate(branches))
                )
        return None

    async def _work(self, here: str, turns: int) -> str:
        self.done[here] += 1
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        return f"value of {here}"

    def _prepare(self, here: str, late: int) -> Callable[[], Awaitable[Write]]:
        tries = 0

        async def prepare() -> Write:
            nonlocal tries
            tries += 1
            is_late = tries <= late
            return Write(orjson.dumps(f"value of {here}"), lambda _tx: not is_late and self._change(here))

        return prepare

    def _change(self, here: str) -> bool:
        self.written[here] += 1
        return True

    async def _fail(self, here: str) -> None:
        self.done[here] += 1
        raise ValueError(here)


@given(
    trees=st.lists(TREES, min_size=1, max_size=4),
    cuts=st.dictionaries(st.integers(1, 12), st.sampled_from(["before", "after"]), max_size=4),
    chooses=st.randoms(use_true_random=False),
)
def test_a_function_reads_the_same_at_each_call_and_does_no_step_twice_without_a_crash(
    trees: list[Tree], cuts: dict[int, str], chooses: Any
) -> None:
    seen, done, written, calls = anyio.run(_play_to_the_end, trees, cuts, chooses)
    assert all(len(values) == 1 for values in seen.values()), seen
    assert set(written.values()) <= {1}, "a change is made in the transaction that records it"
    crashes = calls["crash"]
    assert all(1 <= times <= 1 + crashes for times in done.values())
    if not crashes:
        assert set(done.values()) <= {1}


async def _play_to_the_end(
    trees: list[Tree], cuts: dict[int, str], chooses: Any
) -> tuple[dict[str, set[str]], Counter[str], Counter[str], Counter[str]]:
    house, seen = House(cuts), dict[str, set[str]]()
    done, written, calls = Counter[str](), Counter[str](), Counter[str]()
    effect: Any = Effect("eff_1", 1, 1, "flow", "started", 1)._replace(started_at=START)
    while True:
        house.is_cut = False
        journal = RunJournal(house, effect, list(house.rows.values()))  # type: ignore[arg-type]
        played = Played(journal, seen, done, written)
        try:
            await journal.call(lambda played=played: played.play(trees))  # type: ignore[misc]
        except StorageUnavailable:
            calls["crash"] += 1
        except Parked:
            waiting = [row for row in house.rows.values() if row.status == "waiting"]
            assert waiting, "it waits for nothing"
            for row in chooses.sample(waiting, chooses.randint(1, len(waiting))):
                house.rows[row.id] = row._replace(status="finished", result="null", ended_at=house.tick())
        else:
            return seen, done, written, calls
