"""The life of a lock. Pure: the present lock and who asks go in, the next lock comes out.

`live` says whether a run of the holder is queued or running: such a lock neither expires nor changes hands.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, NamedTuple

from outlast.base.errors import LockNotHeld, ThreadBusy, ThreadLocked


class Standing(StrEnum):
    """What a lock is to one person."""

    FREE = "free"
    YOURS = "yours"
    THEIRS = "theirs"
    EXPIRED = "expired"


class Lock(NamedTuple):
    """Who drives, since when, until when, and who asked to."""

    holder_id: str
    acquired_at: datetime
    expires_at: datetime
    requested_by: str | None = None
    requested_at: datetime | None = None


Change = Literal["acquired", "refreshed", "released", "requested", "handed_over", "taken_over"]


def standing(lock: Lock | None, user_id: str, now: datetime, *, live: bool) -> Standing:
    """What the lock is to this user at this moment."""
    if lock is None:
        return Standing.FREE
    if lock.holder_id == user_id:
        return Standing.YOURS
    return Standing.THEIRS if live or now < lock.expires_at else Standing.EXPIRED


def acquire(lock: Lock | None, user_id: str, now: datetime, ttl: timedelta, *, live: bool) -> tuple[Lock, Change]:
    """The user drives: a free lock is acquired, one's own refreshed, an expired one taken over; else `ThreadLocked`."""
    match standing(lock, user_id, now, live=live):
        case Standing.THEIRS:
            raise refusal(lock)
        case Standing.YOURS if lock is not None and (live or now < lock.expires_at):
            return lock._replace(expires_at=now + ttl), "refreshed"
        case Standing.EXPIRED:
            return Lock(user_id, now, now + ttl), "taken_over"
        case _:
            return Lock(user_id, now, now + ttl), "acquired"


def release(lock: Lock | None, user_id: str, now: datetime, *, live: bool) -> Change | None:
    """The user stops driving; None where there is nothing to release. Raises `ThreadBusy` while the user's run works,
    `ThreadLocked` when another user holds it."""
    match standing(lock, user_id, now, live=live):
        case Standing.YOURS:
            _demand_rest(live)
            return "released"
        case Standing.THEIRS:
            raise refusal(lock)
        case _:
            return None


def request(lock: Lock | None, user_id: str, now: datetime, *, live: bool) -> Lock:
    """The user asks the holder for the lock; asking again is harmless, the last one to ask is remembered. Raises
    `LockNotHeld` where there is nobody to ask."""
    state = standing(lock, user_id, now, live=live)
    if state is Standing.THEIRS and lock is not None:
        return lock._replace(requested_by=user_id, requested_at=now)
    hints = {
        Standing.FREE: "It is free: acquire it, or start a run.",
        Standing.YOURS: "You drive already.",
        Standing.EXPIRED: "It has expired: take it over.",
    }
    raise LockNotHeld("Nobody else holds this lock.", hint=hints[state], state=state.value)


def hand_over(lock: Lock | None, user_id: str, to_user_id: str, now: datetime, ttl: timedelta, *, live: bool) -> Lock:
    """The holder makes another user the driver. Raises `LockNotHeld` unless the lock is the user's, `ThreadBusy` while
    the user's run works."""
    if standing(lock, user_id, now, live=live) is not Standing.YOURS:
        raise LockNotHeld("Only the one who holds a lock can hand it over.", hint="Ask for it with a request.")
    if to_user_id == user_id:
        raise LockNotHeld("The lock is yours already.", hint="Name another member.")
    _demand_rest(live)
    return Lock(to_user_id, now, now + ttl)


def refusal(lock: Lock | None) -> ThreadLocked:
    """The error for the second to come; the store adds the names."""
    return ThreadLocked("Somebody else drives this thread.", holder_id=lock.holder_id if lock else None)


def _demand_rest(live: bool) -> None:
    if live:
        raise ThreadBusy(
            "Your run is still at work here and keeps the lock.", hint="Wait for it or cancel it, then let go."
        )
