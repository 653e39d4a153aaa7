"""Runs: start, read, list, cancel, retry, continue, resume, export."""

import orjson
from fastapi import Query
from starlette.responses import Response

from outlast.base.errors import MalformedInput
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Key, Limit
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.runs import actions, steer_actions
from outlast.kernel.runs.actions import NewThread
from outlast.kernel.runs.cache_shares import CACHE_DAYS
from outlast.kernel.runs.shapes import (
    AgainRequest,
    CacheShareAnswer,
    RunAnswer,
    RunStatus,
    RunSummaryAnswer,
    StartedAnswer,
)
from outlast.kernel.runs.start_shapes import StartRequest, StartThreadRequest, SteerRequest
from outlast.kernel.threads.routes import draft_of
from outlast.kernel.threads.shapes import MessageData

router = noun_router("Runs")


@router.post("/threads/{thread_id}/runs", status_code=202, response_model=StartedAnswer)
async def start_run(thread_id: str, body: StartRequest, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Post a message and start a run that answers it. The run continues without followers. Follow it from `cursor`."""
    started = await actions.start_run(
        services, actor, thread_id, draft_of(body), model=body.model, on_busy=body.on_busy, key=key
    )
    return _accepted(started)


@router.post("/runs", status_code=202, response_model=StartedAnswer)
async def start_run_in_new_thread(body: StartThreadRequest, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Post a message to a new thread and start a run that answers it. Without a project the thread is created in the
    caller's default project."""
    thread = NewThread(body.project_id, body.profile, body.title)
    started = await actions.start_run(
        services, actor, thread, draft_of(body), model=body.model, on_busy=body.on_busy, key=key
    )
    return _accepted(started)


@router.get("/runs", response_model=Page[RunSummaryAnswer])
async def list_runs(
    services: Svc,
    actor: Signed,
    project: str | None = None,
    thread: str | None = None,
    status: RunStatus | None = None,
    q: str = Query("", max_length=500),
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """Runs of a project, or of all the caller's projects, newest first; `q` searches ids, titles, models and errors."""
    found = await actions.list_runs(
        services, actor, project_id=project, thread_id=thread, status=status, query=q, before=before, limit=limit
    )
    return reply(page(found.items, found.next))


@router.get("/runs/cached", response_model=Page[CacheShareAnswer])
async def read_cache_shares(
    services: Svc, actor: Signed, project: str | None = None, days: int = Query(CACHE_DAYS, ge=1, le=366)
) -> Response:
    """Share of the prompts of the last days that came from the provider's cache, by provider and model."""
    return reply(page(await actions.cache_shares(services, actor, project, days)))


@router.get("/runs/{run_id}", response_model=RunAnswer)
async def read_run(run_id: str, services: Svc, actor: Signed) -> Response:
    """Read a run: its parts so far, pending decisions, steps, clocks. Counts as following for a while."""
    return reply(await actions.read_run(services, actor, run_id))


@router.post("/runs/{run_id}/cancel", response_model=RunSummaryAnswer)
async def cancel_run(run_id: str, services: Svc, actor: Signed) -> Response:
    """Cancel a run; confirmed within two seconds. Repeating is harmless."""
    return reply(await actions.cancel_run(services, actor, run_id))


@router.post("/runs/{run_id}/steer", status_code=202, response_model=MessageData)
async def steer_run(run_id: str, body: SteerRequest, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Post a message that the agent reads before its next turn. A run that would end reads it first. 409 `run_finished`
    if the run has ended: start a run with the message instead."""
    if body.queued_run_id is not None and (body.content or body.parts or body.images):
        raise MalformedInput("A message of the queue is sent without content of its own.", field="queued_run_id")
    content = body.queued_run_id or draft_of(body)
    return reply(await steer_actions.steer_run(services, actor, run_id, content, key=key), 202)


@router.post("/runs/{run_id}/retry", status_code=202, response_model=StartedAnswer)
async def retry_run(
    run_id: str, services: Svc, actor: Signed, body: AgainRequest | None = None, key: Key = None
) -> Response:
    """Answer the same message again, from the start, in a new run."""
    model = body.model if body else None
    return _accepted(await actions.retry_run(services, actor, run_id, model=model, key=key))


@router.post("/runs/{run_id}/continue", status_code=202, response_model=StartedAnswer)
async def continue_run(
    run_id: str, services: Svc, actor: Signed, body: AgainRequest | None = None, key: Key = None
) -> Response:
    """Continue a failed or cancelled run in a new run, from where it stopped."""
    model = body.model if body else None
    return _accepted(await actions.continue_run(services, actor, run_id, model=model, key=key))


@router.post("/runs/{run_id}/resume", response_model=RunSummaryAnswer)
async def resume_run(run_id: str, services: Svc, actor: Signed) -> Response:
    """Wake a paused run and its sandbox without deciding."""
    return reply(await actions.resume_run(services, actor, run_id))


@router.get("/runs/{run_id}/export", response_class=Response)
async def export_run(run_id: str, services: Svc, actor: Signed) -> Response:
    """The run with its steps, calls and whole log, as one JSON file."""
    content = orjson.dumps(await actions.export_run(services, actor, run_id), option=orjson.OPT_INDENT_2)
    headers = {"content-disposition": f'attachment; filename="{run_id}.json"', "cache-control": "no-store"}
    return Response(content, 200, headers, "application/json")


def _accepted(started: StartedAnswer) -> Response:
    return reply(started, 202)
