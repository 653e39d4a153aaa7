"""The channels of this process: followers by stream, and writers that show lines there."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import anyio
from pydantic import BaseModel

from outlast.kernel.streams.channel import Channel
from outlast.kernel.streams.live.memory import MemoryLive
from outlast.kernel.streams.live.port import Live
from outlast.kernel.streams.sse import passing_frame


class Hub:
    """The channels of this process, and the number of watchers of each thread. `live` connects them with those of other
    nodes."""

    def __init__(self) -> None:
        self.live: Live = MemoryLive()
        self._channels: dict[str, Channel] = {}
        self._watchers: Counter[str] = Counter()
        self._on_watch: list[Callable[[str, int], None]] = []

    def ring(self, stream_id: str) -> None:
        """News in the database for this stream ("*": for all)."""
        if stream_id == "*":
            for channel in self._channels.values():
                self._news(channel)
        elif stream_id in self._channels:
            self._news(self._channels[stream_id])

    def _news(self, channel: Channel) -> None:
        if channel.fed:
            self.live.rung(channel)  # it reads once, for all followers
        else:
            channel.ring()

    def covers(self, stream_id: str, after: int, most: int) -> bool:
        """True if memory holds every line of this stream above this number, at most so many."""
        channel = self._channels.get(stream_id)
        return channel is not None and channel.covers(after) and channel.head - after <= most

    def whisper(self, stream_id: str, event: str, data: BaseModel, topic: str = "") -> None:
        """Send an event that is never logged to the followers; only the newest of a topic counts."""
        if (channel := self._channels.get(stream_id)) is not None:
            frame = passing_frame(event.encode(), data.model_dump_json().encode())
            channel.whispers = {**channel.whispers, topic: frame}  # a new mapping: followers compare it by identity
            channel.ring()

    def write(self, stream_id: str, base: int, generation: int) -> Channel:
        """The channel of a stream that this process begins to write. End it with `unwrite`, even if this call failed.
        `generation`: a number that no other writer of the stream has (the attempt's). If a newer one has written
        here, the channel has no followers."""
        channel = self._channels.setdefault(stream_id, Channel(stream_id))
        if channel.generation > generation:
            return Channel(stream_id)
        if channel.followers and not channel.writing:
            self.live.left(channel)
        channel.open(base, generation)
        self.live.writes(channel)
        return channel

    def unwrite(self, stream_id: str, generation: int) -> None:
        """The writer of this generation has ended; does nothing if a newer one writes."""
        channel = self._channels.get(stream_id)
        if channel is not None and channel.generation == generation:
            channel.close()
            self.live.wrote(channel)
            if channel.followers:
                self.live.follows(channel)
            self._drop_if_idle(channel)

    async def watch_still(self, interval_s: float) -> None:
        """Until cancelled: at this interval, wake the followers of runs whose channels are still. Bells can be lost on
        their way from another process, and a writer here may have lost its run without having noticed."""
        while True:
            await anyio.sleep(interval_s)
            for channel in [one for one in self._channels.values() if one.stream_id.startswith("run_")]:
                channel.look_again()

    @contextmanager
    def listen(self, stream_id: str) -> Iterator[Channel]:
        """The channel of a stream, for one follower."""
        channel = self._channels.setdefault(stream_id, Channel(stream_id))
        channel.followers += 1
        if channel.followers == 1 and not channel.writing:
            self.live.follows(channel)
        try:
            yield channel
        finally:
            channel.followers -= 1
            if not channel.followers and not channel.writing:
                self.live.left(channel)
            self._drop_if_idle(channel)

    @contextmanager
    def watch(self, thread_id: str) -> Iterator[None]:
        """Count a watcher of this thread while the block runs (abandonment waits until there is none)."""
        self._count(thread_id, 1)
        try:
            yield
        finally:
            self._count(thread_id, -1)

    def watchers(self, thread_id: str) -> int:
        return self._watchers[thread_id]

    def followed(self, prefix: str) -> list[str]:
        """The streams with this prefix (`prj_`) that are followed in this process."""
        return [
            channel.stream_id
            for channel in self._channels.values()
            if channel.followers and channel.stream_id.startswith(prefix)
        ]

    def watched(self) -> list[str]:
        return list(self._watchers)

    def on_watch(self, listener: Callable[[str, int], None]) -> None:
        """Call `listener(thread_id, watchers)` when the number of watchers goes between 0 and 1."""
        self._on_watch.append(listener)

    def _count(self, thread_id: str, change: int) -> None:
        self._watchers[thread_id] += change
        watchers = self._watchers[thread_id]
        if not watchers:
            del self._watchers[thread_id]
        if watchers == max(change, 0):  # the first watcher, or no watcher left
            for listener in self._on_watch:
                listener(thread_id, watchers)

    def _drop_if_idle(self, channel: Channel) -> None:
        if not channel.followers and not channel.writing:
            self._channels.pop(channel.stream_id, None)


def fresh(whispers: Mapping[str, bytes], seen: Mapping[str, bytes]) -> bytes:
    """The frames of the topics that changed since `seen`."""
    return b"".join(body for topic, body in whispers.items() if seen.get(topic) != body)
