"""One thread, one `epoll`: descriptors, timers and ended children, each with its callback."""

from __future__ import annotations

import heapq
import os
import select
import time

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    import signal
    from typing import Callable
else:
    import _signal as signal  # `signal` would load `enum`

READ = select.EPOLLIN
WRITE = select.EPOLLOUT
MAX_IDLE_ROUNDS = 3
TICK_S = 1.0
SLEPT_S = 1.5  # a wait that takes this much longer than it should: the process was frozen


class Timer:
    """A function to call at a moment of the monotonic clock, unless `cancel` is called before."""

    __slots__ = ("call", "due", "live")

    def __init__(self, due: float, call: Callable[[], None]) -> None:
        self.due = due
        self.call = call
        self.live = True

    def cancel(self) -> None:
        self.live = False

    def __lt__(self, other: Timer) -> bool:
        return self.due < other.due


class Loop:
    """Runs until `stop`. Handlers must not block and must not raise. With `notices_sleep` it finds out by itself that
    it was frozen, and postpones its timers: it wakes every second while there are any."""

    def __init__(self, notices_sleep: bool = False) -> None:
        self._notices_sleep = notices_sleep
        self._sleeps: list[tuple[float, float]] = []  # (end, seconds) of each, the newest last
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._timers: list[Timer] = []
        self._children: dict[int, Callable[[int], None]] = {}
        self._running = True
        self._watch_children()

    def add(self, fd: int, events: int, handler: Callable[[int], None]) -> None:
        """Call `handler(events)` whenever `fd` is ready."""
        self._handlers[fd] = handler
        self._epoll.register(fd, events)

    def change(self, fd: int, events: int) -> None:
        self._epoll.modify(fd, events)

    def remove(self, fd: int) -> None:
        """Remove `fd`; the caller closes it."""
        if self._handlers.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(time.monotonic() + seconds, call)
        heapq.heappush(self._timers, timer)
        return timer

    def shift_timers(self, seconds: float) -> None:
        """Postpone all timers: frozen time does not count against a time limit."""
        for timer in self._timers:
            timer.due += seconds

    def on_exit(self, pid: int, call: Callable[[int], None]) -> None:
        """Call `call(exit code)` when the child has ended; a signal counts as 128 + its number, as in a shell."""
        self._children[pid] = lambda status: call(_exit_code(status))

    def on_status(self, pid: int, call: Callable[[int], None]) -> None:
        """Call `call(status)`, the status as `waitpid` gives it, when the child has ended."""
        self._children[pid] = call

    def stop(self) -> None:
        self._running = False

    def run(self) -> None:
        while self._running:
            self._wait()
            # A message with the length of the freeze is in a socket before the thaw, so readable descriptors are read
            # before any timer fires. The rounds are bounded: a flood of output must not stop the timers.
            for _ in range(MAX_IDLE_ROUNDS):
                if not self._timer_due() or not self._poll(0):
                    break
            self._fire()

    def slept_s_since(self, moment: float) -> float:
        """For how long it was frozen since that moment of the monotonic clock, of its latest times."""
        return sum(seconds for end, seconds in self._sleeps if end > moment)

    def _wait(self) -> None:
        timeout = self._wait_time()
        if not self._notices_sleep or timeout < 0:
            self._poll(timeout)
            return
        timeout = min(timeout, TICK_S)
        began = time.monotonic()
        ready = self._epoll.poll(timeout)
        over_s = time.monotonic() - began - timeout
        if over_s > SLEPT_S:  # before any handler runs: a timer must not fire for time that was slept
            self.shift_timers(over_s)
            self._sleeps = [*self._sleeps[-99:], (time.monotonic(), over_s)]
        self._handle(ready)

    def _poll(self, timeout: float) -> bool:
        ready = self._epoll.poll(timeout)
        self._handle(ready)
        return bool(ready)

    def _handle(self, ready: list[tuple[int, int]]) -> None:
        for fd, events in ready:
            handler = self._handlers.get(fd)
            if handler is not None:
                handler(events)

    def _wait_time(self) -> float:
        while self._timers and not self._timers[0].live:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0].due - time.monotonic()) if self._timers else -1

    def _timer_due(self) -> bool:
        return bool(self._timers) and self._timers[0].due <= time.monotonic()

    def _fire(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0].due <= now:
            timer = heapq.heappop(self._timers)
            if timer.live:
                timer.call()

    def _watch_children(self) -> None:
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

        def reap(_events: int) -> None:
            os.read(read_end, 4096)
            self.reap()

        self.add(read_end, READ, reap)

    def reap(self) -> None:
        """Collect all children that have ended, including orphans: as process 1 the agent inherits them all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            call = self._children.pop(pid, None)
            if call is not None:
                call(status)


def _exit_code(status: int) -> int:
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
