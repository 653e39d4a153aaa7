"""Retries of an effect: their number, and the wait before each."""

import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio

from outlast.base.clock import Clock
from outlast.base.errors import SandboxLost, SandboxUnavailable, TryLater
from outlast.kernel.runs.rules import backoff_s
from outlast.kernel.runs.settings import RetrySettings

T = TypeVar("T")
LOST_PAUSES_S: Final = (0.0, 0.1, 0.5)  # before each further try of an effect whose sandbox went away
LIMIT: Final = "limit_s"  # the field of an error for an effect that used up its time: a retry would too


class Retries:
    """Counts the tries of one effect against `[retry]`; `made` is the number of earlier tries."""

    def __init__(self, settings: RetrySettings, made: int = 0) -> None:
        self.made = made
        self._settings = settings

    def wait_s(self, error: TryLater) -> float | None:
        """Seconds to wait before the next try; None if all tries were made or the wait would be too long."""
        self.made += 1
        if self.made > self._settings.attempts:
            return None
        wait_s = backoff_s(self.made, self._settings.base_s, error.retry_after_s, random.random())
        return wait_s if wait_s <= self._settings.max_wait_s else None


async def retry_in_sandbox(
    attempt: Callable[[], Awaitable[T]],
    settings: RetrySettings,
    clock: Clock,
    *,
    is_final: Callable[[SandboxLost], bool] = lambda _error: False,
) -> T:
    """The result of `attempt`, which is retried while its sandbox goes away (three times, unless `is_final` says that
    this loss is final) or no sandbox is available. Raises the last `SandboxLost` or `SandboxUnavailable`, and any other
    error at once."""
    retries, lost = Retries(settings), 0
    while True:
        try:
            return await attempt()
        except SandboxLost as error:
            if lost == len(LOST_PAUSES_S) or is_final(error):
                raise
            await anyio.sleep(LOST_PAUSES_S[lost])  # a dying sandbox is recognised as dead a moment later
            lost += 1
        except SandboxUnavailable as error:
            wait_s = retries.wait_s(error)
            if wait_s is None or LIMIT in error.fields:
                raise
            await clock.sleep(wait_s)
