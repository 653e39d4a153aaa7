"""Services run for ever, whatever they raise."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import anyio
import pytest
from anyio.abc import TaskStatus

from outlast.base.errors import OutlastError, SandboxLost
from outlast.base.supervision.supervisor import Supervisor
from outlast.testing.clock import ManualClock

FAULTS: Sequence[Exception] = (
    OutlastError("no"),
    SandboxLost("gone"),
    OSError(errno.EIO, "I/O error"),
    TimeoutError(),
    RecursionError("maximum recursion depth exceeded"),
    ExceptionGroup("unhandled errors in a TaskGroup", [SandboxLost("gone"), ExceptionGroup("x", [KeyError("y")])]),
)


class Service:
    """Raises what is put into `faults`, then runs."""

    def __init__(self, *faults: Exception) -> None:
        self.faults, self.lives, self.runs = list(faults), 0, anyio.Event()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        self.lives += 1
        if self.faults:
            raise self.faults.pop(0)
        task_status.started()
        self.runs.set()
        await anyio.sleep_forever()


def supervised() -> tuple[ManualClock, Supervisor]:
    clock = ManualClock()
    return clock, Supervisor(clock, share=lambda: 0.5)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_a_service_is_restarted_and_its_neighbour_goes_on(fault: Exception) -> None:
    clock, supervisor = supervised()
    broken, neighbour = Service(fault, fault, fault), Service()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(supervisor.keep, "broken", broken.run)
        tasks.start_soon(supervisor.keep, "neighbour", neighbour.run)
        for pause_s in (1, 2, 5):
            await anyio.wait_all_tasks_blocked()
            clock.advance(pause_s)
        await broken.runs.wait()
        assert (broken.lives, neighbour.lives) == (4, 1)
        tasks.cancel_scope.cancel()


async def test_cancellation_ends_a_service_for_good() -> None:
    clock, supervisor = supervised()
    service = Service()
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(supervisor.keep, "one", service.run)
            await service.runs.wait()
            scope.cancel()
    assert service.lives == 1
    assert clock.next_wake_s() is None


async def test_what_is_no_exception_of_the_program_passes_through() -> None:
    _, supervisor = supervised()

    async def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await supervisor.keep("one", interrupted)


async def test_a_service_that_returns_is_done() -> None:
    _, supervisor = supervised()

    async def run() -> None:
        return

    await supervisor.keep("one", run)
    assert supervisor.states() == []


async def test_starting_waits_until_the_service_is_ready() -> None:
    _, supervisor = supervised()
    service = Service()
    async with anyio.create_task_group() as tasks:
        await supervisor.start(tasks, "one", service.run)
        assert service.runs.is_set()
        tasks.cancel_scope.cancel()


async def test_a_service_that_cannot_start_holds_up_nobody_and_starts_later() -> None:
    clock, supervisor = supervised()
    service = Service(OSError(errno.EMFILE, "Too many open files"))
    async with anyio.create_task_group() as tasks:
        await supervisor.start(tasks, "one", service.run)
        assert not service.runs.is_set()
        assert supervisor.states()[0].reason == "OSError: Too many open files"
        await anyio.wait_all_tasks_blocked()
        clock.advance(1)
        await service.runs.wait()
        tasks.cancel_scope.cancel()


async def test_a_vital_service_is_down_until_it_has_run_steadily_again() -> None:
    clock, supervisor = supervised()
    service = Service(*[SandboxLost("gone")] * 4)
    other = Service(*[SandboxLost("gone")] * 99)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(supervisor.keep, "other", other.run)
        await supervisor.start(tasks, "worker", service.run, vital=True)
        for pause_s in (1, 2, 5):
            assert supervisor.down_longer_than(10) == []
            await anyio.wait_all_tasks_blocked()
            clock.advance(pause_s)
            await anyio.wait_all_tasks_blocked()
        clock.advance(3)
        assert [one.name for one in supervisor.down_longer_than(10)] == ["worker"]
        clock.advance(7)
        await service.runs.wait()
        assert [one.name for one in supervisor.down_longer_than(10)] == ["worker"], "it may fail again at once"
        clock.advance(5)
        assert supervisor.down_longer_than(10) == []
        assert supervisor.states()[-1].restarts == 4
        tasks.cancel_scope.cancel()


def test_what_is_reported_from_outside_counts_too() -> None:
    clock, supervisor = supervised()
    supervisor.report("database", vital=True)
    clock.advance(60)
    supervisor.report("database", OSError(errno.EIO, "I/O error"), vital=True)
    clock.advance(11)
    supervisor.report("database", OSError(errno.EIO, "I/O error"), vital=True)
    assert [(one.name, one.down_s, one.reason) for one in supervisor.down_longer_than(10)] == [
        ("database", 11, "OSError: I/O error")
    ]
    supervisor.report("database", vital=True)
    clock.advance(5)
    supervisor.report("database", vital=True)
    assert supervisor.down_longer_than(10) == []
    assert supervisor.states()[0].down_s == 0
