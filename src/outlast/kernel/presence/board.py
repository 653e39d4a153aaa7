"""The board on which this server notes who watches and who types in which thread, who has which project open, and who
is where in which document."""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from outlast.base.clock import Clock
from outlast.base.ids import KINDS
from outlast.kernel.presence.shapes import EphemeralPresence
from outlast.kernel.presence.visits import Visits
from outlast.kernel.projects.shapes import MemberData

TYPING_S: Final = 6.0
GRACE_S: Final = 6.0
"""How long a user is still shown in a document whose connection to its project ended or has not begun: it may
reconnect."""


@dataclass(slots=True)
class _Room:
    tabs: Counter[str] = field(default_factory=Counter)
    members: dict[str, MemberData] = field(default_factory=dict)
    typing_until: dict[str, float] = field(default_factory=dict)


class PresenceBoard:
    """Who watches and types, per thread; who is there, per project (its id stands where a thread's does); who is where,
    per document.

    Memory: an entry per watched thread or project, for as long as it is followed; a cache that the followers
    rebuild by connecting. `on_change` listeners are called, on the event loop, with the id of a thread, project or
    document whose presence changed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rooms: dict[str, _Room] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._visits = Visits()

    def on_change(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    @contextmanager
    def watching(self, thread_id: str, member: MemberData) -> Iterator[None]:
        """The member watches the thread (in one more tab) while this context is open."""
        room = self._rooms.setdefault(thread_id, _Room())
        room.tabs[member.user_id] += 1
        room.members[member.user_id] = member
        if room.tabs[member.user_id] == 1:
            self._visits.follow(thread_id, member.user_id, None)
            self._notify(thread_id)
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
            self._notify(thread_id)

    def move_to(
        self, document_id: str, project_id: str, member: MemberData, block_id: str | None, *, typing: bool
    ) -> None:
        """A member has a document open and is at a block of it (None: at none). Shown until they leave, or no longer
        follow the document's project; typing ends after 6 s unless this is repeated."""
        now, follows = self._clock.monotonic(), member.user_id in self._rooms.get(project_id, _Room()).tabs
        until, gone_at = now + TYPING_S if typing else None, None if follows else now + GRACE_S
        moved = self._visits.move(document_id, project_id, member, block_id, typing_until=until, gone_at=gone_at)
        self._notify(*moved)

    def leave_document(self, document_id: str, user_id: str) -> None:
        """A member closed a document. Repeating is harmless."""
        self._notify(*self._visits.leave(document_id, user_id))

    def sweep(self) -> float | None:
        """End the typing of those who have paused, and the presence of those who are gone; the seconds until this is
        needed again (None: nobody types or goes)."""
        now = self._clock.monotonic()
        self._notify(*self._visits.sweep(now))
        for thread_id, room in list(self._rooms.items()):
            paused = [user_id for user_id, until in room.typing_until.items() if until <= now]
            for user_id in paused:
                del room.typing_until[user_id]
            if paused:
                self._notify(thread_id)
        ends = [until for room in self._rooms.values() for until in room.typing_until.values()]
        ends += self._visits.deadlines()
        return min(ends) - now if ends else None

    def present(self, thread_id: str) -> EphemeralPresence:
        """Who watches (by name) and who types (user ids) in the thread at this moment, or who is in the project or
        document."""
        if not thread_id.startswith((KINDS["thread"], KINDS["project"])):
            return self._visits.present(thread_id)
        room = self._rooms.get(thread_id, _Room())
        now = self._clock.monotonic()
        watching = sorted(room.members.values(), key=lambda member: (member.name, member.user_id))
        typing = sorted(user_id for user_id, until in room.typing_until.items() if until > now)
        if thread_id.startswith(KINDS["project"]):
            return EphemeralPresence(project_id=thread_id, watching=watching, typing=[])
        return EphemeralPresence(thread_id=thread_id, watching=watching, typing=typing)

    def statistics(self) -> dict[str, int]:
        """How many threads and projects are watched, and in how many tabs; how many documents are open."""
        tabs = sum(room.tabs.total() for room in self._rooms.values())
        return {"threads": len(self._rooms), "tabs": tabs, "documents": len(self._visits)}

    def _leave(self, thread_id: str, user_id: str) -> None:
        room = self._rooms[thread_id]
        room.tabs[user_id] -= 1
        if room.tabs[user_id]:
            return
        del room.tabs[user_id], room.members[user_id]
        room.typing_until.pop(user_id, None)
        if not room.tabs:
            del self._rooms[thread_id]
        self._visits.follow(thread_id, user_id, self._clock.monotonic() + GRACE_S)
        self._notify(thread_id)

    def _notify(self, *room_ids: str) -> None:
        for room_id in room_ids:
            for listener in self._listeners:
                listener(room_id)


def typing_ends(presence: PresenceBoard) -> Callable[[], Coroutine[Any, Any, None]]:
    """A task that shows those who stopped typing without saying so as no longer typing."""
    changed = anyio.Event()

    def note(_thread_id: str) -> None:
        changed.set()

    async def run() -> None:
        nonlocal changed
        while True:
            changed = anyio.Event()
            with anyio.move_on_after(presence.sweep()):
                await changed.wait()

    presence.on_change(note)
    return run
