"""The board on which this server notes who watches and who types in which thread, and who has which project open."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from outlast.base.clock import Clock
from outlast.base.events import EphemeralPresence, MemberData
from outlast.base.ids import KINDS

TYPING_S: Final = 6.0


@dataclass(slots=True)
class _Room:
    tabs: Counter[str] = field(default_factory=Counter)
    members: dict[str, MemberData] = field(default_factory=dict)
    typing_until: dict[str, float] = field(default_factory=dict)


class PresenceBoard:
    """Who watches and types, per thread; who is there, per project (its id stands where a thread's does).

    Memory: an entry per watched thread or project, for as long as somebody follows it; a cache that the followers
    rebuild by connecting. `on_change` listeners are called, on the event loop, with the id of a thread or project whose
    presence changed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rooms: dict[str, _Room] = {}
        self._listeners: list[Callable[[str], None]] = []

    def on_change(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    @contextmanager
    def watching(self, thread_id: str, member: MemberData) -> Iterator[None]:
        """The member watches the thread (in one more tab) while this context is open."""
        room = self._rooms.setdefault(thread_id, _Room())
        room.tabs[member.user_id] += 1
        room.members[member.user_id] = member
        if room.tabs[member.user_id] == 1:
            self._tell(thread_id)
        try:
            yield
        finally:
            self._leave(thread_id, member.user_id)

    def type_in(self, thread_id: str, user_id: str, typing: bool) -> None:
        """A watching member types, or has stopped to. Repeat it while the typing lasts: it ends after 6 s."""
        room = self._rooms.get(thread_id)
        if room is None or user_id not in room.tabs:
            return
        before = user_id in room.typing_until
        if typing:
            room.typing_until[user_id] = self._clock.monotonic() + TYPING_S
        else:
            room.typing_until.pop(user_id, None)
        if before != typing:
            self._tell(thread_id)

    def sweep(self) -> float | None:
        """End the typing of whoever has paused; the seconds until this is needed again (None: nobody types)."""
        now = self._clock.monotonic()
        for thread_id, room in list(self._rooms.items()):
            paused = [user_id for user_id, until in room.typing_until.items() if until <= now]
            for user_id in paused:
                del room.typing_until[user_id]
            if paused:
                self._tell(thread_id)
        ends = [until for room in self._rooms.values() for until in room.typing_until.values()]
        return min(ends) - now if ends else None

    def present(self, thread_id: str) -> EphemeralPresence:
        """Who watches (by name) and who types (user ids) in the thread at this moment."""
        room = self._rooms.get(thread_id, _Room())
        now = self._clock.monotonic()
        watching = sorted(room.members.values(), key=lambda member: (member.name, member.user_id))
        typing = sorted(user_id for user_id, until in room.typing_until.items() if until > now)
        if thread_id.startswith(KINDS["project"]):
            return EphemeralPresence(project_id=thread_id, watching=watching, typing=[])
        return EphemeralPresence(thread_id=thread_id, watching=watching, typing=typing)

    def statistics(self) -> dict[str, int]:
        """How many threads and projects are watched, and in how many tabs."""
        return {"threads": len(self._rooms), "tabs": sum(room.tabs.total() for room in self._rooms.values())}

    def _leave(self, thread_id: str, user_id: str) -> None:
        room = self._rooms[thread_id]
        room.tabs[user_id] -= 1
        if room.tabs[user_id]:
            return
        del room.tabs[user_id], room.members[user_id]
        room.typing_until.pop(user_id, None)
        if not room.tabs:
            del self._rooms[thread_id]
        self._tell(thread_id)

    def _tell(self, thread_id: str) -> None:
        for listener in self._listeners:
            listener(thread_id)
