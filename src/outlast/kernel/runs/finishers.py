"""An agent's own writes in a run's last transaction, and the named steps that show it. Runs without stages have no
steps."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.db.savepoints import is_of_transaction, savepoint
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.hooks import Finished
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.shapes import WorkflowStatus, WorkflowStep
from outlast.kernel.runs.transcript import Run
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.subjects.hooks import reason_of
from outlast.kernel.threads.parts import NoticePart

log = logging.getLogger("outlast.runs")
DETAIL_CHARS: Final = 300
NOT_SAVED: Final = "The answer is saved, but its title and files could not be saved: {reason}"


def workflow_step(
    run_id: str, name: str, status: WorkflowStatus, detail: str = "", duration_s: float | None = None
) -> NamedEvent:
    """The event; `detail` becomes one line."""
    line = " ".join(detail.split())
    short = line if len(line) <= DETAIL_CHARS else f"{line[: DETAIL_CHARS - 1]}…"
    rounded = None if duration_s is None else round(max(duration_s, 0.0), 3)
    step = WorkflowStep(run_id=run_id, name=name, status=status, detail=short, duration_s=rounded)
    return "workflow.step", step


def open_steps_closed(run_id: str, ending: Ending) -> list[NamedEvent]:
    """Steps that were running when the run ended."""
    failure = ending.error.message if ending.error is not None else ""
    closed: Mapping[str, tuple[WorkflowStatus, str]]
    closed = {"completed": ("done", ""), "cancelled": ("cancelled", ""), "error": ("failed", failure)}
    status, detail = closed[ending.end.status]
    return [
        workflow_step(run_id, step["name"], status, step["detail"] or detail)
        for step in ending.workflow
        if step["status"] == "started"
    ]


class Finish(NamedTuple):
    """The outcome of an agent's own writes: the problems it found, parts to add to the answer, the step that shows it,
    and its summary of the run."""

    problems: Sequence[str] = ()
    notices: Sequence[dict[str, Any]] = ()
    events: Sequence[NamedEvent] = ()
    summary: str = ""


def finish(tx: Tx, agent: Agent, run: Run, parts: Sequence[Mapping[str, Any]], ending: Ending) -> Finish:
    """The agent's writes. If they fail, they are undone and the answer is saved anyway, with a notice (for an agent
    with stages) or a problem."""
    if agent.finish is None:
        return Finish()
    step = f"save_{agent.name}"
    try:
        with savepoint(tx):
            found = agent.finish(tx, run, parts, ending.facts) or Finished()
    except Exception as error:
        if is_of_transaction(error):  # the whole end is undone: it is retried, or the next attempt ends the run
            raise
        log.error("a run's result was not saved", extra={"run_id": run.id}, exc_info=error)
        reason = NOT_SAVED.format(reason=reason_of(error))
        if not ending.workflow:
            return Finish([reason])
        failed = workflow_step(run.id, step, "failed", reason_of(error))
        notice = NoticePart(id=new_id("part"), level="warning", code=f"{agent.name}_not_saved", text=reason)
        return Finish(notices=[notice.model_dump()], events=[failed])
    saved = [workflow_step(run.id, step, "done")] if ending.workflow else []
    return Finish(found.problems, events=[*found.events, *saved], summary=found.summary)


def last_steps(run_id: str, ending: Ending, *, saved: bool, charged: int) -> list[NamedEvent]:
    """The steps for the answer and the credits at the end of a run."""
    if not ending.workflow:
        return []
    name = "save_error" if ending.end.status == "error" else "save_answer"
    answer = workflow_step(run_id, name, "done" if saved else "skipped", "" if saved else "no answer was begun")
    paid = count(charged, "credit") if charged else "nothing charged"
    return [answer, workflow_step(run_id, "settle_credits", "done", paid)]


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
