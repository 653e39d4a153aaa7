"""Questions that a function asks a person: shown and answered like those of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.forms import Form, result_of
from outlast.kernel.runs.inbox import tell_asked, tell_settled
from outlast.kernel.runs.shapes import (
    AccountData,
    PartCarrier,
    QuestionAnswered,
    QuestionAsked,
    QuestionData,
    QuestionItem,
)
from outlast.kernel.runs.tables import approvals, effects
from outlast.kernel.runs.turns import encodable
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads.parts import ToolCallPart

TOOL: Final = "ask_user"  # shown as a model's question
QUESTION_ID: Final = "answer"


def question_of(text: str, options: Sequence[str], multiple: bool) -> QuestionItem:
    """The question of a function. Raises `ValueError` for what is not text."""
    offered = [encodable(option) for option in options]
    return QuestionItem(id=QUESTION_ID, question=encodable(text), options=offered, multiple=multiple)


def ask_person(
    tx: Tx,
    events: list[NamedEvent],
    _step_id: str,
    *,
    context: RunContext,
    step: int,
    items: Sequence[QuestionItem],
    account: AccountData | None = None,
    form: Form | None = None,
) -> dict[str, Any]:
    """Ask; returns what the function's step waits for. `form`: its answers are made into the result of this form."""
    asked: dict[str, Any] = {"questions": [item.model_dump() for item in items]}
    asked |= {} if account is None else {"account": account.model_dump()}
    asked |= {} if form is None else {"form": form._asdict()}
    run, arguments = context.run, orjson.dumps(asked).decode()
    part = ToolCallPart(
        id=new_id("part"), step=step, call_id=new_id("effect"), tool=TOOL, arguments=arguments, status="pending"
    )
    last = sa.select(sa.func.max(effects.c.ordinal)).where(effects.c.run_id == run.id)
    effect_id = store.insert_effect(
        tx,
        run.id,
        tx.execute(last).scalar_one() + 1,
        step,
        "ask",
        status="waiting",
        tool=TOOL,
        call_id=part.call_id,
        part_id=part.id,
        arguments=arguments,
    )
    item_id = store.insert_approval(tx, run, effect_id, "question", TOOL, arguments, "")
    tell_asked(tx, run, item_id)
    question = QuestionData(
        id=item_id,
        run_id=run.id,
        thread_id=run.thread_id,
        part_id=part.id,
        call_id=part.call_id,
        created_at=iso(tx.now),
        questions=list(items),
        account=account,
    )
    events += [("part.completed", PartCarrier(part=part)), ("question.asked", QuestionAsked(question=question))]
    return {"waits_for": effect_id}


def value_of(asked: Mapping[str, Any], answers: Mapping[str, Any]) -> Any:
    """What a function gets for these answers to what it asked: the result of its form, or the answer. Raises
    `MalformedInput` for answers that its form does not take."""
    form = asked.get("form")
    return next(iter(answers.values()), None) if form is None else result_of(Form(**form), answers)


def withdraw_question(tx: Tx, events: list[NamedEvent], question_id: str) -> None:
    """The answer came from elsewhere: people need not answer."""
    row = store.approval_of(tx, question_id)
    tx.update(approvals, {"id": question_id}, status="cancelled", decided_at=tx.now, announced=True)
    tell_settled(tx, store.run_of(tx, row.approval.run_id).project_id, [row.approval.kind])
    store.update_effect(tx, row.approval.effect_id, status="cancelled", ended_at=tx.now)
    answered = QuestionAnswered(question_id=question_id, part_id=row.part_id, answers={}, cancelled=True)
    events.append(("question.answered", answered))
