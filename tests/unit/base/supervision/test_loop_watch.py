"""Pings of the event loop: a blockage is logged, and a loop that does not answer any more counts as lost."""

from __future__ import annotations

import anyio
import pytest

from outlast.base.supervision.loop_watch import LOST_S, LoopWatch
from outlast.testing.clock import ManualClock

STEP_S = 0.5


def watched() -> tuple[ManualClock, LoopWatch]:
    clock = ManualClock()
    return clock, LoopWatch(clock.monotonic)


def blocked(clock: ManualClock, watch: LoopWatch, seconds: float) -> bool:
    """The loop stands still for this long, while it is pinged; the last answer of `ping`."""
    answers = watch.ping()
    for _ in range(int(seconds / STEP_S)):
        clock.advance(STEP_S)
        answers = watch.ping()
    return answers


async def test_a_loop_that_answers_is_pinged_again_and_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    clock, watch = watched()
    for _ in range(200):
        assert blocked(clock, watch, STEP_S)
        await anyio.lowlevel.checkpoint()
    assert caplog.records == []


async def test_a_blockage_of_more_than_a_second_is_logged_with_the_function_that_blocks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, watch = watched()
    assert blocked(clock, watch, 1.5)
    await anyio.lowlevel.checkpoint()
    (record,) = caplog.records
    assert record.getMessage() == "The event loop was blocked for 1.5 s"
    assert f"blocked ({__file__}:" in vars(record)["stack"]


async def test_at_most_one_blockage_a_minute_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    clock, watch = watched()
    for pause_s, logged in ((0, 1), (10, 1), (60, 2)):
        clock.advance(pause_s)
        blocked(clock, watch, 2)
        await anyio.lowlevel.checkpoint()
        assert len(caplog.records) == logged


async def test_a_loop_that_does_not_answer_is_lost_until_it_does_and_its_tasks_are_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, watch = watched()

    async def waits_for_ever(secret: str) -> None:
        await anyio.sleep_forever()
        print(secret)

    async def calls(secret: str) -> None:
        await waits_for_ever(secret)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(calls, "sk-secret")
        await anyio.wait_all_tasks_blocked()
        assert blocked(clock, watch, LOST_S - STEP_S)
        assert caplog.records == []
        for _ in range(4):
            clock.advance(STEP_S)
            assert not watch.ping()
        first, *others = caplog.records
        assert first.getMessage() == "The event loop has been blocked for 30 s"
        stacks = {vars(record)["stack"]: vars(record)["tasks"] for record in others}
        (waiting,) = [stack for stack in stacks if "waits_for_ever" in stack]
        assert stacks[waiting] == 3
        assert waiting.index("waits_for_ever") < waiting.index("calls")
        assert "sk-secret" not in caplog.text + str([vars(record) for record in caplog.records])
        await anyio.lowlevel.checkpoint()
        assert watch.ping()
        assert caplog.records[-1].getMessage() == "The event loop was blocked for 31.5 s"
        tasks.cancel_scope.cancel()


async def test_a_process_that_was_stopped_as_a_whole_is_not_taken_for_a_blocked_loop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, watch = watched()
    watch.ping()
    clock.advance(3600)  # the thread that looks stood still as well
    assert watch.ping()
    clock.advance(STEP_S)
    await anyio.lowlevel.checkpoint()
    assert [record.getMessage() for record in caplog.records] == ["The event loop was blocked for 1.5 s"]
