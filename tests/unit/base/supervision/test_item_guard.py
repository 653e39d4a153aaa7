"""Items are tried again one by one, and set aside when they keep failing."""

from __future__ import annotations

import anyio
import pytest

from outlast.base.errors import SandboxLost, StorageUnavailable
from outlast.base.supervision.item_guard import ItemGuard, Key, SetAside
from outlast.testing.clock import ManualClock


class MemoryShelf:
    """Remembers what was set aside."""

    def __init__(self, *held: Key) -> None:
        self.keys, self.items = set(held), list[SetAside]()

    async def held(self) -> set[Key]:
        return self.keys

    async def put(self, item: SetAside) -> None:
        self.keys.add((item.kind, item.id))
        self.items.append(item)

    async def changed(self) -> None:
        self.news = anyio.Event()
        await self.news.wait()

    def take_back(self) -> None:
        self.keys.clear()
        self.news.set()


class Work:
    """Fails as often as it is told to."""

    def __init__(self, failures: int, error: Exception | None = None) -> None:
        self.failures, self.error, self.times = failures, error or SandboxLost("gone"), list[float]()

    async def do(self, clock: ManualClock) -> None:
        self.times.append(clock.monotonic() - 1_000)
        if len(self.times) <= self.failures:
            raise self.error


def guarded(shelf: MemoryShelf | None = None) -> tuple[ManualClock, ItemGuard]:
    clock = ManualClock()
    return clock, ItemGuard(clock, shelf, lambda: 0.5)


async def test_what_keeps_failing_is_set_aside_after_five_more_tries_and_others_go_on() -> None:
    shelf = MemoryShelf()
    clock, guard = guarded(shelf)
    bad, good = Work(99, ExceptionGroup("x", [SandboxLost("sbx_1 is gone")])), Work(0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(guard.keep, "sandbox_egress", "sbx_1", bad.do, clock)
        tasks.start_soon(guard.keep, "sandbox_egress", "sbx_2", good.do, clock)
        for pause_s in (1, 5, 30, 120, 600):
            await anyio.wait_all_tasks_blocked()
            clock.advance(pause_s)
        await anyio.wait_all_tasks_blocked()
        assert bad.times == [0, 1, 6, 36, 156, 756]
        assert good.times == [0]
        since, tries = clock.now(), 5
        assert shelf.items == [SetAside("sandbox_egress", "sbx_1", since, tries, "sandbox_lost", "sbx_1 is gone")]
        await guard.keep("sandbox_egress", "sbx_1", bad.do, clock)
        assert len(bad.times) == 6, "it is not tried any more"
        bad.failures = 0
        shelf.take_back()
    assert bad.times[6:] == [756], "what is taken back goes on at once"


async def test_work_that_is_done_at_last_counts_from_nothing_again() -> None:
    shelf = MemoryShelf()
    clock, guard = guarded(shelf)
    for _ in range(3):
        work = Work(4)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(guard.keep, "source", "src_1", work.do, clock)
            for pause_s in (1, 5, 30, 120):
                await anyio.wait_all_tasks_blocked()
                clock.advance(pause_s)
        assert len(work.times) == 5
    assert shelf.items == []


async def test_a_loop_does_not_try_an_item_before_its_pause_is_over() -> None:
    clock, guard = guarded()
    work = Work(1)
    assert not await guard.attempt("workspace_removal", "wsp_1", work.do, clock)
    assert guard.wait_s("workspace_removal", "wsp_1") == 1
    assert not await guard.attempt("workspace_removal", "wsp_1", work.do, clock)
    assert len(work.times) == 1
    clock.advance(1)
    assert await guard.attempt("workspace_removal", "wsp_1", work.do, clock)
    work.failures = 99
    assert not await guard.attempt("workspace_removal", "wsp_1", work.do, clock)
    assert guard.wait_s("workspace_removal", "wsp_1") == 1, "the earlier failure is forgotten"


async def test_what_an_earlier_server_set_aside_is_not_tried() -> None:
    clock, guard = guarded(MemoryShelf(("source", "src_1")))
    work = Work(0)
    assert not await guard.attempt("source", "src_1", work.do, clock)
    assert await guard.attempt("file", "src_1", work.do, clock), "another kind of work is another item"
    assert len(work.times) == 1


async def test_trouble_of_the_storage_sets_nothing_aside() -> None:
    shelf = MemoryShelf()
    clock, guard = guarded(shelf)
    work = Work(50, StorageUnavailable("the database is away"))
    for _ in range(50):
        await guard.attempt("source", "src_1", work.do, clock)
        clock.advance(1)
    assert len(work.times) == 50
    assert shelf.items == []


async def test_work_done_once_is_not_tried_again() -> None:
    clock, guard = guarded()
    work = Work(9)
    assert not await guard.once("thread", "thr_1", work.do, clock)
    assert guard.wait_s("thread", "thr_1") == 0
    assert len(work.times) == 1


async def test_cancellation_passes_through() -> None:
    _, guard = guarded()
    with anyio.move_on_after(0) as scope:
        await guard.attempt("source", "src_1", anyio.sleep_forever)
        pytest.fail("it went on")
    assert scope.cancelled_caught
    assert guard.wait_s("source", "src_1") == 0
