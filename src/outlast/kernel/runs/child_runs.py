"""Runs that a function starts, each in a thread of its own, which its part in the answer shows."""

from typing import Any, Final, Literal, NamedTuple

import orjson
from pydantic_core import PydanticSerializationError, to_json

from outlast.base.agent_errors import FlowMisused
from outlast.base.errors import OutlastError, UnknownProfile
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.db.savepoints import is_of_transaction, savepoint
from outlast.kernel.agents.context import Callee
from outlast.kernel.agents.workspaces import workspace_of_thread
from outlast.kernel.limits.rules import check_bytes
from outlast.kernel.runs import store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.rows import FunctionStepRow
from outlast.kernel.runs.shapes import PartCarrier
from outlast.kernel.runs.tables import function_steps, runs
from outlast.kernel.runs.thread_queue import NewRun, queue_run
from outlast.kernel.runs.transcript import Run
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.message_store import add_message
from outlast.kernel.threads.parts import SubrunPart, TextPart
from outlast.kernel.threads.tables import threads as thread_rows

AT_ONCE: Final = 8  # runs of one function that work side by side
MAX_DEPTH: Final = 3  # agents that call agents
MAX_SHOWN_CHARS: Final = 300


class _Ended(NamedTuple):
    id: str
    thread_id: str
    profile: str
    status: Literal["completed", "cancelled", "error"]


def message_with(message: str, context: Any) -> str:
    """The message, and the data below it as JSON. Raises `FlowMisused` for data that has no JSON form."""
    if context is None:
        return message
    try:
        data = to_json(context, indent=2).decode()
    except PydanticSerializationError as error:
        raise FlowMisused(
            f"The context for another agent cannot be written as JSON: {error}.",
            hint="Pass Pydantic models, dataclasses, lists, dicts, texts and numbers.",
        ) from None
    return f"{message}\n\n```json\n{data}\n```"


def start(
    tx: Tx,
    events: list[NamedEvent],
    step_id: str,
    *,
    context: RunContext,
    agent: Callee | str,
    message: str,
    step_number: int,
) -> dict[str, Any]:
    """Start a run of this agent for a step of the function, and show it; returns what the step waits for. It fails if
    there is no such agent or model, the message is too long, agents call each other too deep, or the credits do not
    suffice."""
    try:
        with savepoint(tx):
            part = _start(tx, step_id, context, agent, message, step_number)
    except OutlastError as error:
        if is_of_transaction(error):
            raise
        refused = {"kind": error.code, "message": f"{error.message} {error.hint}".strip()}
        return {"status": "failed", "error": refused, "ended_at": tx.now, "announced": True}
    events.append(("part.created", PartCarrier(part=_short(part))))
    return {"waits_for": part.run_id, "part_id": part.id}


def _start(
    tx: Tx, step_id: str, context: RunContext, agent: Callee | str, message: str, step_number: int
) -> SubrunPart:
    caller, engine = context.run, context.engine
    # An agent that only other servers have waits for one of them.
    called: Callee | None = engine.agents.get(agent) if isinstance(agent, str) else agent
    if called is None:
        raise UnknownProfile(f"There is no agent {agent!r} on this server.", field="agent")
    if _depth(tx, caller) >= MAX_DEPTH:
        raise FlowMisused(
            f"Agents can call agents {MAX_DEPTH} deep, and this would be deeper.",
            hint="Let an agent further up call it.",
        )
    check_bytes("The message", len(message.encode()), engine.settings.limits.message_bytes)
    model = engine.catalog.get(called.model or caller.model)
    shared = tx.value(thread_rows.c.workspace_id, {"id": caller.thread_id})
    if shared is None and called.sandbox:
        shared = workspace_of_thread(tx, caller.project_id, caller.thread_id)
    thread_id = threads.add_thread(
        tx,
        caller.project_id,
        caller.started_by,
        profile=called.name,
        first_message=message,
        workspace_id=shared,
        caller_run_id=caller.id,
    )
    asked = TextPart(id=new_id("part"), text=message)
    sent = add_message(tx, thread_id, "user", caller.started_by, "complete", [asked.model_dump()])
    new = NewRun(
        caller.project_id, thread_id, shared, called.name, model, sent.id, caller.started_by, step_id=step_id,
        instructions=caller.instructions,
    )  # fmt: skip
    run_id = queue_run(tx, engine, new, None)
    return SubrunPart(
        id=new_id("part"),
        step=step_number,
        run_id=run_id,
        thread_id=thread_id,
        agent=called.name,
        title=called.title,
        text=message,
    )


def announce(tx: Tx, events: list[NamedEvent], *, step: FunctionStepRow, step_number: int, title: str) -> None:
    """Show that the run of this step has ended."""
    run = tx.find(_Ended, runs, {"id": step.waits_for})
    tx.update(function_steps, {"id": step.id}, announced=True)
    if run is None:  # its thread was deleted
        return
    part = SubrunPart(
        id=step.part_id or new_id("part"),
        step=step_number,
        run_id=run.id,
        thread_id=run.thread_id,
        agent=run.profile,
        title=title,
        status=run.status,
        text=_text_of(step),
    )
    events.append(("part.completed", PartCarrier(part=_short(part))))


def _depth(tx: Tx, run: Run) -> int:
    """How many runs are above this one."""
    depth, step_id = 0, run.step_id
    while step_id is not None and depth < MAX_DEPTH:
        depth += 1
        above = tx.value(function_steps.c.run_id, {"id": step_id})
        step_id = None if above is None else store.run_of(tx, above).step_id
    return depth


def _text_of(step: FunctionStepRow) -> str:
    """What people read of a run's end: its answer, or why it failed."""
    if step.status == "failed":
        return str((step.error or {}).get("message", ""))
    return str(orjson.loads(step.result or '""'))


def _short(part: SubrunPart) -> SubrunPart:
    if len(part.text) <= MAX_SHOWN_CHARS:
        return part
    return part.model_copy(update={"text": part.text[: MAX_SHOWN_CHARS - 1] + "…"})
