"""The balance and the models that spend it."""

from outlast.kernel.http.shapes import Answer


class LedgerEntryAnswer(Answer):
    id: str
    kind: str
    credits: int
    run_id: str | None
    created_at: str


class CreditsAnswer(Answer):
    """Your balance and its last entries. `balance` and `allowance` null: unlimited."""

    plan: str
    balance: int | None
    allowance: int | None
    reserved: int
    low: bool
    resets_at: str | None
    entries: list[LedgerEntryAnswer]


class ModelAnswer(Answer):
    """A configured model. If it is not available, `reason` says why."""

    id: str
    label: str
    provider: str
    vision: bool
    credits: int
    default: bool
    demo: bool
    available: bool
    reason: str | None = None
