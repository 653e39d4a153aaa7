"""The ledger's rules: it always balances, and nothing is spent twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import CreditsNeeded, InvalidSetting
from outlast.kernel.credits import rules
from outlast.kernel.credits.rules import Entry, Kind

RESERVED = {Kind.RESERVE: Entry(Kind.RESERVE, -3, run_id="run_1")}
SETTLED = {**RESERVED, Kind.SETTLE: Entry(Kind.SETTLE, 0, run_id="run_1")}
RELEASED = {**RESERVED, Kind.RELEASE: Entry(Kind.RELEASE, 3, run_id="run_1")}


def test_a_month_begins_with_what_is_left_expiring_and_the_allowance_granted() -> None:
    assert rules.rollover(7, "2026-10", "2026-11", 25) == [
        Entry(Kind.EXPIRE, -7, period="2026-11"),
        Entry(Kind.GRANT, 25, period="2026-11"),
    ]
    assert rules.rollover(0, None, "2026-11", 25) == [Entry(Kind.GRANT, 25, period="2026-11")]
    assert rules.rollover(7, "2026-11", "2026-11", 25) == []
    assert rules.rollover(0, None, "2026-11", None) == []


@pytest.mark.parametrize(
    ("moment", "period", "reset"),
    [
        (datetime(2026, 11, 30, 23, 59, tzinfo=UTC), "2026-11", datetime(2026, 12, 1, tzinfo=UTC)),
        (datetime(2026, 12, 1, tzinfo=UTC), "2026-12", datetime(2027, 1, 1, tzinfo=UTC)),
    ],
)
def test_months_turn_at_midnight_utc(moment: datetime, period: str, reset: datetime) -> None:
    assert (rules.period_of(moment), rules.next_reset(moment)) == (period, reset)


def test_a_run_holds_its_price_and_an_unlimited_plan_holds_nothing() -> None:
    assert rules.reserve(3, "run_1", 3) == Entry(Kind.RESERVE, -3, run_id="run_1")
    assert rules.reserve(None, "run_1", 3) == Entry(Kind.RESERVE, 0, run_id="run_1")


def test_a_run_that_costs_more_than_is_left_is_refused_with_both_figures() -> None:
    with pytest.raises(CreditsNeeded, match="costs 4 credits; you have 3") as refused:
        rules.reserve(3, "run_1", 4)
    assert refused.value.fields == {"price": 4, "balance": 3}


def test_a_reservation_is_closed_once() -> None:
    assert rules.settle(RESERVED) == Entry(Kind.SETTLE, 0, run_id="run_1")
    assert rules.release(RESERVED, same_period=True) == Entry(Kind.RELEASE, 3, run_id="run_1")
    for closed in (SETTLED, RELEASED, {}):
        assert rules.settle(closed) is None
        assert rules.release(closed, same_period=True) is None


def test_what_is_released_after_its_month_has_expired_with_it() -> None:
    assert rules.release(RESERVED, same_period=False) == Entry(Kind.RELEASE, 0, run_id="run_1")


def test_only_a_settled_run_has_cost_something() -> None:
    assert [rules.spent(of_run) for of_run in (RESERVED, SETTLED, RELEASED, {})] == [0, 3, 0, 0]


def test_a_plan_that_is_no_longer_configured_is_named() -> None:
    with pytest.raises(InvalidSetting, match="'gold'"):
        rules.allowance_of("gold", {"starter": 25})


_actions = st.tuples(st.sampled_from(["reserve", "settle", "release", "wait"]), st.integers(0, 5), st.integers(0, 9))


def balance_of(entries: list[Entry]) -> int:
    return sum(entry.credits for entry in entries)


@given(st.lists(_actions, max_size=60))
def test_whatever_happens_the_balance_stays_between_nothing_and_the_allowance(
    actions: list[tuple[str, int, int]],
) -> None:
    """Runs are started, settled and released in any order and repeatedly, while months pass."""
    allowance, now = 10, datetime(2026, 11, 20, tzinfo=UTC)
    entries: list[Entry] = []
    reserved_in: dict[str, str] = {}
    for action, number, amount in actions:
        run_id, period = f"run_{number}", rules.period_of(now)
        granted = max((e.period or "" for e in entries if e.kind is Kind.GRANT), default=None)
        entries += rules.rollover(balance_of(entries), granted, period, allowance)
        of_run = {entry.kind: entry for entry in entries if entry.run_id == run_id}
        added: Entry | None = None
        if action == "wait":
            now += timedelta(days=amount * 3)
        elif action == "reserve" and not of_run:
            try:
                added = rules.reserve(balance_of(entries), run_id, amount)
                reserved_in[run_id] = period
            except CreditsNeeded:
                assert amount > balance_of(entries)
        elif action == "settle":
            added = rules.settle(of_run)
        elif action == "release":
            added = rules.release(of_run, same_period=reserved_in.get(run_id) == period)
        entries += [] if added is None else [added]
        assert 0 <= balance_of(entries) <= allowance
    for run_id in reserved_in:
        kinds = [entry.kind for entry in entries if entry.run_id == run_id]
        assert kinds[0] is Kind.RESERVE
        assert len(kinds) == len(set(kinds)) <= 2
