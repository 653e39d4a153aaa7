"""Guards the items of a service one by one: an item that fails is retried, and finally set aside."""

import logging
import random
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

import anyio

from outlast.base.clock import Clock
from outlast.base.records import dataclass
from outlast.base.supervision.causes import cause_of, described, is_bug, is_of_storage
from outlast.base.supervision.rules import is_exhausted, retry_delay_s

Key = tuple[str, str]
Work = Callable[..., Awaitable[object]]
MAX_REMEMBERED: Final = 10_000
log: Final = logging.getLogger("outlast.supervision")


class SetAside(NamedTuple):
    """An item that is no longer retried: its `kind` and `id`, the time since then, the number of retries after its
    first failure, and the code and reason of the last failure, which contain no secret."""

    kind: str
    id: str
    since: datetime
    tries: int
    code: str
    reason: str


class Shelf(Protocol):
    """Stores the items that are set aside, beyond the server's life."""

    async def held(self) -> Collection[Key]:
        """The items that are set aside now. Does not raise; while the storage fails, returns the last known ones."""

    async def put(self, item: SetAside) -> None:
        """Set an item aside. Does not raise; while the storage fails, the item is kept in memory."""

    async def changed(self) -> None:
        """Return once the items that are set aside may have changed."""


class _NoShelf:
    """Keeps nothing beyond the server's life."""

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
    """The number of failures in a row, and the time of the next retry (monotonic)."""

    count: int
    next_at: float


class ItemGuard:
    """In memory: the recent failures of items. `share` gives random numbers from 0 to 1.

    A failure of the storage is not a failure of the item: the item is retried later, and not set aside.
    """

    def __init__(self, clock: Clock, shelf: Shelf | None = None, share: Callable[[], float] = random.random) -> None:
        self._clock, self._share = clock, share
        self._shelf: Shelf = shelf or _NoShelf()
        self._failures: dict[Key, _Failures] = {}

    async def attempt(self, kind: str, item_id: str, work: Work, *args: Any) -> bool:
        """Do `work` once, for a loop that retries; returns True if it was done. Skips the item while it is set aside,
        or too soon after it failed. Raises nothing but cancellation."""
        if self.wait_s(kind, item_id):
            return False
        return await self.attempt_now(kind, item_id, work, *args)

    async def attempt_now(self, kind: str, item_id: str, work: Work, *args: Any) -> bool:
        """As `attempt`, also shortly after a failure, for a caller that keeps the pauses."""
        return not await self.is_set_aside(kind, item_id) and await self._try((kind, item_id), work, args)

    async def keep(self, kind: str, item_id: str, work: Work, *args: Any) -> None:
        """Do `work` until it returns, and retry it whenever it raises; returns at once if the item is set aside. An
        item that is set aside meanwhile continues once it is taken back. Run it in a task of its own. Raises nothing
        but cancellation."""
        if await self.is_set_aside(kind, item_id):
            return
        while True:
            await self._clock.sleep(self.wait_s(kind, item_id))
            if await self._try((kind, item_id), work, args):
                return
            while await self.is_set_aside(kind, item_id):
                await self._shelf.changed()

    async def once(self, kind: str, item_id: str, work: Work, *args: Any) -> bool:
        """Do `work` once, regardless of earlier failures; returns True if it was done. A failure is only logged, as the
        caller or another loop retries. Raises nothing but cancellation."""
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
        """Seconds until the item may be retried; 0 means now."""
        failures = self._failures.get((kind, item_id))
        return 0.0 if failures is None else max(0.0, failures.next_at - self._clock.monotonic())

    def forget(self, kind: str, item_id: str) -> None:
        """Reset the item's failure count."""
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
