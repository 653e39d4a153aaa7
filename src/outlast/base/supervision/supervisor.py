"""Runs the server's services and restarts those that fail."""

import logging
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from outlast.base.clock import Clock
from outlast.base.records import dataclass
from outlast.base.supervision.causes import cause_of, described, is_bug
from outlast.base.supervision.item_guard import ItemGuard, Shelf
from outlast.base.supervision.rules import STEADY_S, failures_in_a_row, restart_delay_s

Run = Callable[..., Coroutine[Any, Any, None]]
log: Final = logging.getLogger("outlast.supervision")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of one service. `down_s`: seconds since it failed, 0 while it is up; `restarts`: since the server's
    start; `code` and `reason` of its last failure, empty while it is up."""

    name: str
    is_vital: bool
    down_s: float
    restarts: int
    code: str
    reason: str


@dataclass(slots=True)
class _Service:
    """Times are monotonic. `down_at`: when it failed; `up_at`: when it started again, or None if it has not."""

    is_vital: bool
    down_at: float | None = None
    up_at: float | None = None
    failures: int = 0
    restarts: int = 0
    code: str = ""
    reason: str = ""

    def is_down(self, now: float) -> bool:
        return self.down_at is not None and (self.up_at is None or now - self.up_at < STEADY_S)


class Supervisor:
    """Keeps services running. In memory: the state of each.

    A service is a coroutine function that runs until it is cancelled; one that returns has done its work, one that
    raises is restarted. It must be able to run again after it failed. `guard` is for the items of services. `share`
    gives random numbers from 0 to 1.
    """

    def __init__(self, clock: Clock, shelf: Shelf | None = None, share: Callable[[], float] = random.random) -> None:
        """`shelf` stores the items that are set aside; without it they are lost when the server stops."""
        self._clock, self._share = clock, share
        self.guard = ItemGuard(clock, shelf, share)
        self._services: dict[str, _Service] = {}

    async def keep(
        self,
        name: str,
        run: Run,
        *args: Any,
        vital: bool = False,
        ready: bool = False,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run a service until it returns; restart it, after at most 60 s, whenever it raises. Raises nothing but
        cancellation. `vital`: the server is not ready while it is down. `ready`: it reports when it has started, by
        `task_status`. Reports itself as started once the service has started, or has failed for the first time."""
        service = self._services[name] = _Service(vital)
        while True:
            service.up_at = began = self._clock.monotonic()
            try:
                if ready:
                    async with anyio.create_task_group() as tasks:
                        await tasks.start(run, *args)
                        task_status.started()
                else:
                    task_status.started()
                    await run(*args)
                self._services.pop(name, None)
                return
            except Exception as error:
                self._note_failure(name, service, began, error)
            task_status = _once(task_status)
            await self._clock.sleep(restart_delay_s(service.failures, self._share()))
            service.restarts += 1

    async def start(self, tasks: TaskGroup, name: str, run: Run, *args: Any, vital: bool = False) -> None:
        """Keep a service in `tasks`, and wait until it reports that it has started, or has failed for the first
        time."""
        await tasks.start(partial(self.keep, name, run, *args, vital=vital, ready=True))

    def report(self, name: str, error: Exception | None = None, *, vital: bool = False) -> None:
        """Record the state of a part that does not run here, such as the database's writer thread."""
        service = self._services.setdefault(name, _Service(vital))
        now = self._clock.monotonic()
        if error is None:
            service.up_at = now if service.up_at is None else service.up_at
            if service.down_at is not None and not service.is_down(now):
                service.down_at, service.code, service.reason = None, "", ""
            return
        if service.down_at is None or not service.is_down(now):
            service.down_at = now
        service.up_at = None
        service.code, service.reason = described(cause_of(error))

    def states(self) -> list[ServiceState]:
        """Every service, by name."""
        now = self._clock.monotonic()
        return [self._state(name, service, now) for name, service in sorted(self._services.items())]

    def down_longer_than(self, seconds: float) -> list[ServiceState]:
        """The vital services that have been down for longer than this."""
        return [one for one in self.states() if one.is_vital and one.down_s > seconds]

    def _note_failure(self, name: str, service: _Service, began: float, error: Exception) -> None:
        now, cause = self._clock.monotonic(), cause_of(error)
        service.failures = failures_in_a_row(service.failures, now - began)
        if service.failures == 1:
            service.down_at = now
        service.up_at = None
        service.code, service.reason = described(cause)
        facts = {"service": name, "code": service.code, "reason": service.reason, "failures": service.failures}
        log.error("a service failed and is restarted", extra=facts, exc_info=error if is_bug(cause) else None)

    def _state(self, name: str, service: _Service, now: float) -> ServiceState:
        if not service.is_down(now) or service.down_at is None:
            return ServiceState(name, service.is_vital, 0.0, service.restarts, "", "")
        down_s = now - service.down_at
        return ServiceState(name, service.is_vital, down_s, service.restarts, service.code, service.reason)


def _once(task_status: TaskStatus[None]) -> TaskStatus[None]:
    """Reports the first start to the waiting caller; later starts are not reported."""
    if task_status is not anyio.TASK_STATUS_IGNORED:
        with suppress(RuntimeError):  # already reported
            task_status.started()
    return anyio.TASK_STATUS_IGNORED
