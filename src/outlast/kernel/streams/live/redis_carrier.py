"""Live text through Redis: a stream per run, and one channel on which every node rings for the runs that it added to.

An entry has the id `ATTEMPT-LAST`, so Redis itself refuses one of an older attempt or with a lower number. One pipeline
per flush adds to all streams with new lines, then rings once; at the bell, a node reads those streams that it
follows, again in one pipeline. A call that takes too long counts as a failure: then nothing is carried for a while,
and the database does it alone. Nothing is ever sent twice, and nothing depends on what is in Redis.
"""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
from redis.exceptions import RedisError, ResponseError

from outlast.base.clock import Clock
from outlast.kernel.streams.channel import Channel
from outlast.kernel.streams.live.database import DatabaseLive
from outlast.kernel.streams.live.feed import Feed
from outlast.kernel.streams.live.redis_entries import entry_fields, entry_of
from outlast.kernel.streams.log_store import Line

if TYPE_CHECKING:
    from redis.asyncio import Redis

BELLS: Final = "outlast:live:bells"
KEY: Final = "outlast:live:%s"
APPEND_S: Final = 0.05  # then the database carries the text
FETCH_S: Final = 0.25
CONNECT_S: Final = 2.0
BEAT_S: Final = 2.0  # a bell without ids, so that each node knows that the bells of its own connection arrive
SILENT_S: Final = 5.0
REST_S: Final = 5.0  # after a failure
MIN_TICK_S: Final = 0.001
TICK_PER_RUN_S: Final = 0.0002
MAX_TICK_S: Final = 0.025
MOST_ENTRIES: Final = 2_000  # of a run, about: a minute of text, of which a second is not in the database
ENTRIES_AT_ONCE: Final = 500
KEPT_S: Final = 3_600  # since the last entry but a few
KEPT_SETTLED_S: Final = 60
FAILURES: Final = (RedisError, OSError, TimeoutError)
log: Final = logging.getLogger("outlast.streams")


class _Sending:
    """The lines of one attempt that are not sent yet, and whether its key has a time to live."""

    __slots__ = ("channel", "generation", "lines", "owner", "run_id", "sent")

    def __init__(self, owner: "RedisCarrier", channel: Channel) -> None:
        self.owner, self.channel = owner, channel
        self.run_id, self.generation = channel.stream_id, channel.generation
        self.lines: list[Line] = []
        self.sent = 0

    def take(self, lines: Sequence[Line]) -> None:
        """The channel shows these now."""
        self.lines.extend(lines)
        self.owner.has_lines(self)


