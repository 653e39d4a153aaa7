"""Open lines to ports inside, kept for the next request."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from outlast_sandbox.ports.line import Line

IDLE_LIFE_S: Final = 4.0  # Node closes idle connections after 5 s; avoids sending into a closing one
KEPT_PER_PORT: Final = 16


class Pool:
    """In memory: idle lines by (sandbox, port). Callers take lines and give them back, or close them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle: defaultdict[tuple[str, int], list[tuple[Line, float]]] = defaultdict(list)
        self._now = clock

    def take(self, sandbox_id: str, port: int) -> Line | None:
        """The most recently used idle line that is still open, or None; then dial."""
        idle = self._idle.get((sandbox_id, port))
        while idle:
            line, since = idle.pop()
            if self._now() - since < IDLE_LIFE_S and line.is_quiet():
                return line
            line.close()
        return None

    def give_back(self, sandbox_id: str, port: int, line: Line) -> None:
        idle = self._idle[sandbox_id, port]
        if len(idle) >= KEPT_PER_PORT:
            idle.pop(0)[0].close()
        idle.append((line, self._now()))

    def sweep(self) -> None:
        """Close lines that were idle for too long."""
        for key, kept in list(self._idle.items()):
            self._idle[key] = [item for item in kept if self._now() - item[1] < IDLE_LIFE_S]
            for line, since in kept:
                if self._now() - since >= IDLE_LIFE_S:
                    line.close()
            if not self._idle[key]:
                del self._idle[key]

    def close(self) -> None:
        for kept in self._idle.values():
            for line, _ in kept:
                line.close()
        self._idle.clear()

    def __len__(self) -> int:
        return sum(len(kept) for kept in self._idle.values())
