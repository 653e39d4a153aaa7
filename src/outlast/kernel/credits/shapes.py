"""The balance of a user and its changes."""

from typing import Literal

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer


class CreditSettled(Frozen):
    """Credits held for a run were charged (`settle`) or returned (`release`); `balance` is null if unlimited."""

    run_id: str
    kind: Literal["settle", "release"]
    credits: int
    balance: int | None


class CreditLow(Frozen):
    """The balance of the user who started the run is low."""

    balance: int


class LedgerEntryAnswer(Answer):
    id: str
    kind: str
    credits: int
    run_id: str | None
    created_at: str


class CreditsAnswer(Answer):
    """Your balance and its last entries. `balance` and `allowance` are null if unlimited."""

    plan: str
    balance: int | None
    allowance: int | None
    reserved: int
    low: bool
    resets_at: str | None
    entries: list[LedgerEntryAnswer]
