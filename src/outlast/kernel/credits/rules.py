"""Computes the next rows of the ledger. Pure: the user's rows so far go in, the rows to add come out."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from outlast.base.errors import CreditsNeeded, InvalidSetting, MalformedInput

MAX_GRANTED: Final = 1_000_000


class Kind(StrEnum):
    GRANT = "grant"
    EXPIRE = "expire"
    RESERVE = "reserve"
    RELEASE = "release"
    SETTLE = "settle"


class Entry(NamedTuple):
    """One row: `credits` is signed; `period` ("2026-11") belongs to a grant or expiry, `run_id` to the others."""

    kind: Kind
    credits: int
    run_id: str | None = None
    period: str | None = None


def check_granted(credits: int) -> None:  # noqa: A002 - the noun's word
    """Raise `MalformedInput` unless an administrator may give a user this much at once."""
    if not 0 < credits <= MAX_GRANTED:
        raise MalformedInput(f"A grant must be 1 to {MAX_GRANTED:,} credits.", field="credits")


def is_charged(status: str, problems: Collection[str]) -> bool:
    """True if an answer with this result is charged: credits are returned unless it is complete and without
    problems."""
    return status == "completed" and not problems


def period_of(moment: datetime) -> str:
    """The month of a moment, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m")


def next_reset(moment: datetime) -> datetime:
    """The first moment of the next month, in UTC."""
    utc = moment.astimezone(UTC)
    return datetime(utc.year + utc.month // 12, utc.month % 12 + 1, 1, tzinfo=UTC)


def allowance_of(plan: str, plans: Mapping[str, int | None]) -> int | None:
    """Credits per month of a plan; None is unlimited. Raises `InvalidSetting` for a plan that is no longer
    configured."""
    if plan not in plans:
        raise InvalidSetting(
            f"A user has the plan {plan!r}, which is not in [credits.plans].",
            hint="Add the plan to the configuration, or move the user to another plan.",
            setting="credits.plans",
        )
    return plans[plan]


def rollover(balance: int, granted: str | None, period: str, allowance: int | None) -> list[Entry]:
    """The rows that begin a month: the rest expires, the allowance is granted. Empty when `granted` (the month of the
    last grant) is already this month, or when there is no allowance."""
    if allowance is None or granted == period:
        return []
    left = [Entry(Kind.EXPIRE, -balance, period=period)] if balance else []
    return [*left, Entry(Kind.GRANT, allowance, period=period)]


def reserve(balance: int | None, run_id: str, price: int) -> Entry:
    """The row that reserves a run's price, which is 0 for an unlimited balance (None). Raises `CreditsNeeded`."""
    if balance is None:
        return Entry(Kind.RESERVE, 0, run_id=run_id)
    if price > balance:
        raise CreditsNeeded(
            f"This run costs {price} credits; you have {balance} left this month.", price=price, balance=balance
        )
    return Entry(Kind.RESERVE, -price, run_id=run_id)


def settle(of_run: Mapping[Kind, Entry]) -> Entry | None:
    """The row that closes a reservation as spent; None if it is already closed, or there is none."""
    reserved = _open(of_run)
    return None if reserved is None else Entry(Kind.SETTLE, 0, run_id=reserved.run_id)


def release(of_run: Mapping[Kind, Entry], *, same_period: bool) -> Entry | None:
    """The row that releases a reservation; None if it is already closed, or there is none. After its month it returns
    nothing: the rest of that month has expired."""
    reserved = _open(of_run)
    if reserved is None:
        return None
    return Entry(Kind.RELEASE, -reserved.credits if same_period else 0, run_id=reserved.run_id)


def spent(of_run: Mapping[Kind, Entry]) -> int:
    """The cost of a run: its reservation once settled, else 0."""
    return -of_run[Kind.RESERVE].credits if Kind.SETTLE in of_run else 0


def _open(of_run: Mapping[Kind, Entry]) -> Entry | None:
    closed = Kind.SETTLE in of_run or Kind.RELEASE in of_run
    return None if closed else of_run.get(Kind.RESERVE)
