"""The ledger on both databases: it balances, whatever is repeated and whenever the month turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.base.errors import CreditsNeeded
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import change_user
from outlast.kernel.credits import store
from outlast.kernel.credits.rows import LedgerRow
from outlast.kernel.credits.tables import ledger
from tests.factories import make_user

PLANS = {"starter": 25, "pro": 50, "unlimited": None}
NOVEMBER = datetime(2026, 11, 20, 12, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)


def rows(tx: Tx, user_id: str) -> list[tuple[str, int]]:
    found = tx.rows(LedgerRow, sa.select(ledger).where(ledger.c.user_id == user_id).order_by(ledger.c.id))
    return [(row.kind, row.credits) for row in found]


async def test_a_month_is_granted_once_and_the_rest_expires(db: Database) -> None:
    def run(tx: Tx) -> None:
        tx.now = NOVEMBER
        ada = make_user(tx, plan="starter").user_id
        assert store.balance(tx, ada, PLANS) == 25
        assert store.ensure_month(tx, ada, PLANS) == store.ensure_month(tx, ada, PLANS) == 25
        store.reserve(tx, ada, "run_1", 4, PLANS)
        store.settle(tx, "run_1", PLANS)
        tx.now = DECEMBER
        assert store.balance(tx, ada, PLANS) == store.ensure_month(tx, ada, PLANS) == 25
        assert sorted(rows(tx, ada)) == sorted(
            [("grant", 25), ("reserve", -4), ("settle", 0), ("expire", -21), ("grant", 25)]
        )

    await db.write(run)


async def test_reserving_settling_and_releasing_may_be_repeated(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx, plan="starter").user_id
        for _ in range(2):
            store.reserve(tx, ada, "run_1", 4, PLANS)
            store.reserve(tx, ada, "run_2", 6, PLANS)
        assert store.credits_data(tx, ada, PLANS, 5).reserved == 10
        for _ in range(2):
            assert store.settle(tx, "run_1", PLANS) == (4, 15)
        assert store.release(tx, "run_1", PLANS) == 15, "what was settled stays settled"
        for _ in range(2):
            assert store.release(tx, "run_2", PLANS) == 21
        assert store.settle(tx, "run_2", PLANS) == (0, 21), "what was released stays released"
        assert store.settle(tx, "run_unknown", PLANS) == (0, None)
        assert store.release(tx, "run_unknown", PLANS) is None
        shown = store.credits_data(tx, ada, PLANS, 21)
        assert shown.allowance == PLANS["starter"]
        assert (shown.plan, shown.balance, shown.reserved, shown.low) == ("starter", 21, 0, True)

    await db.write(run)


async def test_a_run_that_ends_in_the_next_month_gives_nothing_back(db: Database) -> None:
    def run(tx: Tx) -> None:
        tx.now = NOVEMBER
        ada = make_user(tx, plan="starter").user_id
        store.reserve(tx, ada, "run_1", 4, PLANS)
        tx.now = DECEMBER
        assert store.release(tx, "run_1", PLANS) == 25
        assert store.balance(tx, ada, PLANS) == 25

    await db.write(run)


async def test_who_has_too_little_is_refused_and_nothing_is_held(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx, plan="starter").user_id
        with pytest.raises(CreditsNeeded, match="costs 26 credits; you have 25"):
            store.reserve(tx, ada, "run_1", 26, PLANS)
        assert rows(tx, ada) == [("grant", 25)]

    await db.write(run)


async def test_an_unlimited_plan_keeps_a_trace_and_no_balance(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx, plan="unlimited").user_id
        store.reserve(tx, ada, "run_1", 1000, PLANS)
        assert store.settle(tx, "run_1", PLANS) == (0, None)
        assert store.balance(tx, ada, PLANS) is None
        assert rows(tx, ada) == [("reserve", 0), ("settle", 0)]
        change_user(tx, ada, plan="pro")
        assert store.ensure_month(tx, ada, PLANS) == 50

    await db.write(run)


async def test_runs_started_at_once_do_not_spend_the_same_credits(db: Database) -> None:
    ada = (await db.write(make_user, "Ada", "starter")).user_id
    refused: list[str] = []

    async def start(run_id: str) -> None:
        try:
            await db.write(store.reserve, ada, run_id, 10, PLANS)
        except CreditsNeeded:
            refused.append(run_id)

    async with anyio.create_task_group() as tasks:
        for n in range(6):
            tasks.start_soon(start, f"run_{n}")
    assert len(refused) == 4
    assert await db.read(store.balance, ada, PLANS) == 5
    held = await db.read(rows, ada)
    assert sorted(held) == sorted([("grant", 25), ("reserve", -10), ("reserve", -10)])


_actions = st.tuples(st.sampled_from(["reserve", "settle", "release", "wait"]), st.integers(0, 4), st.integers(0, 20))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(_actions, max_size=25))
async def test_the_balance_is_always_the_sum_and_never_beyond_the_allowance(
    db: Database, actions: list[tuple[str, int, int]]
) -> None:
    """Any order of starts, ends and repetitions, while months pass."""

    def run(tx: Tx) -> None:
        tx.now = NOVEMBER
        ada = make_user(tx, plan="starter").user_id
        for action, number, amount in actions:
            run_id = f"run_{ada}_{number}"[:40]
            if action == "wait":
                tx.now += timedelta(days=amount)
            elif action == "reserve":
                reserve_if_possible(tx, ada, run_id, amount)
            elif action == "settle":
                store.settle(tx, run_id, PLANS)
            else:
                store.release(tx, run_id, PLANS)
            left = store.ensure_month(tx, ada, PLANS)
            assert left == store.balance(tx, ada, PLANS) == sum(amount_of for _, amount_of in rows(tx, ada))
            assert 0 <= left <= 25

    await db.write(run)


def reserve_if_possible(tx: Tx, user_id: str, run_id: str, price: int) -> None:
    left = store.balance(tx, user_id, PLANS)
    known = tx.exists(ledger, {"run_id": run_id})
    if known or left is None or price <= left:
        store.reserve(tx, user_id, run_id, price, PLANS)
    else:
        with pytest.raises(CreditsNeeded):
            store.reserve(tx, user_id, run_id, price, PLANS)
