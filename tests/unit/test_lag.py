"""The watch that fails flow and crash tests whose event loop stands still."""

from __future__ import annotations

import gc
import textwrap
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

import outlast
from tests import lag
from tests.lag import Stall

PROGRAM = str(Path(outlast.__file__).with_name("example.py"))


def _written(text: str, **names: Any) -> Any:
    """A function as a module of the program would hold it, not this test."""
    found: dict[str, Any] = {"time": time, **names}
    exec(compile(textwrap.dedent(text), PROGRAM, "exec"), found)
    return found["work"]


BUSY: Callable[[float], None] = _written("""
    def work(seconds):
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass
""")
BUSY_ASYNC: Callable[[float], Awaitable[None]] = _written(
    """
    async def work(seconds):
        busy(seconds)
""",
    busy=BUSY,
)
COLLECT_ASYNC: Callable[[], Awaitable[None]] = _written("async def work(): gc.collect()", gc=gc)


async def _stalls_of(work: Callable[[], Awaitable[object]]) -> list[Stall]:
    found: list[Stall] = []
    with lag.noticed(found.append):
        await work()
    return found


async def test_a_callback_that_keeps_the_loop_busy_is_noticed_with_its_place() -> None:
    (stall,) = await _stalls_of(lambda: BUSY_ASYNC(0.4))
    assert stall.busy_s > lag.MAX_BUSY_S
    assert "example.py:3" in str(stall)


async def test_a_callback_that_blocks_without_working_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "MAX_BLOCKED_S", 0.1)
    sleeps = _written("async def work(): time.sleep(0.3)")
    (stall,) = await _stalls_of(sleeps)
    assert stall.busy_s < lag.MAX_BUSY_S


async def test_one_that_holds_the_interpreter_in_c_is_noticed() -> None:
    searches = _written("async def work(): return re.match(r'(a|aa)+$', 'a' * 35 + 'b')", re=__import__("re"))
    assert len(await _stalls_of(searches)) == 1


async def test_work_in_a_thread_and_waiting_are_not() -> None:
    assert await _stalls_of(lambda: anyio.to_thread.run_sync(BUSY, 0.5)) == []
    assert await _stalls_of(lambda: anyio.sleep(0.5)) == []


async def test_a_loop_that_waits_runs_no_callback_however_long_its_machine_stops() -> None:
    loop = threading.get_ident()
    assert await anyio.to_thread.run_sync(lag._callback_of, loop) == []


async def test_many_short_callbacks_are_not() -> None:
    async def short() -> None:
        for _ in range(20):
            await BUSY_ASYNC(0.03)
            await anyio.lowlevel.checkpoint()

    assert await _stalls_of(short) == []


async def test_what_a_test_does_itself_is_not() -> None:
    async def own() -> None:
        BUSY(0.5)

    assert await _stalls_of(own) == []


async def test_garbage_collections_are_not_while_they_run_or_later() -> None:
    def collects(phase: str, _info: dict[str, int]) -> None:
        BUSY(0.3 if phase == "stop" else 0.0)

    async def collect() -> None:
        gc.callbacks.insert(0, collects)  # before the watch hears of the end
        try:
            await COLLECT_ASYNC()
        finally:
            gc.callbacks.remove(collects)

    assert await _stalls_of(collect) == []
