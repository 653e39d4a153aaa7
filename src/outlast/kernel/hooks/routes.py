"""Incoming webhooks: addresses at which other programs start runs."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from outlast.kernel.hooks import actions, shapes
from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Incoming webhooks")


@router.post("/hooks/{hook_id}", status_code=202, response_model=shapes.HookStartedAnswer)
async def call_hook(hook_id: str, request: Request, surface: Served) -> Response:
    """Start a run from JSON of at most 256 KB. The call proves that it knows the hook's secret by
    `Authorization: Bearer`, by `X-Hub-Signature-256`, or by the headers of Standard Webhooks. Calls with the same
    `webhook-id`, `X-GitHub-Delivery` or `Idempotency-Key` start one run within a day."""
    body = await request.body()
    headers = {name.lower(): value for name, value in request.headers.items()}
    with surface.watched(request):
        return reply(await actions.call_hook(surface.services, hook_id, headers, body), 202)


@router.post("/projects/{project_id}/hooks", status_code=201, response_model=shapes.NewHookAnswer)
async def create_hook(project_id: str, body: shapes.HookRequest, services: Svc, actor: Signed) -> Response:
    """Create an incoming webhook (owners). Its runs are started as you. Its secret is shown only in this answer."""
    return reply(await actions.create_hook(services, actor, project_id, body), 201)


@router.get("/projects/{project_id}/hooks", response_model=Page[shapes.HookAnswer])
async def list_hooks(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the project's incoming webhooks (owners), newest first."""
    return reply(page(await actions.list_hooks(services, actor, project_id)))


@router.patch("/hooks/{hook_id}", response_model=shapes.HookAnswer)
async def change_hook(hook_id: str, body: shapes.HookChanges, services: Svc, actor: Signed) -> Response:
    """Change an incoming webhook, or turn it on or off (owners). If you change its template, agent or threads, its runs
    are started as you from now on."""
    return reply(await actions.change_hook(services, actor, hook_id, body))


@router.delete("/hooks/{hook_id}", status_code=204)
async def delete_hook(hook_id: str, services: Svc, actor: Signed) -> Response:
    """Delete an incoming webhook (owners). Its threads and runs stay."""
    await actions.delete_hook(services, actor, hook_id)
    return nothing()


@router.post("/hooks/{hook_id}/rotate", response_model=shapes.NewHookAnswer)
async def rotate_hook_secret(hook_id: str, services: Svc, actor: Signed) -> Response:
    """Give the incoming webhook a new secret (owners), shown only in this answer. The old one is invalid at once, and
    its runs are started as you from now on."""
    return reply(await actions.rotate_hook_secret(services, actor, hook_id))


@router.get("/hooks/{hook_id}/calls", response_model=Page[shapes.HookCallAnswer])
async def list_hook_calls(
    hook_id: str,
    services: Svc,
    actor: Signed,
    before: Annotated[str | None, Query(max_length=100)] = None,
    limit: Limit = 50,
) -> Response:
    """List the last calls with a valid secret, and what became of them (owners), newest first."""
    found = await actions.list_calls(services, actor, hook_id, before, limit)
    return reply(page(found.items, found.next))
