"""Presence on other nodes: entries that their nodes repeat, each until its lease ends."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from outlast.base.clock import Clock
from outlast.base.records import dataclass
from outlast.kernel.projects.shapes import MemberData

LEASE_S: Final = 25.0  # nodes repeat every 10 s; two messages may be lost


class Shown(NamedTuple):
    """One user in a room as a node tells it to the others. `member` None: not (or no longer) there. `project_id` of a
    document's room; `typing_s`: how long they still count as typing."""

    room_id: str
    user_id: str
    member: MemberData | None
    project_id: str = ""
    block_id: str | None = None
    typing_s: float = 0.0


@dataclass(slots=True)
class Remote:
    """A user in a room, on another node, until a time of the monotonic clock."""

    member: MemberData
    block_id: str | None
    typing_until: float
    until: float


class Elsewhere:
    """What other nodes told. In memory: an entry per user, room and node, as many as there are in all nodes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rooms: dict[str, dict[tuple[str, str], Remote]] = {}

    def take(self, node: str, told: Shown) -> bool:
        """Take in what a node tells; True if others may see a difference. `node` is "" where only the newest of all
        nodes counts."""
        now, key = self._clock.monotonic(), (node, told.user_id)
        room = self._rooms.setdefault(told.room_id, {})
        before = room.pop(key, None)
        if told.member is not None:
            room[key] = Remote(told.member, told.block_id, now + told.typing_s, now + LEASE_S)
        if not room:
            del self._rooms[told.room_id]
        after = room.get(key)
        return _seen(before, now) != _seen(after, now)

    def of(self, room_id: str) -> Iterator[tuple[str, Remote]]:
        """The users in a room, with their ids; the same user once per node."""
        for (_, user_id), here in self._rooms.get(room_id, {}).items():
            yield user_id, here

    def has(self, room_id: str, user_id: str) -> bool:
        return any(one == user_id for one, _ in self.of(room_id))

    def member(self, room_id: str, user_id: str) -> MemberData | None:
        return next((here.member for one, here in self.of(room_id) if one == user_id), None)

    def __contains__(self, room_id: str) -> bool:
        return room_id in self._rooms

    def sweep(self, now: float) -> tuple[dict[str, list[str]], float | None]:
        """Forget what was not repeated: changed rooms with the users who are gone there, and when the next entry or its
        typing ends."""
        changed: dict[str, list[str]] = {}
        ends: list[float] = []
        for room_id, room in list(self._rooms.items()):
            for key, here in list(room.items()):
                if here.until <= now:
                    del room[key]
                    changed.setdefault(room_id, []).append(key[1])
                    continue
                if 0 < here.typing_until <= now:
                    here.typing_until = 0
                    changed.setdefault(room_id, [])
                ends += [until for until in (here.typing_until, here.until) if until > now]
            if not room:
                del self._rooms[room_id]
        return changed, min(ends, default=None)


def _seen(here: Remote | None, now: float) -> tuple[MemberData, str | None, bool] | None:
    return None if here is None else (here.member, here.block_id, here.typing_until > now)
