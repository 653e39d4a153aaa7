"""Live text through the database: the node that writes a run saves its text every 100 ms while another node follows it,
the notice of that commit wakes the others, and each of them reads it once for all its followers.

A node announces the runs that it follows (`Interests`), every 10 s again. With a carrier (Redis), text reaches it
through that, and the database only what the carrier did not bring.
"""

from collections.abc import Callable
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup

from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.db.database import Database
from outlast.kernel.streams.channel import Channel
from outlast.kernel.streams.live.feed import Feed
from outlast.kernel.streams.live.interests import RENEW_S, Interests
from outlast.kernel.streams.live.messages import Messages

FOLLOWS: Final = "follows"  # news: runs that the sender follows
FOLLOWS_SAVED: Final = "follows saved"  # the same, of a sender whom the carrier brings nothing
SAVE: Final = "save"  # news: runs of whose text something is missing at the sender
READS: Final = 4  # at once, so that followers leave connections to others
RETRY_S: Final = 1.0
RUN: Final = "run_"


class Carrier(Protocol):
    """Carries text of runs beside the database, as far as it works at the moment."""

    works: bool  # this node sends and receives through it

    def carry(self, channel: Channel) -> None:
        """Send what this channel shows, from its next line on (`Channel.carry`)."""

    def settle(self, channel: Channel) -> None:
        """The run is no longer written here."""

    def watch(self, feed: Feed) -> None:
        """Bring this feed what other nodes send, from its place on (`Feed.arrived`), until it is stopped."""

    async def run(self) -> None: ...
    async def aclose(self) -> None: ...


class DatabaseLive:
    """The adapter of several nodes on one database. In memory: one feed per run that is followed here and written
    elsewhere; the runs written here; the runs followed elsewhere."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock
        self.messages = Messages(db)
        self._carrier: Carrier | None = None
        self.feeds: dict[str, Feed] = {}
        self._written: dict[str, Channel] = {}
        self._followed, self._followed_saved = Interests(clock), Interests(clock)
        self._due: set[Feed] = set()
        self._wake = anyio.Event()
        self._urgent: list[Callable[[], None]] = []
        self._limit = anyio.Semaphore(READS)
        self.tell, self.on_news, self.on_joined = self.messages.tell, self.messages.on_news, self.messages.on_joined
        self.on_news(FOLLOWS, self._on_follows)
        self.on_news(FOLLOWS_SAVED, self._on_follows_saved)
        self.on_news(SAVE, self._on_save)
        self.on_joined(self._announce_all)

    def use(self, carrier: Carrier) -> None:
        """Carry text through this from now on."""
        self._carrier = carrier

    # --- writing --------------------------------------------------------------------------------------------------

    def writes(self, channel: Channel) -> None:
        self._written[channel.stream_id] = channel
        if channel.stream_id in self._followed:
            self._carry(channel)

    def wrote(self, channel: Channel) -> None:
        self._written.pop(channel.stream_id, None)
        if self._carrier is not None:
            self._carrier.settle(channel)

    def saves_soon(self, run_id: str) -> bool:
        if run_id in self._followed_saved:
            return True
        channel = self._written.get(run_id)
        return run_id in self._followed and (channel is None or channel.carry is None)

    def on_urgent(self, listener: Callable[[], None]) -> None:
        self._urgent.append(listener)

    def hurry(self) -> None:
        """Have the text saved at once that followers elsewhere wait for."""
        for listener in self._urgent:
            listener()

    def carrier_changed(self) -> None:
        """The carrier works again, or no longer: text goes the other way from here on."""
        for channel in self._written.values():
            if channel.stream_id in self._followed:
                self._carry(channel)
        self._announce_all()
        self.hurry()  # between the two ways nothing is missing that was not saved

    def _carry(self, channel: Channel) -> None:
        if self._carrier is not None and self._carrier.works:
            self._carrier.carry(channel)

    def _on_follows(self, run_ids: list[str]) -> None:
        new = [run_id for run_id in self._followed.add(run_ids) if run_id in self._written]
        for run_id in new:
            self._carry(self._written[run_id])
        if new:
            self.hurry()

    def _on_follows_saved(self, run_ids: list[str]) -> None:
        if any(run_id in self._written for run_id in self._followed_saved.add(run_ids)):
            self.hurry()

    def _on_save(self, run_ids: list[str]) -> None:
        if any(run_id in self._written for run_id in run_ids):
            self.hurry()

    # --- following ------------------------------------------------------------------------------------------------

    def follows(self, channel: Channel) -> None:
        if channel.stream_id.startswith(RUN):
            feed = self.feeds[channel.stream_id] = Feed(channel)
            self._is_due(feed)

    def left(self, channel: Channel) -> None:
        feed = self.feeds.pop(channel.stream_id, None)
        if feed is not None:
            feed.stop()

    def rung(self, channel: Channel) -> None:
        feed = self.feeds.get(channel.stream_id)
        if feed is not None:
            feed.has_asked = False
            self._is_due(feed)

    def arrived(self, feed: Feed) -> None:
        """The carrier has brought lines to this feed: look into the database if they need it."""
        lacks = feed.tail is not None and feed.tail.wants_database
        if lacks and not feed.has_asked:
            self._is_due(feed)
        feed.has_asked = lacks  # once: then the next save rings

    def _is_due(self, feed: Feed) -> None:
        self._due.add(feed)
        self._wake.set()

    def _announce(self, feed: Feed) -> None:
        works = self._carrier is None or self._carrier.works
        self.messages.tell_id(FOLLOWS if works else FOLLOWS_SAVED, feed.run_id)

    def _announce_all(self) -> None:
        for feed in self.feeds.values():
            if feed.tail is not None:
                self._announce(feed)

    # --- beside the server ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        for feed in self.feeds.values():
            feed.is_reading = False  # of an earlier call that was cut short
            self._is_due(feed)
        async with anyio.create_task_group() as group:
            group.start_soon(self.messages.run)
            group.start_soon(self._renew)
            if self._carrier is not None:
                group.start_soon(self._carrier.run)
            await self._read_all(group)

    async def aclose(self) -> None:
        if self._carrier is not None:
            await self._carrier.aclose()

    async def _renew(self) -> None:
        """Announce what is followed, again and again, and look whether any news was missed."""
        while True:
            await self._clock.sleep(RENEW_S)
            self._announce_all()
            for feed in self.feeds.values():
                feed.has_asked = False
                self._is_due(feed)
            for channel in self._written.values():
                if channel.carry is not None and channel.stream_id not in self._followed:
                    channel.carry = None

    async def _read_all(self, group: TaskGroup) -> None:
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            due, self._due = self._due, set()
            for feed in due:
                if feed.is_reading:
                    feed.again = True
                else:
                    feed.is_reading, feed.again = True, False
                    group.start_soon(self._read, feed)

    async def _read(self, feed: Feed) -> None:
        was_begun = feed.tail is not None
        try:
            async with self._limit:
                feed.again = False
                more = await feed.read(self._db)
                feed.again = feed.again or more
        except OutlastError:
            await self._clock.sleep(RETRY_S)
            feed.again = True
        feed.is_reading = False
        if feed.is_stopped:
            if self.feeds.get(feed.run_id) is feed:
                del self.feeds[feed.run_id]
            return
        if not was_begun and feed.tail is not None:
            self._announce(feed)
            if self._carrier is not None:
                self._carrier.watch(feed)
        feed.has_asked = feed.tail is not None and feed.tail.wants_database
        if feed.has_asked and not feed.again:
            self.messages.tell_id(SAVE, feed.run_id)  # the gap is not saved yet
        if feed.again:
            self._is_due(feed)
