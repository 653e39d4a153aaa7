"""Threads and their messages: list, search, create, read, rename, archive, fork, delete."""

from typing import Literal

from fastapi import Query
from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Before, Key, Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.threads import actions
from outlast.kernel.threads.shapes import (
    FamilyThreadAnswer,
    ForkAnswer,
    ForkRequest,
    ListedThreadAnswer,
    MessageData,
    MessageRequest,
    PostedAnswer,
    StateData,
    ThreadAnswer,
    ThreadData,
    ThreadRequest,
    TitleRequest,
)
from outlast.kernel.threads.user_input import Draft

router = noun_router("Threads")


@router.get("/projects/{project_id}/threads", response_model=Page[ListedThreadAnswer])
async def list_threads(
    project_id: str,
    services: Svc,
    actor: Signed,
    status: Literal["open", "archived"] = "open",
    q: str = Query("", max_length=500),
    profile: str | None = Query(None, max_length=40),
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """List the project's threads, last changed first. With `q`, only threads whose title or messages contain its words,
    including archived ones; with `profile`, only threads of one agent profile."""
    found = await actions.list_threads(
        services, actor, project_id, status=status, query=q, profile=profile, before=before, limit=limit
    )
    return reply(page(*found))


@router.post("/projects/{project_id}/threads", status_code=201, response_model=ThreadData)
async def create_thread(project_id: str, body: ThreadRequest, services: Svc, actor: Signed) -> Response:
    """Create a thread (editors)."""
    made = await actions.create_thread(
        services, actor, project_id, title=body.title, profile=body.profile, anchor=body.anchor
    )
    return reply(made, 201)


@router.get("/threads/{thread_id}", response_model=ThreadAnswer)
async def read_thread(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Get a thread. Load its messages, then follow it from `cursor`."""
    return reply(await actions.open_thread(services, actor, thread_id))


@router.patch("/threads/{thread_id}", response_model=ThreadData)
async def rename_thread(thread_id: str, body: TitleRequest, services: Svc, actor: Signed) -> Response:
    """Rename a thread (editors)."""
    return reply(await actions.rename_thread(services, actor, thread_id, body.title))


@router.delete("/threads/{thread_id}", status_code=204)
async def delete_thread(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a thread with everything in it (owners)."""
    await actions.delete_thread(services, actor, thread_id)
    return nothing()


@router.post("/threads/{thread_id}/archive", response_model=ThreadData)
async def archive_thread(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Hide a thread from the list; search still finds it (editors)."""
    return reply(await actions.archive_thread(services, actor, thread_id))


@router.post("/threads/{thread_id}/unarchive", response_model=ThreadData)
async def unarchive_thread(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Bring a thread back to the list (editors)."""
    return reply(await actions.unarchive_thread(services, actor, thread_id))


@router.post("/threads/{thread_id}/fork", status_code=201, response_model=ForkAnswer)
async def fork_thread(
    thread_id: str, services: Svc, actor: Signed, body: ForkRequest | None = None, key: Key = None
) -> Response:
    """Copy a thread up to a message (by default the last) into a new thread (editors); with `summary`, the new thread
    begins with a summary instead."""
    asked = body or ForkRequest()
    if asked.summary:
        made = await actions.fork_with_summary(
            services, actor, thread_id, asked.message_id, asked.title, model=asked.model, key=key
        )
        return reply(made, 201)
    return reply(await actions.fork_thread(services, actor, thread_id, asked.message_id, asked.title), 201)


@router.get("/threads/{thread_id}/family", response_model=Page[FamilyThreadAnswer])
async def read_family(thread_id: str, services: Svc, actor: Signed) -> Response:
    """List the thread with its ancestors and all their forks, parents before children; at most 200."""
    return reply(page(await actions.read_family(services, actor, thread_id)))


@router.get("/threads/{thread_id}/state", response_model=StateData)
async def read_state(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Get the state of a thread: what its agents keep in it. Each change is an event `state.changed` of the thread."""
    return reply(await actions.read_state(services, actor, thread_id))


@router.get("/threads/{thread_id}/messages", response_model=Page[MessageData])
async def list_messages(
    thread_id: str, services: Svc, actor: Signed, before: Before = None, limit: Limit = 50
) -> Response:
    """List a page of messages, oldest first: the newest ones, or those before a position."""
    return reply(page(*await actions.list_messages(services, actor, thread_id, before, limit)))


@router.post("/threads/{thread_id}/messages", status_code=201, response_model=PostedAnswer)
async def post_message(thread_id: str, body: MessageRequest, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Add a message without starting a run (editors; needs no lock); members named in it (`@Ada`) find it in their
    inbox. `@agent` in it starts a run, as POST …/runs does; `started_run_id` is its id."""
    return reply(await actions.post_message(services, actor, thread_id, draft_of(body), key=key), 201)


def draft_of(body: MessageRequest) -> Draft:
    """The request as a `Draft`."""
    parts = [part.model_dump() for part in body.parts or ()]
    return Draft(body.content, parts, [*body.images, *body.files], body.mentions)
