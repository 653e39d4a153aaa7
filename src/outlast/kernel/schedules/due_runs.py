"""A schedule comes due: its timer starts a run, in one transaction with the next due time."""

from datetime import timedelta
from typing import Any, Final

from outlast.base.errors import NotFound, OutlastError, TryLater
from outlast.base.ids import new_id
from outlast.base.schedule_errors import ScheduleSkipped
from outlast.db.database import Tx
from outlast.db.savepoints import is_of_transaction, savepoint
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.choice import demand_choosable
from outlast.kernel.projects.permissions import role_of
from outlast.kernel.runs import timers
from outlast.kernel.runs.actions import NewThread, start_in
from outlast.kernel.schedules import inbox, store
from outlast.kernel.schedules.rows import ScheduleRow
from outlast.kernel.schedules.rules import starts_run
from outlast.kernel.services import Services
from outlast.kernel.threads.parts import NoticePart
from outlast.kernel.threads.tables import threads
from outlast.kernel.threads.user_input import Draft

RETRY_S: Final = 60.0


async def fire(services: Services, schedule_id: str) -> None:
    """Handler of the timer. Repeatable: a due time is handled once. Raises `NotFound` for a deleted schedule."""
    thread_id = await services.db.write(_fire, services, schedule_id)
    if thread_id is not None:
        services.sandboxes.warm(thread_id)


def _fire(tx: Tx, services: Services, schedule_id: str) -> str | None:
    """The thread of the started run, or None if there is none."""
    row = store.hold(tx, schedule_id)
    if row.next_at is None or row.next_at > tx.now:  # paused or moved meanwhile, or handled by another server
        store.set_next(tx, row)
        return None
    if not row.put_off and not starts_run(row.next_at, tx.now, row.cron, row.zone, row.on_missed):
        _go_on(tx, row)
        return None
    try:
        with savepoint(tx):
            started = start(tx, services, row, _maker(tx, row))
    except OutlastError as error:
        if is_of_transaction(error):
            raise
        if isinstance(error, TryLater):
            _put_off(tx, row, error.retry_after_s or RETRY_S)
        else:
            _refuse(tx, row, error)
        return None
    _go_on(tx, row)
    return str(started["thread_id"])


def start(tx: Tx, services: Services, row: ScheduleRow, actor: Actor) -> dict[str, Any]:
    """Start a run of a held schedule as this user, and note it there. Returns the fields of `StartedAnswer`. Raises as
    `start_run`, and `ScheduleSkipped` if a run of it waits already."""
    agents = services.engine.agents
    demand_choosable(agents, row.agent)
    if store.is_waiting(tx, row):
        raise ScheduleSkipped("The last run of this schedule has not ended, and another one already waits for it.")
    note = NoticePart(id=new_id("part"), code="schedule", text=f"Started by schedule {row.title}")
    started = start_in(
        tx,
        services,
        actor,
        row.thread_id or NewThread(row.project_id, row.agent, row.title),
        Draft(row.message or None, note=note),
        row.model or agents[row.agent].model,
        "enqueue",
        profile=row.agent,
        trigger={"type": "schedule", "id": row.id, "title": row.title},
    )
    kept = started["thread_id"] if row.thread == "same" else None
    store.change(tx, row.id, last_run_id=started["run_id"], thread_id=kept, **store.NOT_REFUSED)
    inbox.tell_settled(tx, row)
    store.announce(tx, row)
    return started


def is_thread_gone(tx: Tx, row: ScheduleRow) -> bool:
    """True if the one thread of its runs was deleted."""
    return row.thread_id is not None and not tx.exists(threads, {"id": row.thread_id})


def _maker(tx: Tx, row: ScheduleRow) -> Actor:
    """The user as whom the runs start. Raises `NotFound` if the thread of the schedule was deleted."""
    if is_thread_gone(tx, row):
        words = "The thread of this schedule was deleted."
        raise NotFound(words, hint="Run the schedule now, and it begins a new thread.")
    return Actor(row.created_by, accounts.user(tx, row.created_by).name, "local")


def _go_on(tx: Tx, row: ScheduleRow) -> None:
    store.set_next(tx, row)
    store.announce(tx, row)


def _put_off(tx: Tx, row: ScheduleRow, wait_s: float) -> None:
    """A limit of the server refuses it for now: try the same due time again."""
    store.change(tx, row.id, put_off=True)
    timers.set_timer(tx, store.TIMER, row.id, tx.now + timedelta(seconds=wait_s))


def _refuse(tx: Tx, row: ScheduleRow, error: OutlastError) -> None:
    """Note why this due time started no run. The maker gets an inbox item about the first in a row, but not about a
    skipped one. The schedule is paused once they have left the project."""
    has_left = role_of(tx, row.created_by, row.project_id) is None
    problem = {"code": error.code, "message": error.message, "hint": error.hint}
    if has_left:
        problem["message"] = "The person who made this schedule has left the project."
        problem["hint"] = "Make a schedule of your own, and delete this one."
    is_refusal = not isinstance(error, ScheduleSkipped)
    refused_at = (row.refused_at or tx.now) if is_refusal else row.refused_at
    changed = store.change(tx, row.id, problem=problem, refused_at=refused_at, enabled=row.enabled and not has_left)
    if is_refusal and row.refused_at is None:
        inbox.tell_refused(tx, changed)
    _go_on(tx, changed)
