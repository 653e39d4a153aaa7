"""The board of watchers and typing members per thread, members per project, and their places in documents: those of
this node, and what other nodes tell of theirs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

from outlast.base.clock import Clock
from outlast.base.ids import KINDS
from outlast.base.records import dataclass
from outlast.kernel.presence.elsewhere import Elsewhere, Remote, Shown
from outlast.kernel.presence.shapes import EphemeralPresence
from outlast.kernel.projects.shapes import MemberData

TYPING_S: Final = 6.0
GRACE_S: Final = 6.0
"""The time for which a user is still shown in a document after their connection to its project ended, or before it
begins: it may reconnect."""


@dataclass(slots=True)
class _Presence:
    """One user in a room. `tabs` counts their connections to a thread or project; in a document, which has no
    connections of its own, `block_id` is their place, and `gone_at` the time at which they are removed, or None while
    they follow its project."""

    member: MemberData
    tabs: int = 0
    block_id: str | None = None
    typing_until: float | None = None
    gone_at: float | None = None

    def shown(self) -> tuple[MemberData, str | None, bool]:
        return self.member, self.block_id, self.typing_until is not None


class PresenceBoard:
    """Watchers and typing members per thread, members per project, and places per document. Each is a room with its own
    id.

    In memory: an entry per followed thread or project and per open document; a cache that clients rebuild by connecting
    and by moving. `on_change` listeners are called, on the event loop, with the id of a room whose presence changed;
    `on_own_change` listeners with the ids of a room, a user and the room's project if it is a document, when other
    nodes have to know (`own`, `take`).
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rooms: dict[str, dict[str, _Presence]] = {}
        self._projects: dict[str, str] = {}  # of the documents among them
        self._elsewhere = Elsewhere(clock)
        self._listeners: list[Callable[[str], None]] = []
        self._on_own_change: list[Callable[[str, str, str], None]] = []
        self._changed = anyio.Event()

    def on_change(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def on_own_change(self, listener: Callable[[str, str, str], None]) -> None:
        self._on_own_change.append(listener)

    @contextmanager
    def watching(self, room_id: str, member: MemberData) -> Iterator[None]:
        """The member follows the thread or project (in one more tab) while this context is open."""
        here = self._rooms.setdefault(room_id, {}).setdefault(member.user_id, _Presence(member))
        here.member, here.gone_at = member, None
        here.tabs += 1
        if here.tabs == 1:
            self._follow(room_id, member.user_id, None)
            self._own_changed(room_id, member.user_id)
        try:
            yield
        finally:
            here.tabs -= 1
            if not here.tabs:
                self._remove(room_id, member.user_id)
                self._unfollow(room_id, member.user_id)
                self._own_changed(room_id, member.user_id)

    def type_in(self, thread_id: str, user_id: str, typing: bool) -> None:
        """A watching member types, or has stopped typing. Repeat it while the typing lasts: it ends after 6 s."""
        here = self._rooms.get(thread_id, {}).get(user_id)
        until = self._clock.monotonic() + TYPING_S
        if here is None:
            member = self._elsewhere.member(thread_id, user_id)  # they watch on another node
            if member is None or not typing:
                return
            here = self._rooms.setdefault(thread_id, {})[user_id] = _Presence(member)
        if not here.tabs:
            here.gone_at = until if typing else self._clock.monotonic()
        before = here.typing_until is not None
        here.typing_until = until if typing else None
        self._own_changed(thread_id, user_id)
        if before != typing:
            self._notify(thread_id)

    def move_to(
        self, document_id: str, project_id: str, member: MemberData, block_id: str | None, *, typing: bool
    ) -> None:
        """A member has a document open at a block of it, or at none (None). Shown until they leave, or no longer follow
        the document's project; typing ends after 6 s unless this is repeated."""
        now, follows = self._clock.monotonic(), self._is_in(project_id, member.user_id)
        here = _Presence(member, block_id=block_id)
        here.typing_until, here.gone_at = now + TYPING_S if typing else None, None if follows else now + GRACE_S
        room = self._rooms.setdefault(document_id, {})
        before, room[member.user_id] = room.get(member.user_id), here
        self._projects[document_id] = project_id
        self._elsewhere.take("", Shown(document_id, member.user_id, None))  # of all nodes, the last place counts
        self._own_changed(document_id, member.user_id)
        if before is None or before.shown() != here.shown():
            self._notify(document_id)

    def leave_document(self, document_id: str, user_id: str) -> None:
        """A member closed a document. Repeating is harmless."""
        if user_id in self._rooms.get(document_id, {}):
            self._remove(document_id, user_id)
        elif not self._elsewhere.take("", Shown(document_id, user_id, None)):
            return
        self._own_changed(document_id, user_id)
        self._notify(document_id)

    def own(self, room_id: str, user_id: str, project_id: str) -> Shown:
        """What other nodes have to know of a user in a room on this node."""
        here = self._rooms.get(room_id, {}).get(user_id)
        if here is None:
            return Shown(room_id, user_id, None, project_id)
        typing_s = 0.0 if here.typing_until is None else max(0.0, here.typing_until - self._clock.monotonic())
        return Shown(room_id, user_id, here.member, project_id, here.block_id, typing_s)

    def tell_all(self) -> None:
        """Tell everything of this node again."""
        for room_id, room in self._rooms.items():
            for user_id in room:
                self._own_changed(room_id, user_id)

    def take(self, node: str, told: Shown) -> None:
        """Another node tells who is there, or no longer there. Forgotten unless it repeats it."""
        was_in = self._is_in(told.room_id, told.user_id)
        if told.project_id:  # a document: of all nodes, the last place counts
            node = ""
            if told.member is not None:
                self._projects[told.room_id] = told.project_id
            if told.user_id in self._rooms.get(told.room_id, {}):
                self._remove(told.room_id, told.user_id)
        has_changed = self._elsewhere.take(node, told)
        is_in = self._is_in(told.room_id, told.user_id)
        if is_in and not was_in:
            self._follow(told.room_id, told.user_id, None)
        elif was_in and not is_in:
            self._unfollow(told.room_id, told.user_id)
        elif has_changed:
            self._notify(told.room_id)
        self._changed.set()

    def sweep(self) -> float | None:
        """End the typing of members who have paused, and remove members who are gone. Returns the seconds until the
        next call is needed, or None if no member types or goes."""
        now, ends = self._clock.monotonic(), []
        gone, next_end = self._elsewhere.sweep(now)
        for room_id, user_ids in gone.items():
            for user_id in user_ids:
                if not self._is_in(room_id, user_id):
                    self._unfollow(room_id, user_id)
            self._notify(room_id)
        ends += [] if next_end is None else [next_end]
        for room_id, room in list(self._rooms.items()):
            changed = False
            for user_id, here in list(room.items()):
                if here.gone_at is not None and here.gone_at <= now:
                    self._remove(room_id, user_id)
                    self._own_changed(room_id, user_id)
                    changed = True
                    continue
                if here.typing_until is not None and here.typing_until <= now:
                    here.typing_until = None
                    changed = True
                ends += [until for until in (here.typing_until, here.gone_at) if until is not None]
            if changed:
                self._notify(room_id)
        return min(ends) - now if ends else None

    async def run(self) -> None:
        """Until cancelled: `sweep` whenever it is due."""
        while True:
            self._changed = anyio.Event()
            with anyio.move_on_after(self.sweep()):
                await self._changed.wait()

    def present(self, room_id: str) -> EphemeralPresence:
        """Watchers (by name) and typing users (ids) of the thread at this moment, or the members in the project or
        document, with their places."""
        kind, now = room_id.partition("_")[0], self._clock.monotonic()
        there, here = self._elsewhere.of(room_id), self._rooms.get(room_id, {}).items()
        shown: list[tuple[str, Remote | _Presence]] = [*there, *here]  # of the same user, the later counts
        members = {user_id: one.member for user_id, one in shown}
        places = {user_id: one.block_id for user_id, one in shown}
        return EphemeralPresence(
            thread_id=room_id if kind == KINDS["thread"] else "",
            project_id=room_id if kind == KINDS["project"] else self._projects.get(room_id, ""),
            document_id=room_id if kind not in (KINDS["thread"], KINDS["project"]) else "",
            watching=sorted(members.values(), key=lambda member: (member.name, member.user_id)),
            typing=sorted({user_id for user_id, one in shown if (one.typing_until or 0.0) > now}),
            places={user_id: place for user_id, place in places.items() if place is not None},
        )

    def statistics(self) -> dict[str, int]:
        """The numbers of watched threads and projects, of their tabs, and of open documents."""
        documents = sum(room_id in self._projects for room_id in self._rooms)
        tabs = sum(here.tabs for room in self._rooms.values() for here in room.values())
        return {"threads": len(self._rooms) - documents, "tabs": tabs, "documents": documents}

    def _follow(self, room_id: str, user_id: str, gone_at: float | None) -> None:
        """The user follows the room again (None), or stopped following it: in documents of that project they are shown
        until `gone_at`."""
        for document_id, project_id in self._projects.items():
            if project_id == room_id and user_id in self._rooms.get(document_id, {}):
                self._rooms[document_id][user_id].gone_at = gone_at
        self._notify(room_id)

    def _unfollow(self, room_id: str, user_id: str) -> None:
        if not self._is_in(room_id, user_id):
            self._follow(room_id, user_id, self._clock.monotonic() + GRACE_S)
        else:
            self._notify(room_id)

    def _is_in(self, room_id: str, user_id: str) -> bool:
        return user_id in self._rooms.get(room_id, {}) or self._elsewhere.has(room_id, user_id)

    def _own_changed(self, room_id: str, user_id: str) -> None:
        for listener in self._on_own_change:
            listener(room_id, user_id, self._projects.get(room_id, ""))

    def _remove(self, room_id: str, user_id: str) -> None:
        del self._rooms[room_id][user_id]
        if not self._rooms[room_id]:
            del self._rooms[room_id]

    def _notify(self, room_id: str) -> None:
        self._changed.set()
        for listener in self._listeners:
            listener(room_id)
        if room_id not in self._rooms and room_id not in self._elsewhere:
            self._projects.pop(room_id, None)  # not earlier: the listeners look up the document's project
