"""The rules of locks never give two drivers: of a thread or of a section, whatever people do in whichever order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from outlast.base.errors import Conflict, LockNotHeld, ThreadBusy
from outlast.kernel.locks import rules
from outlast.kernel.locks.rules import Lock, Standing

TTL = timedelta(hours=1)
PEOPLE = ("alice", "bob", "carol")
_people = st.sampled_from(PEOPLE)


class OneDriver(RuleBasedStateMachine):
    """One lock and three people. `promised` is until when each was told that they drive; a run of the holder's (`live`)
    keeps the lock beyond that."""

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
        self.lock: Lock | None = None
        self.promised: dict[str, datetime] = {}
        self.live = False

    def drives(self, user: str) -> bool:
        """Whether this user was told so, and nothing has ended it since."""
        mine = self.lock is not None and self.lock.holder_id == user
        return user in self.promised and (self.now < self.promised[user] or (self.live and mine))

    @rule(user=_people)
    def acquire(self, user: str) -> None:
        others = [one for one in PEOPLE if one != user and self.drives(one)]
        try:
            self.lock, _ = rules.acquire(self.lock, user, self.now, TTL, live=self.live)
        except Conflict:
            assert others, f"{user} was refused though nobody else drives"
            return
        assert not others, f"{user} drives beside {others}"
        if user not in self.promised:
            self.live = False
        self.promised = {user: self.lock.expires_at}

    @rule(user=_people)
    def release(self, user: str) -> None:
        try:
            change = rules.release(self.lock, user, self.now, live=self.live)
        except Conflict as refused:
            busy = isinstance(refused, ThreadBusy)
            assert busy == (self.lock is not None and self.lock.holder_id == user)
            return
        if change == "released":
            assert self.lock is not None
            assert self.lock.holder_id == user, "somebody let go of another's lock"
            self.lock, self.promised = None, {}

    @rule(user=_people)
    def request(self, user: str) -> None:
        try:
            asked = rules.request(self.lock, user, self.now, live=self.live)
        except LockNotHeld:
            return
        assert self.lock is not None
        assert (asked.holder_id, asked.expires_at) == (self.lock.holder_id, self.lock.expires_at)
        self.lock = asked

    @rule(user=_people, to=_people)
    def hand_over(self, user: str, to: str) -> None:
        try:
            given = rules.hand_over(self.lock, user, to, self.now, TTL, live=self.live)
        except Conflict:
            return
        assert self.lock is not None
        assert self.lock.holder_id == user, "somebody gave away another's lock"
        self.lock, self.promised = given, {to: given.expires_at}

    @rule()
    def start_a_run(self) -> None:
        """Whoever drives may; whoever does not cannot."""
        self.live = self.lock is not None and self.drives(self.lock.holder_id)

    @rule()
    def end_the_run(self) -> None:
        self.live = False

    @rule(minutes=st.sampled_from([1, 30, 59, 60, 61, 200]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @invariant()
    def there_is_one_driver_at_most(self) -> None:
        assert sum(self.drives(user) for user in PEOPLE) <= 1
        states = [rules.standing(self.lock, user, self.now, live=self.live) for user in PEOPLE]
        assert states.count(Standing.YOURS) <= 1
        for user, state in zip(PEOPLE, states, strict=True):
            if self.drives(user):
                assert state is Standing.YOURS
                for other, seen in zip(PEOPLE, states, strict=True):
                    assert other == user or seen is Standing.THEIRS


TestLocksHaveOneDriver = OneDriver.TestCase