class RedisCarrier:
    """A `Carrier`. In memory: the lines of at most one flush, and one entry per run that it carries."""

    def __init__(self, client: "Redis", live: DatabaseLive, clock: Clock) -> None:
        self.works = False
        self._redis, self._live, self._clock = client, live, clock
        self._sending: dict[str, _Sending] = {}
        self._dirty: dict[_Sending, None] = {}
        self._settled: list[str] = []
        self._wake = anyio.Event()
        self._due: dict[Feed, None] = {}
        self._rung = anyio.Event()

    def carry(self, channel: Channel) -> None:
        current = self._sending.get(channel.stream_id)
        if channel.carry is None or current is None or current.generation != channel.generation:
            sending = self._sending[channel.stream_id] = _Sending(self, channel)
            channel.carry = sending.take

    def settle(self, channel: Channel) -> None:
        if self._sending.pop(channel.stream_id, None) is not None and self.works:
            self._settled.append(channel.stream_id)
            self._wake.set()

    def watch(self, feed: Feed) -> None:
        if self.works:
            self._due[feed] = None
            self._rung.set()

    def has_lines(self, sending: _Sending) -> None:
        self._dirty[sending] = None
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled: connect, carry until something fails, rest, and try again."""
        while True:
            try:
                async with self._redis.pubsub() as bells:
                    with anyio.fail_after(CONNECT_S):
                        await self._redis.ping()
                        await bells.subscribe(BELLS)
                    self._begin()
                    async with anyio.create_task_group() as group:
                        group.start_soon(self._listen, bells)
                        group.start_soon(self._fetch_rung)
                        group.start_soon(self._beat)
                        await self._append_all()
            except* FAILURES as failures:
                log.warning("Redis does not work", extra={"reason": str(failures.exceptions[0])})
            finally:
                self._end()
                with anyio.move_on_after(CONNECT_S, shield=True):
                    await self._redis.connection_pool.disconnect()
            await self._clock.sleep(REST_S)

    async def aclose(self) -> None:
        with anyio.move_on_after(CONNECT_S, shield=True):
            await self._redis.aclose()

    def _begin(self) -> None:
        log.info("live text goes through Redis")
        self.works = True
        for feed in self._live.feeds.values():
            self.watch(feed)
        self._live.carrier_changed()

    def _end(self) -> None:
        if not self.works:
            return
        log.info("live text goes through the database")
        self.works = False
        for sending in self._sending.values():
            self._stop(sending)
        self._sending, self._dirty, self._settled, self._due = {}, {}, [], {}
        self._live.carrier_changed()

    def _stop(self, sending: _Sending) -> None:
        if sending.channel.generation == sending.generation:
            sending.channel.carry = None

    # --- writing --------------------------------------------------------------------------------------------------

    async def _append_all(self) -> None:
        while True:
            await self._wake.wait()
            began = anyio.current_time()
            self._wake = anyio.Event()
            dirty, self._dirty = self._dirty, {}
            settled, self._settled = self._settled, []
            await self._append(list(dirty), settled)
            tick = min(MIN_TICK_S + TICK_PER_RUN_S * len(self._sending), MAX_TICK_S)
            await anyio.sleep(max(0, began + tick - anyio.current_time()))

    async def _append(self, dirty: Sequence[_Sending], settled: Sequence[str]) -> None:
        pipe: Any = self._redis.pipeline(transaction=False)
        adding: list[_Sending | None] = []  # by command
        for sending in dirty:
            lines, sending.lines = sending.lines, []
            key, entry_id = KEY % sending.run_id, f"{sending.generation}-{lines[-1][0]}"
            pipe.execute_command("XADD", key, "MAXLEN", "~", MOST_ENTRIES, entry_id, *entry_fields(lines))
            adding.append(sending)
            if sending.sent % ENTRIES_AT_ONCE == 0:
                pipe.expire(key, KEPT_S)
                adding.append(None)
            sending.sent += 1
        if dirty:
            pipe.publish(BELLS, " ".join(sending.run_id for sending in dirty))
        for run_id in settled:
            pipe.expire(KEY % run_id, KEPT_SETTLED_S)
        with anyio.fail_after(APPEND_S):
            answers = await pipe.execute(raise_on_error=False)
        for place, answer in enumerate(answers):
            if not isinstance(answer, ResponseError):
                continue
            one = adding[place] if place < len(adding) else None
            if one is None or "equal or smaller" not in str(answer):
                raise answer
            self._refused(one)

    def _refused(self, sending: _Sending) -> None:
        """A newer attempt has added to the stream, or what is there comes from another time: for this run, the database
        does it alone."""
        self._stop(sending)
        if self._sending.get(sending.run_id) is sending:
            del self._sending[sending.run_id]
        self._live.hurry()

    async def _beat(self) -> None:
        while True:
            with anyio.fail_after(CONNECT_S):
                await self._redis.publish(BELLS, "")
            await anyio.sleep(BEAT_S)

    # --- reading --------------------------------------------------------------------------------------------------

    async def _listen(self, bells: Any) -> None:
        while True:
            message = await bells.get_message(timeout=SILENT_S)
            if message is None:
                raise TimeoutError("the bells of Redis do not arrive")
            if message["type"] != "message":
                continue
            for run_id in message["data"].decode().split():
                feed = self._live.feeds.get(run_id)
                if feed is not None:
                    self.watch(feed)

    async def _fetch_rung(self) -> None:
        while True:
            await self._rung.wait()
            self._rung = anyio.Event()
            due, self._due = self._due, {}
            feeds = [feed for feed in due if feed.tail is not None and not feed.is_stopped]
            if feeds:
                await self._fetch(feeds)

    async def _fetch(self, feeds: Sequence[Feed]) -> None:
        pipe: Any = self._redis.pipeline(transaction=False)
        for feed in feeds:
            generation, number = feed.tail.place if feed.tail is not None else (0, 0)
            pipe.xrange(KEY % feed.run_id, f"({generation}-{number}", "+", ENTRIES_AT_ONCE)
        with anyio.fail_after(FETCH_S):
            answers = await pipe.execute()
        for feed, answer in zip(feeds, answers, strict=True):
            entries = [entry for name, fields in answer if (entry := entry_of(name, fields)) is not None]
            feed.arrived(entries)
            self._live.arrived(feed)
            if len(answer) == ENTRIES_AT_ONCE:
                self.watch(feed)
