"""Schedules in the database. First argument: the open transaction."""

from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import CursorUnknown
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs import timers
from outlast.kernel.runs.tables import TimerKind, runs
from outlast.kernel.schedules.rows import ScheduleRow
from outlast.kernel.schedules.rules import next_time, next_times
from outlast.kernel.schedules.shapes import ScheduleAnswer, ScheduleChanged, ScheduledRunAnswer
from outlast.kernel.schedules.tables import schedules
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.tables import threads

TIMER: Final[TimerKind] = "schedule"
NOT_REFUSED: Final[dict[str, Any]] = {"problem": None, "refused_at": None, "seen_at": None}
_HOLD: Final = sa.select(schedules).where(schedules.c.id == sa.bindparam("schedule")).with_for_update(key_share=True)
_SHOWN: Final = (
    sa.select(
        schedules,
        users.c.name.label("created_by_name"),
        threads.c.id.label("shown_thread_id"),
        runs.c.id.label("run_id"),
        runs.c.thread_id.label("run_thread_id"),
        runs.c.status.label("run_status"),
        runs.c.created_at.label("run_created_at"),
    )
    .select_from(schedules.join(users, users.c.id == schedules.c.created_by))
    .outerjoin(threads, threads.c.id == schedules.c.thread_id)
    .outerjoin(runs, runs.c.id == schedules.c.last_run_id)
)
_OF_CODE: Final = sa.select(schedules).where(schedules.c.origin == "code").order_by(schedules.c.id)


def add(tx: Tx, **fields: Any) -> str:
    """Store a schedule and set its timer. Returns its id. Not announced yet."""
    schedule_id = new_id("schedule")
    tx.insert(schedules, id=schedule_id, created_at=tx.now, updated_at=tx.now, **fields)
    set_next(tx, hold(tx, schedule_id))
    return schedule_id


def hold(tx: Tx, schedule_id: str) -> ScheduleRow:
    """The schedule, its row locked until the transaction ends, before those of its thread and its runs. Raises
    `NotFound`."""
    row = tx.row(ScheduleRow, _HOLD, {"schedule": schedule_id})
    return demand_found(row, "There is no such schedule for you.", schedule_id=schedule_id)


def change(tx: Tx, schedule_id: str, **values: Any) -> ScheduleRow:
    """Set plain values of the held row, and return it."""
    tx.update(schedules, {"id": schedule_id}, **values)
    return hold(tx, schedule_id)


def set_next(tx: Tx, row: ScheduleRow) -> None:
    """Let the held schedule come due at its next time after now, or never while it is paused."""
    next_at = next_time(row.cron, row.zone, tx.now) if row.enabled else None
    tx.update(schedules, {"id": row.id}, next_at=next_at, put_off=False)
    if next_at is None:
        timers.clear_timers(tx, row.id, TIMER)
    else:
        timers.set_timer(tx, TIMER, row.id, next_at)


def delete(tx: Tx, row: ScheduleRow) -> None:
    """Delete a schedule; its threads and runs stay."""
    timers.clear_timers(tx, row.id, TIMER)
    tx.execute(sa.delete(schedules).where(schedules.c.id == row.id))
    announce(tx, row)


def announce(tx: Tx, row: ScheduleRow) -> None:
    """Tell the project's followers that the schedule has changed."""
    append(tx, row.project_id, [("schedule.changed", ScheduleChanged(schedule_id=row.id))])


def count_in(tx: Tx, project_id: str) -> int:
    """The number of a project's schedules."""
    in_it = sa.select(sa.func.count()).select_from(schedules).where(schedules.c.project_id == project_id)
    return int(tx.execute(in_it).scalar_one())


def is_waiting(tx: Tx, row: ScheduleRow) -> bool:
    """True if the newest run of the schedule waits behind another one of its thread."""
    leg = None if row.last_run_id is None else tx.value(runs.c.leg, {"id": row.last_run_id})
    return row.thread == "same" and leg == "blocked"


def has_schedules_of_code(tx: Tx) -> bool:
    return tx.exists(schedules, {"origin": "code"})


def schedules_of_code(tx: Tx) -> list[ScheduleRow]:
    """The schedules of the operator's agents, held."""
    return tx.rows(ScheduleRow, _OF_CODE.with_for_update(key_share=True))


class _ShownSchedule(NamedTuple):
    schedule: ScheduleRow
    created_by_name: str
    shown_thread_id: str | None
    run_id: str | None
    run_thread_id: str | None
    run_status: Any
    run_created_at: datetime | None


def list_schedules(tx: Tx, project_id: str, before: str | None, limit: int) -> Listed[ScheduleAnswer, str]:
    """At most `limit` schedules of a project, newest first, those before the id `before`."""
    chosen = _SHOWN.where(schedules.c.project_id == project_id)
    if before is not None:
        if not before.startswith("sch_"):
            raise CursorUnknown("The cursor is not from this list.", cursor=before[:80])
        chosen = chosen.where(schedules.c.id < before)
    rows = tx.rows(_ShownSchedule, chosen.order_by(schedules.c.id.desc()).limit(limit + 1))
    shown = [_data(row, tx.now) for row in rows[:limit]]
    return Listed(shown, shown[-1].id if len(rows) > limit else None)


def schedule_data(tx: Tx, schedule_id: str) -> ScheduleAnswer:
    """A schedule as lists show it. Raises `NotFound`."""
    row = tx.row(_ShownSchedule, _SHOWN.where(schedules.c.id == schedule_id))
    return _data(demand_found(row, "There is no such schedule for you.", schedule_id=schedule_id), tx.now)


def _data(row: _ShownSchedule, now: datetime) -> ScheduleAnswer:
    due = next_times(row.schedule.cron, row.schedule.zone, now) if row.schedule.enabled else []
    return shape_of(
        ScheduleAnswer,
        row.schedule,
        row,
        thread_id=row.shown_thread_id,
        next_times=[iso(one) for one in due],
        last_run=_last_run(row),
    )


def _last_run(row: _ShownSchedule) -> ScheduledRunAnswer | None:
    if row.run_id is None or row.run_thread_id is None or row.run_created_at is None:
        return None
    return ScheduledRunAnswer(
        id=row.run_id, thread_id=row.run_thread_id, status=row.run_status, created_at=iso(row.run_created_at)
    )
