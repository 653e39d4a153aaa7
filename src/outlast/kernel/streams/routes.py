"""Live events of a run, a thread or a project, after a cursor."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import Header, Query, Request
from starlette.responses import Response

from outlast.base.errors import Gone, PermissionNeeded
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.auth import Served, Signed, signed_in
from outlast.kernel.http.event_stream import EventStream, pusher
from outlast.kernel.http.responses import nothing
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.surface import Surface
from outlast.kernel.projects.permissions import require, require_run, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.streams import actions

router = noun_router("Streams")
After = Annotated[str, Query(max_length=100)]
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)]  # wins if a browser sends it
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events; `id` is the cursor, `data` one event.",
        "content": {"text/event-stream": {}},
    },
    204: {"description": "The run has ended and nothing is left after this cursor."},
}


@router.get("/runs/{run_id}/events", response_class=Response, responses=STREAM)
async def follow_run(
    run_id: str, request: Request, surface: Served, actor: Signed, after: After = "0", last: LastEventId = None
) -> Response:
    """A run's events after an integer cursor: those missed, then live, until `stream.ended`."""
    frames = await actions.follow_run(surface.services, actor, run_id, last or after, pusher(request.scope))
    if frames is None:
        return nothing()
    return _stream(request, surface, actor, frames, require_run, run_id)


@router.get("/threads/{thread_id}/events", response_class=Response, responses=STREAM)
async def follow_thread(
    thread_id: str, request: Request, surface: Served, actor: Signed, after: After = "0", last: LastEventId = None
) -> Response:
    """A thread's events and those of its runs, after an opaque cursor. Shows the caller to others as watching."""
    push = pusher(request.scope)
    frames = await actions.follow_thread(surface.services, actor, thread_id, last or after, push)
    return _stream(request, surface, actor, frames, require_thread, thread_id)


@router.get("/projects/{project_id}/events", response_class=Response, responses=STREAM)
async def follow_project(
    project_id: str, request: Request, surface: Served, actor: Signed, after: After = "0", last: LastEventId = None
) -> Response:
    """A project's events: changes of threads, members, locks and sandboxes."""
    frames = await actions.follow_project(surface.services, actor, project_id, last or after)
    return _stream(request, surface, actor, frames, require, project_id)


def _stream(
    request: Request,
    surface: Surface,
    actor: Actor,
    frames: AsyncIterator[bytes],
    demand: Callable[..., Any],
    resource_id: str,
) -> Response:
    """The frames, as long as the token or session is valid and its user may read this."""

    async def may_read() -> bool:
        try:
            await surface.services.db.read(demand, await signed_in(request), resource_id, Right.READ)
        except (PermissionNeeded, Gone):
            return False
        return True

    return EventStream(frames, surface.streams, may_read, actor.user_id)
