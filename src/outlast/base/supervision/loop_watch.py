"""Tells from another thread whether the event loop runs: it must answer pings."""

import asyncio
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any, Final

BLOCKED_S: Final = 1.0  # a blockage this long is logged
PAUSE_S: Final = 60.0  # between two logged blockages
LOST_S: Final = 30.0  # a loop that has not answered for this long counts as lost
MOST_STEP_S: Final = 1.0  # counted between two looks: this thread may have been stopped too, with the whole process
SHOWN: Final = 12  # frames of a stack
log: Final = logging.getLogger("outlast.loop")


class LoopWatch:
    """Watches the event loop on which it is made. In memory: the time for which the loop has owed an answer.

    Stacks in the log have the names of functions, their files and lines, and no values.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._monotonic = monotonic
        self._owes = self._is_lost = False
        self._owed_s = self._looked_at = 0.0
        self._logged_at = float("-inf")
        self._where = ""

    def ping(self) -> bool:
        """Ping the loop, or look whether it has answered; call it from another thread, at least once a second. False
        while the loop has not answered for `LOST_S`; then the stacks of all its tasks are logged once."""
        if not self._owes:
            self._owes, self._is_lost, self._owed_s, self._where = True, False, 0.0, ""
            self._looked_at = self._monotonic()
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._answer)
            return True
        self._owed_s, self._looked_at = self._blocked_s(), self._monotonic()
        if self._owed_s >= BLOCKED_S and not self._where:
            self._where = _stack(_callers(sys._current_frames().get(self._thread)))
        if self._owed_s >= LOST_S and not self._is_lost:
            self._is_lost = True
            self._log_stacks()
        return not self._is_lost

    def _blocked_s(self) -> float:
        return self._owed_s + min(self._monotonic() - self._looked_at, MOST_STEP_S)

    def _answer(self) -> None:
        """Runs on the loop."""
        blocked_s, now = self._blocked_s(), self._monotonic()
        self._owes = False
        if blocked_s >= BLOCKED_S and now - self._logged_at >= PAUSE_S:
            self._logged_at = now
            log.warning("The event loop was blocked for %.1f s", blocked_s, extra={"stack": self._where})

    def _log_stacks(self) -> None:
        """Equal stacks are logged once, with the number of tasks."""
        log.error("The event loop has been blocked for %.0f s", self._owed_s, extra={"stack": self._where})
        stacks = Counter(_stack(_awaited(task)) for task in asyncio.all_tasks(self._loop))
        for stack, count in stacks.most_common():
            log.error("tasks of the blocked event loop", extra={"tasks": count, "stack": stack})


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """The frame and its callers, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _awaited(task: asyncio.Task[Any]) -> list[FrameType]:
    """The frames of what the task waits for, innermost first."""
    frames: list[FrameType] = []
    step: Any = task.get_coro()
    while step is not None:
        kind = next((kind for kind in ("cr", "gi", "ag") if hasattr(step, f"{kind}_frame")), "")
        if not kind or (frame := getattr(step, f"{kind}_frame")) is None:
            break
        frames.insert(0, frame)
        step = getattr(step, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
    return frames


def _stack(frames: Iterator[FrameType] | list[FrameType]) -> str:
    shown = [f"{one.f_code.co_name} ({one.f_code.co_filename}:{one.f_lineno})" for one in frames]
    return " < ".join(shown[:SHOWN])
