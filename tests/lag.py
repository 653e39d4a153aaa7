"""Notices an event loop that stands still: one callback that keeps it from every other for too long.

What counts is what the callback itself did, whatever the load of the machine: processor time of the loop's thread, or
time that the thread slept in a blocking call. Time in which it waited for a processor, garbage collections (of a test's
heap) and work of a test's own code do not count.

`python -m tests.lag serve …` is the command `outlast` with such a watch: it logs each stall.
"""

import gc
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from pathlib import Path
from sys import _current_frames
from types import FrameType
from typing import Any, Final

import outlast

MAX_BUSY_S: Final = 0.25  # processor time of one callback
MAX_BLOCKED_S: Final = 2.0  # sleep in one callback
STOOD_STILL: Final = "the event loop stood still"
_LOOK_S: Final = 0.05  # how often the loop gives a sign, and is looked at
_MOST_STEP_S: Final = 0.5  # counted between two looks: the whole process, or its machine, may have been stopped
_SHOWN: Final = 6  # frames of a finding, from its inside and of the program
_PACKAGE: Final = f"{Path(outlast.__file__).parent}/"
_TESTS: Final = f"{Path(__file__).parent}/"
_ASYNC: Final = CO_COROUTINE | CO_ASYNC_GENERATOR
_RUNS_CALLBACKS: Final = ("asyncio/events.py", "asyncio/runners.py", "asyncio/base_events.py")
log = logging.getLogger("outlast.testing")


@dataclass(slots=True)
class Stall:
    """One callback that holds up its loop: the seconds so far, and the frames that were seen, innermost first."""

    busy_s: float = 0.0
    blocked_s: float = 0.0
    where: str = ""

    @property
    def is_too_long(self) -> bool:
        return self.busy_s > MAX_BUSY_S or self.blocked_s > MAX_BLOCKED_S

    def __str__(self) -> str:
        return f"{STOOD_STILL}: {self.busy_s:.2f} s busy, {self.blocked_s:.2f} s blocked in {self.where}"


class _Watch:
    """Looks at the loop of the thread that made it, from a thread of its own."""

    def __init__(self, found: Callable[[Stall], None]) -> None:
        self._found = found
        self._thread, self._task = threading.get_ident(), threading.get_native_id()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._collected = 0.0  # processor time of garbage collections
        self._collecting: float | None = None  # since when one is on
        self._beats, self._beaten, self._rested = 0, self._busy(), self._asleep()

    def beat(self) -> None:
        """Called by the loop: it gets round to its callbacks."""
        self._beaten = self._busy()
        self._beats += 1

    def collects(self, phase: str, _info: dict[str, int]) -> None:
        """Called by the garbage collector."""
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collecting = time.thread_time()
        elif self._collecting is not None:
            self._collected += time.thread_time() - self._collecting
            self._collecting = None

    def look_until(self, ended: threading.Event) -> None:
        """Look again and again. A callback is the same one as long as its outermost frame is, without a beat."""
        beats, busy, asleep = 0, self._beaten, self._rested
        root: FrameType | None = None
        stall, told = Stall(), False
        while not ended.wait(_LOOK_S):
            stack, busy_before, asleep_before = _callback_of(self._thread), busy, asleep
            busy, asleep = self._busy(), self._asleep()
            if beats != self._beats or not stack or stack[-1] is not root:
                beats, root = self._beats, stack[-1] if stack else None
                stall, told = Stall(), False
                busy_before, asleep_before = max(busy_before, self._beaten), asleep
            if stack and not _is_of_a_test(stack):
                stall.busy_s += busy - busy_before
                stall.blocked_s += min(asleep - asleep_before, _MOST_STEP_S)
                if stall.is_too_long and not told:
                    stall.where, told = _shown(stack), True
                    self._found(stall)

    def _busy(self) -> float:
        """Processor time of the loop's thread, in seconds, without that of garbage collections."""
        return (self._collecting or time.clock_gettime(self._clock)) - self._collected

    def _asleep(self) -> float:
        """How long that thread has neither run nor waited for a processor, in seconds from some start."""
        try:
            ran, waited, _ = Path(f"/proc/self/task/{self._task}/schedstat").read_text().split()
        except (OSError, ValueError):  # this kernel does not tell
            return 0.0
        return time.monotonic() - (int(ran) + int(waited)) / 1e9


@contextmanager
def noticed(found: Callable[[Stall], None]) -> Iterator[None]:
    """Watch the event loop that runs here while this is open. `found` is called from another thread, once for each
    callback that takes too long, while it still runs."""
    import asyncio

    loop, watch, ended = asyncio.get_running_loop(), _Watch(found), threading.Event()
    thread = threading.Thread(target=watch.look_until, args=(ended,), name="lag", daemon=True)
    timer = loop.call_later(_LOOK_S, lambda: None)

    def beat() -> None:
        nonlocal timer
        watch.beat()
        timer = loop.call_later(_LOOK_S, beat)

    beat()
    gc.callbacks.append(watch.collects)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        gc.callbacks.remove(watch.collects)
        timer.cancel()


def _callback_of(thread: int) -> list[FrameType]:
    """The frames of the callback that the loop of this thread runs, innermost first; empty: it runs none."""
    stack: list[FrameType] = []
    frame = _current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename.endswith(_RUNS_CALLBACKS):
            waits = len(stack) == 1 and stack[0].f_code.co_filename.endswith("selectors.py")
            return [] if waits else stack
        stack.append(frame)
        frame = frame.f_back
    return []


def _is_of_a_test(stack: list[FrameType]) -> bool:
    """Whether a test's code does this work itself, also by a plain function of the program that it calls."""
    for frame in stack:
        if frame.f_code.co_filename.startswith(_TESTS):
            return True
        if frame.f_code.co_flags & _ASYNC and frame.f_code.co_filename.startswith(_PACKAGE):
            return False
    return False


def _shown(stack: list[FrameType]) -> str:
    """The innermost frames, and those of the program behind them."""
    behind = [frame for frame in stack[_SHOWN:] if frame.f_code.co_filename.startswith((_PACKAGE, _TESTS))]
    return " < ".join(
        f"{frame.f_code.co_qualname if hasattr(frame.f_code, 'co_qualname') else frame.f_code.co_name}"
        f" ({'/'.join(Path(frame.f_code.co_filename).parts[-3:])}:{frame.f_lineno})"
        for frame in [*stack[:_SHOWN], *behind[:_SHOWN]]
    )


async def run_logging_stalls(
    program: Callable[..., Coroutine[Any, Any, None]], settings: object, announce: Callable[[str], None], **options: Any
) -> None:
    """Run the program; from when it announces that it is ready, each stall of its loop is a line of the log."""
    ready = False

    def announced(address: str) -> None:
        nonlocal ready
        announce(address)
        ready = True

    def found(stall: Stall) -> None:
        if ready:
            log.error(str(stall))

    with noticed(found):
        await program(settings, announced, **options)


def assert_kept_going(log: Path) -> None:
    """The server that wrote this log was always there for its callbacks."""
    stalls = [line for line in log.read_text().splitlines() if STOOD_STILL in line]
    assert not stalls, "\n".join(stalls)


def main() -> None:
    """The command `outlast`, with the watch."""
    gc.disable()  # as `main` does while it imports the program; it enables it again
    from outlast import app
    from outlast.__main__ import main as run

    app.run_program = partial(run_logging_stalls, app.run_program)
    run()


if __name__ == "__main__":
    main()
