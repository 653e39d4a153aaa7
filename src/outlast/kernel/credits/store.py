"""The ledger in the database. First argument: the open transaction. `plans` are the configured plans: credits per month
by name, None for unlimited.

Every change is made under the user row's lock, so that two runs cannot reserve the same credits.
"""

from collections.abc import Collection, Mapping
from typing import Final

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.rows import UserRow
from outlast.kernel.accounts.tables import users
from outlast.kernel.credits import rules
from outlast.kernel.credits.rows import LedgerRow
from outlast.kernel.credits.rules import Entry, Kind, period_of
from outlast.kernel.credits.shapes import CreditsAnswer, LedgerEntryAnswer
from outlast.kernel.credits.tables import ledger
from outlast.kernel.row_shapes import shape_of

Plans = Mapping[str, int | None]
SHOWN_ENTRIES: Final = 20

# Built once: building a statement takes four times as long as running it, and every start uses these.
_HOLD_USER: Final = sa.select(users).where(users.c.id == sa.bindparam("user")).with_for_update(key_share=True)
_SUM: Final = sa.func.coalesce(sa.func.sum(ledger.c.credits), 0)
_OF_RUN: Final = sa.select(*(ledger.c[name] for name in Entry._fields)).where(ledger.c.run_id == sa.bindparam("run"))


def ensure_month(tx: Tx, user_id: str, plans: Plans) -> int | None:
    """Begin the user's month if it has not begun yet, and return the balance; None is unlimited."""
    allowance = rules.allowance_of(_hold_user(tx, user_id).plan, plans)
    if allowance is None:
        return None
    last = sa.select(sa.func.max(ledger.c.period)).where(ledger.c.user_id == user_id, ledger.c.kind == Kind.GRANT.value)
    added = rules.rollover(_sum(tx, user_id), tx.execute(last).scalar(), period_of(tx.now), allowance)
    for entry in added:
        _add(tx, user_id, entry)
    return _sum(tx, user_id)


def balance(tx: Tx, user_id: str, plans: Plans) -> int | None:
    """The user's balance, without writing: a month that has not begun yet counts as granted. None is unlimited."""
    allowance = rules.allowance_of(accounts.user(tx, user_id).plan, plans)
    if allowance is None:
        return None
    this_month = {"user_id": user_id, "kind": Kind.GRANT.value, "period": period_of(tx.now)}
    return _sum(tx, user_id) if tx.exists(ledger, this_month) else allowance


def hold_payers(tx: Tx, user_ids: Collection[str]) -> None:
    """Lock the users whose credits this transaction may change. Called before a project's log is written.
    Raises `NotFound`."""
    for user_id in sorted(user_ids) if tx.shares_rows else ():
        _hold_user(tx, user_id)


def payer_of(tx: Tx, run_id: str) -> str | None:
    """The user who reserved credits for a run, or None if nothing was reserved."""
    payer: str | None = tx.value(ledger.c.user_id, {"run_id": run_id, "kind": Kind.RESERVE.value})
    return payer


def reserve(tx: Tx, user_id: str, run_id: str, price: int, plans: Plans) -> None:
    """Hold a run's price. Repeating is harmless. Raises `CreditsNeeded` with price and balance."""
    left = ensure_month(tx, user_id, plans)
    if Kind.RESERVE not in _of_run(tx, run_id):
        _add(tx, user_id, rules.reserve(left, run_id, price))


def settle(tx: Tx, run_id: str, plans: Plans) -> tuple[int, int | None]:
    """Charge the credits that were reserved for the run. Returns its cost and the balance (None is unlimited).
    Repeating is harmless; a reservation that was released stays released (cost 0)."""
    user_id = payer_of(tx, run_id)
    if user_id is None:
        return 0, None
    left = ensure_month(tx, user_id, plans)
    entries = _of_run(tx, run_id)
    entry = rules.settle(entries)
    if entry is not None:
        _add(tx, user_id, entry)
        entries[entry.kind] = entry
    return rules.spent(entries), left


def release(tx: Tx, run_id: str, plans: Plans) -> int | None:
    """Return the credits that were reserved for the run. Returns the balance (None is unlimited). Repeating is
    harmless; a reservation that was settled stays settled."""
    user_id = payer_of(tx, run_id)
    if user_id is None:
        return None
    left = ensure_month(tx, user_id, plans)
    reserved_at = tx.value(ledger.c.created_at, {"run_id": run_id, "kind": Kind.RESERVE.value})
    same_period = period_of(reserved_at) == period_of(tx.now)
    entry = rules.release(_of_run(tx, run_id), same_period=same_period)
    if entry is None:
        return left
    _add(tx, user_id, entry)
    return None if left is None else left + entry.credits


def grant(tx: Tx, user_id: str, amount: int, plans: Plans) -> int | None:
    """Give credits on top of the plan's, for this month. Returns the balance. Unlimited (None) stays unlimited: nothing
    is written."""
    left = ensure_month(tx, user_id, plans)
    if left is None:
        return None
    _add(tx, user_id, Entry(Kind.GRANT, amount))
    return left + amount


def credits_data(tx: Tx, user_id: str, plans: Plans, low_at: int) -> CreditsAnswer:
    """The user's view of the ledger; `low` is true if the balance is at or below `low_at`."""
    left = balance(tx, user_id, plans)
    mine = sa.select(ledger).where(ledger.c.user_id == user_id)
    rows = tx.rows(LedgerRow, mine.order_by(ledger.c.created_at.desc(), ledger.c.id.desc()).limit(SHOWN_ENTRIES))
    plan = accounts.user(tx, user_id).plan
    return CreditsAnswer(
        plan=plan,
        balance=left,
        allowance=rules.allowance_of(plan, plans),
        reserved=_reserved(tx, user_id),
        low=left is not None and left <= low_at,
        resets_at=iso(rules.next_reset(tx.now)),
        entries=[shape_of(LedgerEntryAnswer, row) for row in rows],
    )


def _hold_user(tx: Tx, user_id: str) -> UserRow:
    return demand_found(tx.row(UserRow, _HOLD_USER, {"user": user_id}), "There is no such user.", user_id=user_id)


def _sum(tx: Tx, user_id: str) -> int:
    return int(tx.execute(sa.select(_SUM).where(ledger.c.user_id == user_id)).scalar_one())


def _reserved(tx: Tx, user_id: str) -> int:
    closing = ledger.alias()
    closed = sa.select(closing.c.run_id).where(
        closing.c.run_id == ledger.c.run_id, closing.c.kind.in_([Kind.SETTLE.value, Kind.RELEASE.value])
    )
    open_ones = ledger.c.user_id == user_id, ledger.c.kind == Kind.RESERVE.value, ~closed.exists()
    return -int(tx.execute(sa.select(_SUM).where(*open_ones)).scalar_one())


def _of_run(tx: Tx, run_id: str) -> dict[Kind, Entry]:
    return {Kind(row.kind): row for row in tx.rows(Entry, _OF_RUN, {"run": run_id})}


def _add(tx: Tx, user_id: str, entry: Entry) -> None:
    tx.insert(
        ledger, id=new_id("ledger"), user_id=user_id, **entry._asdict() | {"kind": entry.kind.value}, created_at=tx.now
    )
