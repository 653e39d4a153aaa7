"""Schedules: list, create, read, change, pause, delete, run now, and a look at the next times."""

from typing import Any

from outlast.base.clock import iso
from outlast.base.errors import EmptyMessage, Forbidden
from outlast.base.schedule_errors import ScheduleOfCode, TooManySchedules
from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.choice import demand_choosable, demand_usable
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import check_bytes, checked_line, clean, is_blank
from outlast.kernel.lists import Listed
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.schedules import due_runs, inbox, store
from outlast.kernel.schedules.rows import ScheduleRow
from outlast.kernel.schedules.rules import checked_cron, checked_zone, next_times
from outlast.kernel.schedules.shapes import ScheduleAnswer, ScheduleTimesAnswer
from outlast.kernel.schedules.tables import schedules
from outlast.kernel.services import Services, in_read, in_write, in_write_with_services


@in_read
def list_schedules(
    tx: Tx, actor: Actor, project_id: str, before: str | None = None, limit: int = 50
) -> Listed[ScheduleAnswer, str]:
    """The project's schedules, newest first (members)."""
    require(tx, actor, project_id, Right.READ)
    return store.list_schedules(tx, project_id, before, limit)


@in_read
def read_schedule(tx: Tx, actor: Actor, schedule_id: str) -> ScheduleAnswer:
    """One schedule (members of its project)."""
    _require(tx, actor, schedule_id, Right.READ)
    return store.schedule_data(tx, schedule_id)


@in_write_with_services
def create_schedule(
    tx: Tx, services: Services, actor: Actor, project_id: str, fields: dict[str, Any], key: str | None = None
) -> ScheduleAnswer:
    """Make a schedule whose runs start as the actor (editors). Raises `InvalidCron`, `CronTooFrequent`, `UnknownZone`,
    `UnknownProfile`, `AgentNotAllowed`, `UnknownModel`, `EmptyMessage`, `TooManySchedules`."""
    require(tx, actor, project_id, Right.EDIT)

    def produce() -> dict[str, Any]:
        made = _checked(tx, services, project_id, fields)
        schedule_id = store.add(tx, project_id=project_id, created_by=actor.user_id, origin="person", **made)
        most = services.settings.schedules.per_project
        if store.count_in(tx, project_id) > most:
            raise TooManySchedules(f"The project has {most} schedules, which is the limit.", limit=most)
        store.announce(tx, store.hold(tx, schedule_id))
        return {"id": schedule_id}

    asked = request_hash(project_id, fields)
    return store.schedule_data(tx, remember(tx, actor.user_id, key, asked, produce)["id"])


@in_write_with_services
def change_schedule(
    tx: Tx, services: Services, actor: Actor, schedule_id: str, fields: dict[str, Any]
) -> ScheduleAnswer:
    """Change fields of a schedule. Editors pause and resume it; everything else is for the user who made it, as whom
    its runs start. Raises as `create_schedule`, `Forbidden`, and `ScheduleOfCode`."""
    _require(tx, actor, schedule_id, Right.EDIT)
    row = store.hold(tx, schedule_id)
    new = fields.keys() - {"enabled"}
    if new:
        _demand_own(tx, actor, row)
        before = {name: getattr(row, name) for name in ScheduleFields}
        fields = _checked(tx, services, row.project_id, before | fields)
    if due_runs.is_thread_gone(tx, row) or fields.get("thread") == "new":
        fields = fields | {"thread_id": None}
    changed = store.change(tx, schedule_id, updated_at=tx.now, **fields, **store.NOT_REFUSED)
    if (row.cron, row.zone, row.enabled) != (changed.cron, changed.zone, changed.enabled):
        store.set_next(tx, changed)
    inbox.tell_settled(tx, row)
    store.announce(tx, row)
    return store.schedule_data(tx, schedule_id)


