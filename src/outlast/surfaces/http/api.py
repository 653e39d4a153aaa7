"""The API: the routes of the kernel and of all apps, errors as problems, the web app below everything else."""

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from outlast.base.errors import NotFound, OutlastError
from outlast.kernel.apps import registry
from outlast.kernel.apps.declared_names import KERNEL, DeclaredNames
from outlast.kernel.http.docs_site import DocsSite
from outlast.kernel.http.problems import answer_http_error, answer_invalid, answer_refusal, answer_unexpected
from outlast.kernel.http.static_files import WebApp
from outlast.surfaces.http.descriptions import DescribedApi
from outlast.surfaces.http.routes import KERNEL_ROUTES

# FastAPI silences this warning itself when it builds a body's shape at once; ours are built when first needed.
warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)


QUICK: Final = ("start_run", "start_run_in_new_thread", "follow_run", "follow_thread", "decide_approval")


def create_api(docs: DocsSite | None = None) -> FastAPI:
    """The routes of the kernel and of all apps, as in openapi.json. Raises `StartRefused` for a route that is declared
    twice."""
    routers = all_routers()
    api = DescribedApi(docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    api.add_exception_handler(OutlastError, answer_refusal)
    api.add_exception_handler(RequestValidationError, answer_invalid)
    api.add_exception_handler(HTTPException, answer_http_error)
    api.add_exception_handler(Exception, answer_unexpected)
    api.router.routes += [route for router in routers for route in router.routes]
    known = [route for route in api.router.routes if isinstance(route, Route)]
    api.router.routes.append(Route("/{path:path}", _Rest(known, docs or DocsSite())))
    return api


class _Rest:
    """Answers requests that match no route: another method of a route's path (405), the documentation, the web app, or
    404."""

    def __init__(self, routes: Sequence[Route], docs: DocsSite) -> None:
        self._routes = routes
        self._web, self._docs = WebApp(), docs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        here = [route for route in self._routes if route.matches(scope)[0] is not Match.NONE]
        methods = {method for route in here for method in route.methods or ()}
        if methods:
            raise HTTPException(405, headers={"allow": ", ".join(sorted(methods))})
        if scope["method"] not in ("GET", "HEAD"):
            raise NotFound(f"There is nothing at {scope['path'][:200]}.")
        path = scope["path"].removeprefix("/")
        answer = await (self._docs.answer(request, path) if self._docs.has(path) else self._web.answer(request))
        await answer(scope, receive, send)


def all_routers() -> list[APIRouter]:
    """The kernel's routers, then those of each app. Raises `StartRefused` for a route that is declared twice."""
    declared = [(KERNEL, KERNEL_ROUTES), *((app.name, app.routes) for app in registry.load().apps)]
    routers = [(owner, import_module(name).router) for owner, names in declared for name in names]
    owners = DeclaredNames()
    for owner, router in routers:
        for route in (route for route in router.routes if isinstance(route, Route)):
            for method in route.methods or ():
                owners.take("route", f"{method} {route.path}", owner)
    return [router for _, router in routers]
