"""Users, their plans and credits, and items that were set aside: for administrators of the server."""

from fastapi import Query
from starlette.responses import Response

from outlast.kernel.administration import actions
from outlast.kernel.administration.shapes import (
    GrantRequest,
    SetAsideAnswer,
    UserChangeRequest,
    UsersAnswer,
    UserSummaryAnswer,
)
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Administration", prefix="/v1/admin")


@router.get("/users", response_model=UsersAnswer)
async def list_users(
    services: Svc,
    actor: Signed,
    q: str = Query("", max_length=200),
    after: str | None = Query(None, max_length=40),
    limit: Limit = 50,
) -> Response:
    """List the users of the server, the newest first (administrators). `q` is a part of the name."""
    items, more = await actions.list_users(services, actor, q, after, limit)
    return reply({**page(items, more), "plans": sorted(services.settings.credits.plans)})


@router.patch("/users/{user_id}", response_model=UserSummaryAnswer)
async def change_user(user_id: str, body: UserChangeRequest, services: Svc, actor: Signed) -> Response:
    """Move a user to another plan, or add or remove the right to administer (administrators)."""
    return reply(await actions.change_user(services, actor, user_id, body.plan, body.is_admin))


@router.post("/users/{user_id}/grants", status_code=201, response_model=UserSummaryAnswer)
async def grant_credits(user_id: str, body: GrantRequest, services: Svc, actor: Signed) -> Response:
    """Give a user credits for this month, on top of the plan's (administrators)."""
    return reply(await actions.grant_credits(services, actor, user_id, body.credits), 201)


@router.get("/set-aside", response_model=Page[SetAsideAnswer])
async def list_set_aside(services: Svc, actor: Signed) -> Response:
    """List work that failed repeatedly and is no longer retried, newest first, at most 500 (administrators)."""
    return reply(page(await actions.list_set_aside(services, actor)))


@router.post("/set-aside/{kind}/{item_id:path}/retry", status_code=204)
async def retry_set_aside(kind: str, item_id: str, services: Svc, actor: Signed) -> Response:
    """Retry an item, as if it had never failed (administrators)."""
    await actions.retry_set_aside(services, actor, kind, item_id)
    return nothing()


@router.delete("/set-aside/{kind}/{item_id:path}", status_code=204)
async def delete_set_aside(kind: str, item_id: str, services: Svc, actor: Signed) -> Response:
    """Give an item up permanently (administrators). Only for kinds without a delete route of their own."""
    await actions.delete_set_aside(services, actor, kind, item_id)
    return nothing()
