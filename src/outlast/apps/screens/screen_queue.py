"""The queue of screens to open, and of screens that get their theme once a run has ended."""

from typing import Final, Literal

import anyio

from outlast.base.errors import SandboxUnavailable
from outlast.kernel.services import Services

MAX_WAITING: Final = 1_000
Task = Literal["open", "dress"]


class ScreenQueue:
    """In memory: the screens of each task that is not done (`under_way`), and those that no worker has begun
    (`coming`). Concurrent callers who open a screen wait for the same sandbox. A lost entry costs time, never work: the
    next visit opens the screen again, and opening writes the theme."""

    def __init__(self) -> None:
        self.under_way: dict[Task, set[str]] = {"open": set(), "dress": set()}
        self._wanted, self.coming = anyio.create_memory_object_stream[tuple[Task, Services, str]](MAX_WAITING)

    def put(self, task: Task, services: Services, screen_id: str) -> None:
        """Open the screen soon, or write its theme into its files once no run works there. Returns at once. Raises
        `SandboxUnavailable` if the queue is full."""
        if screen_id in self.under_way[task]:
            return
        try:
            self._wanted.send_nowait((task, services, screen_id))
        except anyio.WouldBlock:
            raise SandboxUnavailable(
                "Too many screens are being opened.", hint="Try again in a moment.", retry_after_s=5
            ) from None
        self.under_way[task].add(screen_id)