@in_write
def delete_schedule(tx: Tx, actor: Actor, schedule_id: str) -> None:
    """Delete a schedule (editors). Its threads and runs stay. Raises `ScheduleOfCode`."""
    _require(tx, actor, schedule_id, Right.EDIT)
    row = store.hold(tx, schedule_id)
    _demand_editable(row)
    inbox.tell_settled(tx, row)
    store.delete(tx, row)


async def run_schedule(services: Services, actor: Actor, schedule_id: str, key: str | None = None) -> StartedAnswer:
    """Start a run of it now, as the actor (editors); its due times stay as they are. Raises as `start_run`, and
    `ScheduleSkipped` if a run of it waits already."""

    def run(tx: Tx) -> dict[str, Any]:
        _require(tx, actor, schedule_id, Right.EDIT)
        row = store.hold(tx, schedule_id)
        if due_runs.is_thread_gone(tx, row):
            row = store.change(tx, schedule_id, thread_id=None)
        asked = request_hash(schedule_id, "run")
        return remember(tx, actor.user_id, key, asked, lambda: due_runs.start(tx, services, row, actor))

    started = StartedAnswer(**await services.db.write(run), cursor=0)
    services.sandboxes.warm(started.thread_id)
    return started


@in_write
def see_schedule(tx: Tx, actor: Actor, schedule_id: str) -> None:
    """Remove the problem of a schedule from the inbox of the user who made it. Repeating is harmless; no effect for
    others."""
    _require(tx, actor, schedule_id, Right.READ)
    row = store.hold(tx, schedule_id)
    if row.created_by == actor.user_id and row.refused_at is not None and row.seen_at is None:
        inbox.tell_settled(tx, row)
        store.change(tx, schedule_id, seen_at=tx.now)


def preview_times(services: Services, cron: str, zone: str) -> ScheduleTimesAnswer:
    """The next five times of an expression. Raises `InvalidCron`, `CronTooFrequent`, `UnknownZone`."""
    now = services.clock.now()
    where = checked_zone(zone)
    line = checked_cron(cron, where, now, services.settings.schedules.least_s)
    return ScheduleTimesAnswer(next_times=[iso(one) for one in next_times(line, where, now)])


ScheduleFields = ("title", "agent", "message", "model", "cron", "zone", "on_missed", "thread", "enabled")
"""What a person chooses."""


def _require(tx: Tx, actor: Actor, schedule_id: str, right: Right) -> ScheduleRow:
    return require_owned(tx, actor, ScheduleRow, schedules, "schedule", schedule_id, right)


def _checked(tx: Tx, services: Services, project_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    """All fields, checked."""
    agents, limits = services.engine.agents, services.settings.limits
    agent, message, model = fields["agent"], clean(fields["message"]), fields["model"]
    demand_choosable(agents, agent)
    demand_usable(agents, agent, projects.agents_of(tx, project_id).agents, project_id)
    if model is not None:
        services.catalog.get(model)
    check_bytes("The message", len(message.encode()), limits.message_bytes)
    if is_blank(message) and agents[agent].flow is None:
        raise EmptyMessage("The message is empty.", hint="Write what the agent should do.")
    zone = checked_zone(fields["zone"])
    return fields | {
        "title": checked_line("The title", fields["title"], limits.title_chars),
        "message": message,
        "cron": checked_cron(fields["cron"], zone, tx.now, services.settings.schedules.least_s),
        "zone": zone,
    }


def _demand_editable(row: ScheduleRow) -> None:
    if row.origin == "code":
        raise ScheduleOfCode("This schedule is written in the code of its agent.", schedule_id=row.id)


def _demand_own(tx: Tx, actor: Actor, row: ScheduleRow) -> None:
    _demand_editable(row)
    if row.created_by != actor.user_id:
        name = accounts.user(tx, row.created_by).name
        raise Forbidden(
            f"{name} made this schedule, and its runs start with their rights, so only they can edit it.",
            hint="Pause or delete it, or make one of your own.",
            schedule_id=row.id,
        )
