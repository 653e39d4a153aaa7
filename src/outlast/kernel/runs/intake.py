"""Runs on their way to this process's worker: a transaction that makes a run ready claims it at once while the worker
has room, which saves the claim's own transaction. In memory."""

import threading
from collections import deque
from collections.abc import AsyncIterator

import anyio

from outlast.kernel.runs.claims import Claimed


class Intake:
    """The places that the worker has for runs, as long as no other run waits to be claimed. Transactions take them, in
    the database's threads. The worker counts again after each claim: a run that is being committed at that moment may
    be one too many, and a place that a failed transaction took is back."""

    def __init__(self) -> None:
        self._places: int | None = None  # None: runs wait to be claimed, so no other may come in before them
        self._lock = threading.Lock()
        self._news = anyio.Event()
        self.waiting: deque[Claimed] = deque()  # claimed, but not at work yet
        self.came_in = 0  # the number of runs that came in so far

    def let_in(self, places: int) -> None:
        """No run waits to be claimed, and there are places for so many."""
        with self._lock:
            self._places = places

    def leave(self, places: int) -> None:
        """Leave at most so many places while the worker claims runs for the others."""
        with self._lock:
            if self._places is not None:
                self._places = min(self._places, places)

    def shut(self) -> None:
        """Let nothing in until `let_in`."""
        with self._lock:
            self._places = None

    def take_place(self) -> bool:
        """False if the run has to be claimed by a worker; so have all after it, until `let_in`."""
        with self._lock:
            if not self._places:
                self._places = None
                return False
            self._places -= 1
            return True

    def free_place(self) -> bool:
        """A run has left. False if others may wait to be claimed."""
        with self._lock:
            if self._places is None:
                return False
            self._places += 1
            return True

    def put(self, claimed: Claimed) -> None:
        """Called on the event loop after the commit. A run that comes in after the worker's end keeps its lease until
        that lapses, as after a kill."""
        self.came_in += 1
        self.waiting.append(claimed)
        self._news.set()

    async def come_in(self) -> AsyncIterator[Claimed]:
        """The runs that have come in, then each that comes."""
        while True:
            while self.waiting:
                yield self.waiting.popleft()
            self._news = anyio.Event()
            await self._news.wait()
