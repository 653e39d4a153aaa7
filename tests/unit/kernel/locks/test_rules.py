"""The playbook of locks: who asks in which state, and what must come out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import Conflict, LockNotHeld, ThreadBusy, ThreadLocked
from outlast.kernel.locks import rules
from outlast.kernel.locks.rules import Lock, Standing

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TTL = timedelta(hours=1)
HELD = Lock("alice", NOW - timedelta(minutes=30), NOW + timedelta(minutes=30))
EXPIRED = Lock("alice", NOW - timedelta(hours=2), NOW)


@pytest.mark.parametrize(
    ("lock", "user", "live", "expected"),
    [
        (None, "alice", False, Standing.FREE),
        (HELD, "alice", False, Standing.YOURS),
        (EXPIRED, "alice", False, Standing.YOURS),
        (HELD, "bob", False, Standing.THEIRS),
        (EXPIRED, "bob", False, Standing.EXPIRED),
        (EXPIRED, "bob", True, Standing.THEIRS),
    ],
)
def test_what_a_lock_is_to_somebody(lock: Lock | None, user: str, live: bool, expected: Standing) -> None:
    assert rules.standing(lock, user, NOW, live=live) is expected


@pytest.mark.parametrize(
    ("lock", "user", "live", "change", "since"),
    [
        (None, "alice", False, "acquired", NOW),
        (HELD, "alice", False, "refreshed", HELD.acquired_at),
        (EXPIRED, "alice", False, "acquired", NOW),
        (EXPIRED, "alice", True, "refreshed", EXPIRED.acquired_at),
        (EXPIRED, "bob", False, "taken_over", NOW),
    ],
)
def test_whoever_may_drive_holds_the_lock_for_a_whole_life_from_now(
    lock: Lock | None, user: str, live: bool, change: str, since: datetime
) -> None:
    after, made = rules.acquire(lock, user, NOW, TTL, live=live)
    assert (after.holder_id, after.acquired_at, after.expires_at, made) == (user, since, NOW + TTL, change)


@pytest.mark.parametrize(("lock", "live"), [(HELD, False), (HELD, True), (EXPIRED, True)])
def test_a_lock_that_somebody_else_holds_is_refused(lock: Lock, live: bool) -> None:
    with pytest.raises(ThreadLocked):
        rules.acquire(lock, "bob", NOW, TTL, live=live)
    with pytest.raises(ThreadLocked):
        rules.release(lock, "bob", NOW, live=live)


def test_refreshing_keeps_a_request_and_taking_over_drops_it() -> None:
    asked = rules.request(HELD, "bob", NOW, live=False)
    refreshed, _ = rules.acquire(asked, "alice", NOW, TTL, live=False)
    assert refreshed.requested_by == "bob"
    taken, _ = rules.acquire(asked, "carol", NOW + TTL, TTL, live=False)
    assert taken.requested_by is None


def test_only_the_holder_releases_and_not_while_a_run_of_theirs_works() -> None:
    assert rules.release(HELD, "alice", NOW, live=False) == "released"
    assert rules.release(EXPIRED, "bob", NOW, live=False) is None
    assert rules.release(None, "alice", NOW, live=False) is None
    with pytest.raises(ThreadBusy):
        rules.release(HELD, "alice", NOW, live=True)


def test_the_last_one_to_ask_is_remembered() -> None:
    twice = rules.request(rules.request(HELD, "bob", NOW, live=False), "carol", NOW, live=False)
    assert (twice.holder_id, twice.requested_by, twice.requested_at) == ("alice", "carol", NOW)


@pytest.mark.parametrize(("lock", "user"), [(None, "bob"), (HELD, "alice"), (EXPIRED, "bob")])
def test_there_must_be_somebody_else_to_ask(lock: Lock | None, user: str) -> None:
    with pytest.raises(LockNotHeld) as refused:
        rules.request(lock, user, NOW, live=False)
    assert refused.value.hint


def test_the_holder_hands_over_a_fresh_lock() -> None:
    asked = rules.request(HELD, "bob", NOW, live=False)
    assert rules.hand_over(asked, "alice", "bob", NOW, TTL, live=False) == Lock("bob", NOW, NOW + TTL)


@pytest.mark.parametrize(
    ("lock", "user", "to", "live", "error"),
    [
        (None, "alice", "bob", False, LockNotHeld),
        (HELD, "bob", "carol", False, LockNotHeld),
        (HELD, "alice", "alice", False, LockNotHeld),
        (HELD, "alice", "bob", True, ThreadBusy),
    ],
)
def test_a_hand_over_that_cannot_be(lock: Lock | None, user: str, to: str, live: bool, error: type[Exception]) -> None:
    with pytest.raises(error):
        rules.hand_over(lock, user, to, NOW, TTL, live=live)


_people = st.sampled_from(["alice", "bob", "carol"])
_moves = st.tuples(
    st.sampled_from(["acquire", "release", "request", "hand_over"]),
    _people,
    _people,
    st.booleans(),
    st.integers(0, 5000),
)


@given(st.lists(_moves, max_size=40))
def test_no_sequence_takes_an_unexpired_lock_from_its_holder_without_their_doing(
    moves: list[tuple[str, str, str, bool, int]],
) -> None:
    lock: Lock | None = None
    now = NOW
    for move, user, other, at_work, seconds in moves:
        now += timedelta(seconds=seconds)
        live = at_work and lock is not None
        before = lock
        try:
            if move == "acquire":
                lock, _ = rules.acquire(lock, user, now, TTL, live=live)
            elif move == "release":
                lock = None if rules.release(lock, user, now, live=live) else lock
            elif move == "request":
                lock = rules.request(lock, user, now, live=live)
            else:
                lock = rules.hand_over(lock, user, other, now, TTL, live=live)
        except Conflict:
            assert lock is before
        driver_changed = before is not None and (lock is None or lock.holder_id != before.holder_id)
        if driver_changed and before is not None:
            assert user == before.holder_id or (before.expires_at <= now and not live)


def test_who_does_not_drive_is_kept_out_of_the_files_only_while_somebody_else_does() -> None:
    def kept_out(lock: Lock | None, user: str, now: datetime = NOW, *, live: bool = False) -> bool:
        return rules.standing(lock, user, now, live=live) is Standing.THEIRS

    lock = Lock("usr_1", NOW, NOW + timedelta(hours=1))
    assert not kept_out(None, "usr_2")
    assert not kept_out(lock, "usr_1")
    assert kept_out(lock, "usr_2")
    assert not kept_out(lock, "usr_2", NOW + timedelta(hours=2))
    assert kept_out(lock, "usr_2", NOW + timedelta(hours=2), live=True)
