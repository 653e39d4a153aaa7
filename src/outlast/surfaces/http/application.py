"""The HTTP application: doors around routes, errors as problems, the web app below everything else."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from outlast.base.errors import OutlastError
from outlast.surfaces.http import routes
from outlast.surfaces.http.doors import Doors
from outlast.surfaces.http.hosts import KnownHosts
from outlast.surfaces.http.models.shapes import Problem
from outlast.surfaces.http.problems import tell_http, tell_invalid, tell_refusal, tell_unexpected
from outlast.surfaces.http.sign_in import Surface
from outlast.surfaces.http.static import WebApp
from outlast.surfaces.protocols.e2b.door import E2bDoor

DESCRIPTION = (
    "Runs of AI agents that outlast the tab, the connection, the process and the sandbox. Send "
    "`Authorization: Bearer <token>`; on the machine itself, local mode needs none. Errors are problem documents "
    "(RFC 9457) with `code`, `detail`, `hint` and `fields`. Lists answer `{items, next}`. Times are ISO 8601 in UTC."
)


def create_http(surface: Surface, hosts: KnownHosts) -> Doors:
    """The whole HTTP side of one server, as an ASGI application."""
    limits = surface.services.settings.limits
    api = create_api([routes.streams.router, routes.runs.router])
    api.state.surface = surface
    inner: ASGIApp = api
    if surface.e2b is not None:
        inner = E2bDoor(api, surface.services, surface.e2b, surface.previews.domain)
    return Doors(
        inner,
        hosts,
        body_bytes=limits.request_bytes,
        image_bytes=limits.image_bytes,
        file_bytes=surface.services.settings.documents.artifact_bytes,
        text_bytes=surface.services.settings.knowledge.source_bytes,
        frames=surface.previews.frame_source,
    )


def create_api(first: Sequence[APIRouter] = (), web: WebApp | None = None) -> FastAPI:
    """The routes alone: what openapi.json describes. `first`: the routers asked most often, since a request tries one
    route after the other."""
    api = FastAPI(
        title="Outlast",
        description=DESCRIPTION,
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        responses={"4XX": {"model": Problem, "description": "Refused; `code` says why, `hint` what to do."}},
        generate_unique_id_function=lambda route: route.name,
    )
    api.add_exception_handler(OutlastError, tell_refusal)
    api.add_exception_handler(RequestValidationError, tell_invalid)
    api.add_exception_handler(HTTPException, tell_http)
    api.add_exception_handler(Exception, tell_unexpected)
    for router in [*first, *(router for router in all_routers() if router not in first)]:
        api.include_router(router)
    api.router.routes.append(Route("/{path:path}", (web or WebApp()).answer, methods=["GET"]))
    return api


def all_routers() -> list[APIRouter]:
    modules: list[Any] = [getattr(routes, name) for name in routes.__all__]
    return [module.router for module in modules]
