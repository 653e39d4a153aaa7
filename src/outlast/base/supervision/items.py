"""Guards what a service looks after, item by item: one that fails is tried again, and at last set aside."""

import logging
import random
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

import anyio

from outlast.base.clock import Clock
from outlast.base.supervision.causes import cause_of, described, is_bug, is_of_storage
from outlast.base.supervision.rules import is_exhausted, retry_delay_s

Key = tuple[str, str]
Work = Callable[..., Awaitable[object]]
MAX_REMEMBERED: Final = 10_000
log: Final = logging.getLogger("outlast.supervision")


class SetAside(NamedTuple):
    """An item that is not tried any more: what it is (`kind` and `id` name it), since when, how often it was tried
    again after its first failure, and the last one's code and reason, which hold no secret."""

    kind: str
    id: str
    since: datetime
    tries: int
    code: str
    reason: str


class Shelf(Protocol):
    """Where the items that are set aside are remembered, beyond the server's life."""

    async def held(self) -> Collection[Key]:
        """What is set aside now. Does not raise; while the storage is in trouble it is what was known last."""

    async def put(self, item: SetAside) -> None:
        """Set one aside. Does not raise; while the storage is in trouble it is kept in memory."""

    async def changed(self) -> None:
        """Return once the items that are set aside may have changed."""


class _NoShelf:
    """Forgets with the server."""

    def __init__(self) -> None:
        self._held: set[Key] = set()

    async def held(self) -> Collection[Key]:
        return self._held

    async def put(self, item: SetAside) -> None:
        self._held.add((item.kind, item.id))

    async def changed(self) -> None:
        await anyio.sleep_forever()


@dataclass(slots=True)
class _Failures:
    """How many in a row, and when the item may be tried again (monotonic)."""

    count: int
    next_at: float


class ItemGuard:
    """In memory: the recent failures of items. `share` gives random numbers from 0 to 1.

    A failure of the storage is no failure of the item: it is tried again later, and not set aside for that.
    """

    def __init__(self, clock: Clock, shelf: Shelf | None = None, share: Callable[[], float] = random.random) -> None:
        self._clock, self._share = clock, share
        self._shelf: Shelf = shelf or _NoShelf()
        self._failures: dict[Key, _Failures] = {}

    async def attempt(self, kind: str, item_id: str, work: Work, *args: Any) -> bool:
        """Do `work` once, for a loop that comes by again: whether it was done. Not done while the item is set aside, or
        too soon after it failed. Raises nothing but cancellation."""
        if self.wait_s(kind, item_id):
            return False
        return await self.attempt_now(kind, item_id, work, *args)

    async def attempt_now(self, kind: str, item_id: str, work: Work, *args: Any) -> bool:
        """As `attempt`, also shortly after a failure, where the caller keeps the pauses."""
        return not await self.is_set_aside(kind, item_id) and await self._try((kind, item_id), work, args)

    async def keep(self, kind: str, item_id: str, work: Work, *args: Any) -> None:
        """Do `work` until it returns, again and again when it raises; not at all where the item is set aside. One that
        is set aside meanwhile continues once it is taken back. For its own task. Raises nothing but cancellation."""
        if await self.is_set_aside(kind, item_id):
            return
        while True:
            await self._clock.sleep(self.wait_s(kind, item_id))
            if await self._try((kind, item_id), work, args):
                return
            while await self.is_set_aside(kind, item_id):
                await self._shelf.changed()

    async def once(self, kind: str, item_id: str, work: Work, *args: Any) -> bool:
        """Do `work` once, whatever happened before: whether it was done. A failure is only logged, as the caller
        or another loop tries again. Raises nothing but cancellation."""
        try:
            await work(*args)
        except Exception as error:
            _log_failure(kind, item_id, error)
            return False
        return True

    async def is_set_aside(self, kind: str, item_id: str) -> bool:
        return (kind, item_id) in await self._shelf.held()

    async def set_aside_ids(self, kind: str) -> list[str]:
        """The ids of the items of this kind that are set aside."""
        return [item_id for held, item_id in await self._shelf.held() if held == kind]

    def wait_s(self, kind: str, item_id: str) -> float:
        """Seconds until the item may be tried again; 0: now."""
        failures = self._failures.get((kind, item_id))
        return 0.0 if failures is None else max(0.0, failures.next_at - self._clock.monotonic())

    def forget(self, kind: str, item_id: str) -> None:
        """Its failures so far do not count any more."""
        self._failures.pop((kind, item_id), None)

    async def _try(self, key: Key, work: Work, args: tuple[Any, ...]) -> bool:
        try:
            await work(*args)
        except Exception as error:
            await self._note_failure(key, error)
            return False
        self._failures.pop(key, None)
        return True

    async def _note_failure(self, key: Key, error: Exception) -> None:
        before = self._failures.pop(key, None)
        count = (before.count if before is not None else 0) + (not is_of_storage(error))
        _log_failure(*key, error)
        if is_exhausted(count):
            code, reason = described(cause_of(error))
            await self._shelf.put(SetAside(*key, self._clock.now(), count - 1, code, reason))
            return
        if len(self._failures) >= MAX_REMEMBERED:
            del self._failures[next(iter(self._failures))]
        delay_s = retry_delay_s(max(count, 1), self._share())
        self._failures[key] = _Failures(count, self._clock.monotonic() + delay_s)


def _log_failure(kind: str, item_id: str, error: Exception) -> None:
    cause = cause_of(error)
    code, reason = described(cause)
    facts = {"kind": kind, "id": item_id, "code": code, "reason": reason}
    log.warning("an item failed", extra=facts, exc_info=error if is_bug(cause) else None)
