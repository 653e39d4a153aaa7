"""The current user, signing in and out, API tokens."""

from fastapi import Request
from starlette.responses import Response

from outlast.kernel.accounts import actions
from outlast.kernel.accounts.shapes import (
    LimitsAnswer,
    MeAnswer,
    NewTokenAnswer,
    SessionRequest,
    SignedInUserAnswer,
    TokenAnswer,
    TokenRequest,
)
from outlast.kernel.apps import registry
from outlast.kernel.http.auth import COOKIE, Served, Signed, Svc, clear_cookie, is_browser, set_cookie
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews.ports import PAGES_DOMAIN
from outlast.kernel.row_shapes import shape_of

router = noun_router("Accounts")


@router.get("/me", response_model=MeAnswer)
async def read_me(request: Request, surface: Served, actor: Signed) -> Response:
    """Get the signed-in user and the limits of this server. In local mode this also signs the browser in."""
    user, project_id = await actions.read_me(surface.services, actor)
    settings = surface.services.settings
    answer = reply(
        {
            "user": shape_of(SignedInUserAnswer, user),
            "signed_in": True,
            "local_mode": surface.local_owner is not None,
            "default_project_id": project_id,
            "version": surface.version,
            "pages_domain": registry.implementation(PAGES_DOMAIN)(surface.previews),
            "sandboxes": surface.services.sandboxes.manager is not None,
            "embedder": bool(settings.embeddings.url),
            "limits": LimitsAnswer.model_validate(settings.limits, from_attributes=True),
            "clocks": {
                "approval_pause_after_s": settings.runs.approval_pause_after_s,
                "paused_kill_after_s": settings.runs.paused_kill_after_s,
                "abandoned_after_s": settings.runs.abandoned_after_s,
                "lock_ttl_s": settings.locks.ttl_s,
            },
        }
    )
    if actor.via == "local" and is_browser(request):
        set_cookie(answer, surface, await actions.open_session(surface.services, actor))
    return answer


@router.post("/session", status_code=204)
async def open_session(body: SessionRequest, request: Request, surface: Served) -> Response:
    """Exchange an API token for a cookie session."""
    with surface.watched(request):
        actor = await actions.actor_for_token(surface.services, body.token.strip())
    return set_cookie(nothing(), surface, await actions.open_session(surface.services, actor))


@router.delete("/session", status_code=204)
async def end_session(request: Request, surface: Served) -> Response:
    """Sign this browser out. Repeating is harmless."""
    cookie = request.cookies.get(COOKIE)
    if cookie:
        await actions.end_session(surface.services, cookie)
    return clear_cookie(nothing(), surface)


@router.get("/tokens", response_model=Page[TokenAnswer])
async def list_tokens(services: Svc, actor: Signed) -> Response:
    """List the caller's own API tokens, newest first, without their secrets."""
    return reply(page(await actions.list_tokens(services, actor)))


@router.post("/tokens", status_code=201, response_model=NewTokenAnswer)
async def create_token(body: TokenRequest, services: Svc, actor: Signed) -> Response:
    """Create an API token. It is shown only in this answer."""
    return reply(await actions.create_token(services, actor, body.name, body.expires_in_days), 201)


@router.delete("/tokens/{token_id}", status_code=204)
async def revoke_token(token_id: str, services: Svc, actor: Signed) -> Response:
    """Revoke one of the caller's tokens, and end its sessions."""
    await actions.revoke_token(services, actor, token_id)
    return nothing()
