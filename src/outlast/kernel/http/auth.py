"""Signs requests in: by a token, else a browser's session, else as this machine's owner."""

from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.responses import Response

from outlast.base.errors import NotSignedIn
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import is_loopback
from outlast.kernel.http.surface import Surface
from outlast.kernel.services import Services

COOKIE: Final = "outlast_session"
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
DAY_S: Final = 86_400


async def surface_of(request: Request) -> Surface:
    surface: Surface = request.app.state.surface
    return surface


async def services_of(request: Request) -> Services:
    surface: Surface = request.app.state.surface
    return surface.services


async def who(request: Request) -> Actor | None:
    """The user of the request, or None if it has no credentials. Raises `NotSignedIn` for an invalid token."""
    surface: Surface = request.app.state.surface
    actor = await _find(request, surface)
    if actor is not None:
        request.scope["state"]["user_id"] = actor.user_id
    return actor


async def signed_in(request: Request) -> Actor:
    """The user of the request. Raises `NotSignedIn`."""
    actor = await who(request)
    if actor is None:
        raise NotSignedIn("You are not signed in.")
    return actor


async def _find(request: Request, surface: Surface) -> Actor | None:
    authorization = request.headers.get("authorization")
    if authorization is not None:
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise NotSignedIn("The Authorization header must be 'Bearer' and a token.")
        return await accounts.actor_for_token(surface.services, secret.strip())
    cookie = request.cookies.get(COOKIE)
    if cookie and (actor := await accounts.actor_for_session(surface.services, cookie)):
        return actor
    return surface.local_owner if surface.local_owner and _is_from_this_machine(request) else None


def _is_from_this_machine(request: Request) -> bool:
    """True for local clients without a proxy: behind a proxy on this machine, every client would look local."""
    if request.client is None or not is_loopback(request.client.host):
        return False
    return not any(name in request.headers for name in FORWARDED)


def is_browser(request: Request) -> bool:
    return "sec-fetch-site" in request.headers or "origin" in request.headers


def set_cookie(answer: Response, surface: Surface, value: str) -> Response:
    """Sign the browser in: scripts cannot read this cookie, and other sites cannot send it."""
    days = surface.services.settings.auth.session_days
    answer.set_cookie(COOKIE, value, int(days * DAY_S), httponly=True, samesite="strict", secure=surface.secure_cookie)
    return answer


def clear_cookie(answer: Response, surface: Surface) -> Response:
    """Sign the browser out: the attributes are those of `set_cookie`, or the browser keeps the cookie."""
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=surface.secure_cookie)
    return answer


Signed = Annotated[Actor, Depends(signed_in)]
MaybeSigned = Annotated[Actor | None, Depends(who)]
Served = Annotated[Surface, Depends(surface_of)]
Svc = Annotated[Services, Depends(services_of)]
