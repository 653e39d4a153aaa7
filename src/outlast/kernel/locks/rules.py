"""The life of a lock. Pure: takes the current lock and the caller, returns the next lock.

`live` is true while a run of the holder is queued or running: such a lock neither expires nor changes hands.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, NamedTuple

from outlast.base.errors import LockNotHeld, ThreadBusy, ThreadLocked


class Standing(StrEnum):
    """The state of a lock for one user."""

    FREE = "free"
    YOURS = "yours"
    THEIRS = "theirs"
    EXPIRED = "expired"


class Lock(NamedTuple):
    """The driver, the time of taking, the expiry, and the user who asked for the lock."""

    holder_id: str
    acquired_at: datetime
    expires_at: datetime
    requested_by: str | None = None
    requested_at: datetime | None = None


Change = Literal["acquired", "refreshed", "released", "requested", "handed_over", "taken_over"]


def standing(lock: Lock | None, user_id: str, now: datetime, *, live: bool) -> Standing:
    """The state of the lock for this user at this moment."""
    if lock is None:
        return Standing.FREE
    if lock.holder_id == user_id:
        return Standing.YOURS
    return Standing.THEIRS if live or now < lock.expires_at else Standing.EXPIRED


def acquire(lock: Lock | None, user_id: str, now: datetime, ttl: timedelta, *, live: bool) -> tuple[Lock, Change]:
    """The user drives: a free lock is acquired, the user's own refreshed, an expired one taken over; else
    `ThreadLocked`."""
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
    """The user stops driving; None if there is nothing to release. Raises `ThreadBusy` while the user's run works,
    `ThreadLocked` if another user holds it."""
    match standing(lock, user_id, now, live=live):
        case Standing.YOURS:
            _demand_rest(live)
            return "released"
        case Standing.THEIRS:
            raise refusal(lock)
        case _:
            return None


def request(lock: Lock | None, user_id: str, now: datetime, *, live: bool) -> Lock:
    """The user asks the holder for the lock; asking again is harmless, the last user to ask is remembered. Raises
    `LockNotHeld` if no other user holds it."""
    state = standing(lock, user_id, now, live=live)
    if state is Standing.THEIRS and lock is not None:
        return lock._replace(requested_by=user_id, requested_at=now)
    hints = {
        Standing.FREE: "The lock is free: take it, or start a run.",
        Standing.YOURS: "You already drive this thread.",
        Standing.EXPIRED: "The lock has expired: take it over.",
    }
    raise LockNotHeld("No other member holds this lock.", hint=hints[state], state=state.value)


def hand_over(lock: Lock | None, user_id: str, to_user_id: str, now: datetime, ttl: timedelta, *, live: bool) -> Lock:
    """The holder makes another user the driver. Raises `LockNotHeld` unless the lock is the user's, `ThreadBusy` while
    the user's run works."""
    if standing(lock, user_id, now, live=live) is not Standing.YOURS:
        raise LockNotHeld("Only the holder of a lock can hand it over.", hint="Request the lock from its holder.")
    if to_user_id == user_id:
        raise LockNotHeld("You already hold this lock.", hint="Name another member.")
    _demand_rest(live)
    return Lock(to_user_id, now, now + ttl)


def refusal(lock: Lock | None) -> ThreadLocked:
    """The error for a caller who does not hold the lock; the store adds the names."""
    return ThreadLocked("Another member drives this thread.", holder_id=lock.holder_id if lock else None)


def _demand_rest(live: bool) -> None:
    if live:
        raise ThreadBusy(
            "Your run still works here and keeps the lock.",
            hint="Wait for the run or cancel it, then release the lock.",
        )
