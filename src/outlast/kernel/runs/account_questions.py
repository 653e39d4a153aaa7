"""Questions for a person's account: a call needs it, and its run waits until the person has connected it."""

from collections.abc import Callable
from typing import Any, Final

import orjson
import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs import store, timers
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.function_questions import QUESTION_ID, ask_person
from outlast.kernel.runs.rows import ApprovalRow
from outlast.kernel.runs.shapes import AccountData, QuestionItem
from outlast.kernel.runs.tables import TimerKind, approvals, runs
from outlast.kernel.streams.log_store import NamedEvent

TIMER: Final[TimerKind] = "account_connected"
CONNECTED: Final = "Connected"
DECLINE: Final = "Continue without it"
MOST: Final = 5  # questions of one call: the server ends each connection at once
_WAITING: Final = (
    sa.select(approvals)
    .join(runs, runs.c.id == approvals.c.run_id)
    .where(
        approvals.c.status == "open",
        approvals.c.kind == "question",
        approvals.c.arguments.contains(sa.bindparam("account")),
        runs.c.started_by == sa.bindparam("user"),
    )
)


def text_of(account: AccountData) -> str:
    """The question, for people."""
    return f"Connect your account on {account.server} ({account.host})? You can do so on the page Connections."


def ask(
    tx: Tx, events: list[NamedEvent], step_id: str, *, context: RunContext, step: int, account: AccountData
) -> dict[str, Any]:
    """Ask; returns what the step waits for. Calls of one run that need the same account wait for one question."""
    for row in store.open_approvals(tx, context.run.id):
        if row.approval.kind == "question" and account_of(row.approval) == account:
            return {"waits_for": row.approval.effect_id}
    item = QuestionItem(id=QUESTION_ID, question=text_of(account), options=[DECLINE])
    return ask_person(tx, events, step_id, context=context, step=step, items=[item], account=account)


def account_of(asked: ApprovalRow) -> AccountData | None:
    """The account that a question asks for; None for any other question."""
    found = orjson.loads(asked.arguments).get("account")
    return None if found is None else AccountData(**found)


def waiting(tx: Tx, user_id: str, server_id: str) -> list[str]:
    """The open questions for this account of the user."""
    rows = tx.rows(ApprovalRow, _WAITING, {"account": f'"server_id":"{server_id}"', "user": user_id})
    return [row.id for row in rows if (account := account_of(row)) is not None and account.server_id == server_id]


def tell_connected(tx: Tx, user_id: str, server_id: str) -> None:
    """The user has connected the account: the questions for it are answered after the commit, one at a time, because
    each locks its run."""
    for question_id in waiting(tx, user_id, server_id):
        timers.set_timer(tx, TIMER, question_id, tx.now)


def look_again(tx: Tx, effect_id: str, is_connected: Callable[[Tx], bool]) -> None:
    """A question was asked while its account may just have been connected by a transaction that did not see it."""
    question_id = tx.value(approvals.c.id, {"effect_id": effect_id, "status": "open"})
    if question_id is not None and is_connected(tx):
        timers.set_timer(tx, TIMER, question_id, tx.now)
