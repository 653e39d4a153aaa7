"""The state of a follower: the cursor of the last yielded event, and the pauses after broken connections."""

from typing import Any, Final

from outlast_client.errors import TryLater
from outlast_client.retries import Retries
from outlast_client.sse import Frames

LAST_EVENT: Final = "stream.ended"


class Follower:
    """The cursor moves when an event is yielded, so each event is yielded once, whatever breaks in between. `ends`: the
    stream is over after `stream.ended` (true for a run, false for a thread)."""

    def __init__(self, after: str | int, retries: Retries, *, ends: bool) -> None:
        self.cursor = str(after)
        self.has_ended = False
        self._ends = ends
        self._retries = retries
        self._reached = False
        self._failures = 0
        self._waited_s = 0.0
        self._frames = Frames()

    def connected(self, status: int) -> None:
        """Records an open connection. Status 204 means that there are no more events."""
        self._reached, self._waited_s = True, 0.0
        self._frames = Frames()
        self.has_ended = status == 204

    def read(self, chunk: bytes) -> list[tuple[str, dict[str, Any]]]:
        """The events in a chunk. Pass each to `take`."""
        events = self._frames.feed(chunk)
        self._failures = 0 if events else self._failures
        return events

    def take(self, cursor: str, event: dict[str, Any]) -> Any:
        """Moves the cursor to an event and returns it, to be yielded."""
        self.cursor = cursor
        self.has_ended = self._ends and event["event"] == LAST_EVENT
        return event

    def pause_s(self, error: TryLater | None) -> float:
        """Seconds to wait before the next connection. `error` is None if the server closed the stream. Raises `error`
        after too many failures."""
        self._failures += 1
        is_first = not self._reached and self._failures >= self._retries.tries
        has_tried = is_first or self._waited_s > self._retries.patience_s
        if error is not None and has_tried:
            raise error
        pause_s = self._retries.pause_s(self._failures, error.retry_after_s if error is not None else None)
        self._waited_s += pause_s
        return pause_s
