"""Schedules of a project: list, create, read, change, delete, run now, preview."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Key, Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.schedules import actions
from outlast.kernel.schedules.shapes import ScheduleAnswer, ScheduleChangeRequest, ScheduleRequest, ScheduleTimesAnswer

router = noun_router("Schedules")


@router.get("/projects/{project_id}/schedules", response_model=Page[ScheduleAnswer])
async def list_schedules(
    project_id: str,
    services: Svc,
    actor: Signed,
    before: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 50,
) -> Response:
    """List the schedules of a project, newest first. `schedule.changed` in the project's stream says when to read them
    again."""
    found = await actions.list_schedules(services, actor, project_id, before, limit)
    return reply(page(found.items, found.next))


@router.post("/projects/{project_id}/schedules", status_code=201, response_model=ScheduleAnswer)
async def create_schedule(
    project_id: str, body: ScheduleRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Make a schedule (editors). Its runs start as the caller, with the rights and credits of that moment."""
    return reply(await actions.create_schedule(services, actor, project_id, body.model_dump(), key), 201)


@router.get("/schedules/times", response_model=ScheduleTimesAnswer)
async def preview_schedule(
    services: Svc,
    _actor: Signed,
    cron: Annotated[str, Query(max_length=200)],
    zone: Annotated[str, Query(max_length=100)] = "UTC",
) -> Response:
    """Get the next five times of a cron expression in a time zone."""
    return reply(actions.preview_times(services, cron, zone))


@router.get("/schedules/{schedule_id}", response_model=ScheduleAnswer)
async def read_schedule(schedule_id: str, services: Svc, actor: Signed) -> Response:
    """Get one schedule."""
    return reply(await actions.read_schedule(services, actor, schedule_id))


@router.patch("/schedules/{schedule_id}", response_model=ScheduleAnswer)
async def change_schedule(schedule_id: str, body: ScheduleChangeRequest, services: Svc, actor: Signed) -> Response:
    """Pause or resume a schedule (editors: `enabled`), or change what it does (the user who made it)."""
    return reply(await actions.change_schedule(services, actor, schedule_id, body.changes()))


@router.delete("/schedules/{schedule_id}", status_code=204)
async def delete_schedule(schedule_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a schedule (editors). Its threads and runs stay."""
    await actions.delete_schedule(services, actor, schedule_id)
    return nothing()


@router.post("/schedules/{schedule_id}/run", status_code=202, response_model=StartedAnswer)
async def run_schedule(schedule_id: str, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Start a run of a schedule now, as the caller (editors). Its next times stay as they are."""
    return reply(await actions.run_schedule(services, actor, schedule_id, key), 202)


@router.post("/schedules/{schedule_id}/seen", status_code=204)
async def see_schedule(schedule_id: str, services: Svc, actor: Signed) -> Response:
    """Remove the problem of a schedule from the caller's inbox. Repeating is harmless."""
    await actions.see_schedule(services, actor, schedule_id)
    return nothing()
