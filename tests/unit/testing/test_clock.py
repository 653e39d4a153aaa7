"""The manual clock: still until moved, and fair to those who sleep on it."""

import anyio

from outlast.testing.clock import START, ManualClock


def test_time_stands_still_until_it_is_moved() -> None:
    clock = ManualClock()
    assert (clock.now(), clock.monotonic()) == (START, 1_000)
    clock.advance(90)
    assert (clock.now() - START).total_seconds() == 90
    assert clock.monotonic() == 1_090


async def test_sleepers_wake_when_their_time_has_come_and_not_before() -> None:
    clock = ManualClock()
    woken: list[str] = []

    async def nap(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(nap, "long", 60)
        group.start_soon(nap, "short", 30)
        await clock.wait_sleepers(2)
        assert clock.next_wake_s() == 30
        clock.advance(29)
        await anyio.wait_all_tasks_blocked()
        assert woken == []
        clock.advance(31)
    assert woken == ["short", "long"]
    assert clock.next_wake_s() is None


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    clock = ManualClock()
    async with anyio.create_task_group() as group:
        group.start_soon(clock.sleep, 60)
        await clock.wait_sleepers()
        group.cancel_scope.cancel()
    assert clock.next_wake_s() is None


async def test_no_time_at_all_only_lets_others_run() -> None:
    await ManualClock().sleep(0)
