"""Start and wait: start a run and follow it to its end in one call, for callers that want one answer.

It is a run like any other: it continues when the caller disconnects, and a repeated call with the same key finds it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final

import anyio
import orjson
import sqlalchemy as sa

from outlast.apps.documents.agent_run_shapes import AgentCall, AgentEdit, AgentRunAnswer, AgentRunOpen, AgentRunRequest
from outlast.apps.documents.proposals.store import proposal_data
from outlast.apps.documents.tables import proposals
from outlast.base.errors import InternalError, OutlastError, RunFinished
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_run
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import run_list, store, views
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.shapes import ErrorData, RunSummaryAnswer
from outlast.kernel.services import Services
from outlast.kernel.streams.actions import follow_run
from outlast.kernel.threads.rules import text_of
from outlast.kernel.threads.user_input import Draft

RESTING: Final = frozenset({"awaiting_approval", "paused", *ENDED})
_OF_EDIT: Final = set(AgentEdit.model_fields) - {"edit_id"}
_OF_RUN: Final = (
    sa.select(proposals.c.id)
    .where(proposals.c.run_id == sa.bindparam("run"))
    .order_by(proposals.c.created_at, proposals.c.id)
)


async def run_agent(
    services: Services, actor: Actor, wanted: AgentRunRequest, key: str | None, waiting: anyio.CancelScope
) -> AgentRunAnswer | AgentRunOpen:
    """Start a run and wait until it ends, waits for a person, or `timeout_s` seconds have passed; the run continues in
    any case, also when this is cancelled. Cancelling `waiting` ends the wait at once, with the state so far. A repeated
    `key` finds the first run and waits for it. Raises as `start_run`; the run's own error if it failed; `RunFinished`
    if it was cancelled; each with the run's id."""
    thread_id, draft = wanted.context.thread_id, Draft(wanted.user_message)
    started = await start_run(services, actor, thread_id, draft, model=wanted.model, key=key)
    with waiting, anyio.move_on_after(wanted.timeout_s):
        await _until_it_rests(services, actor, started.run_id)
    return await services.db.read(_outcome, actor, started.run_id)


async def _until_it_rests(services: Services, actor: Actor, run_id: str) -> None:
    """Follow the run's log until the run has ended, or waits for a person (and still does)."""
    run = await services.db.read(store.run_of, run_id)
    if run.status in RESTING:  # a repeated call finds it at rest
        return
    chunks = await follow_run(services, actor, run_id, str(run.seq_saved))
    if chunks is None:
        return
    async with aclosing(chunks):  # type: ignore[type-var]  # every follower is a generator
        async for chunk in chunks:
            if b'"run.status"' in chunk:  # streaming deltas are skipped
                run = await services.db.read(store.run_of, run_id)  # a person may have decided since
                if run.status in RESTING:
                    return


def _outcome(tx: Tx, actor: Actor, run_id: str) -> AgentRunAnswer | AgentRunOpen:
    require_run(tx, actor, run_id, Right.READ)
    summary = run_list.summary_of(tx, run_id)
    if summary.status not in ENDED:
        pending = views.fold_of(tx, run_id).pending
        shown = {"pending": pending[0] if pending else None, "status": summary.status}
        return AgentRunOpen.model_validate({**shown, "thread_id": summary.thread_id, "run_id": run_id})
    ids: dict[str, Any] = {"run_id": run_id, "thread_id": summary.thread_id, "message_id": summary.answer_message_id}
    if summary.status == "cancelled":
        raise RunFinished(
            "The answer was cancelled before it was complete.",
            hint="Send the message again, or continue the run.",
            status="cancelled",
            stop_reason=summary.stop_reason,
            **ids,
        )
    if summary.status == "error":
        raise _error_of(summary.error, ids)
    return _answer(tx, summary)


def _answer(tx: Tx, summary: RunSummaryAnswer) -> AgentRunAnswer:
    parts = views.fold_of(tx, summary.id).parts
    made = [proposal_data(tx, proposal_id) for proposal_id in tx.execute(_OF_RUN, {"run": summary.id}).scalars()]
    edits = [edit for proposal in made for edit in proposal.edits if edit.state != "superseded"]
    return AgentRunAnswer(
        message=_message(parts),
        proposed_edits=[AgentEdit(edit_id=edit.id, **edit.model_dump(include=_OF_EDIT)) for edit in edits],
        tool_calls=[_call(part) for part in parts if part["type"] == "tool_call"],
        proposal_id=made[-1].id if made else None,
        thread_id=summary.thread_id,
        run_id=summary.id,
        message_id=summary.answer_message_id,
    )


def _call(part: Mapping[str, Any]) -> AgentCall:
    arguments: Any = part["arguments"]
    with suppress(orjson.JSONDecodeError):  # invalid JSON of a model is shown as it is
        arguments = orjson.loads(arguments or "{}")
    named = {name: part[name] for name in ("tool", "status", "result")}
    return AgentCall(id=part["call_id"], arguments=arguments, **named)


def _message(parts: Sequence[dict[str, Any]]) -> str:
    """The text after the last tool call; the whole text if there is none after it."""
    calls = [at for at, part in enumerate(parts) if part["type"] == "tool_call"]
    last = text_of(list(parts[calls[-1] + 1 :] if calls else parts)).strip()
    return last or text_of(list(parts)).strip()


def _error_of(told: ErrorData | None, ids: Mapping[str, Any]) -> OutlastError:
    """The run's own error with the same code, so that the caller gets the answer as if it had happened here."""
    if told is None:
        return InternalError("The run stopped.", **ids)
    kind = next((one for one in _and_below(OutlastError) if one.code == told.code), InternalError)
    return kind(told.message or "The run stopped.", hint=told.hint, retry_after_s=told.retry_after_s, **ids)


def _and_below(kind: type[OutlastError]) -> Iterator[type[OutlastError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _and_below(one)
