"""The routes of the kernel, and the health and readiness probes."""

from typing import Annotated, Final

from fastapi import Query, Request
from starlette.responses import Response

from outlast.kernel.http.auth import Served
from outlast.kernel.http.health_shapes import HealthAnswer, ReadyAnswer
from outlast.kernel.http.routers import noun_router
from outlast.surfaces.http.health import answer_health

KERNEL_ROUTES: Final = (
    "outlast.surfaces.http.routes",
    "outlast.kernel.streams.routes",
    "outlast.kernel.runs.routes",
    "outlast.kernel.accounts.routes",
    "outlast.kernel.administration.routes",
    "outlast.kernel.runs.approval_routes",
    "outlast.kernel.files.routes",
    "outlast.kernel.attachments.routes",
    "outlast.kernel.sandboxes.checkpoints.routes",
    "outlast.kernel.credits.routes",
    "outlast.kernel.inbox.routes",
    "outlast.kernel.locks.routes",
    "outlast.kernel.projects.member_routes",
    "outlast.kernel.models.routes",
    "outlast.kernel.agents.routes",
    "outlast.kernel.previews.routes",
    "outlast.kernel.projects.routes",
    "outlast.kernel.sandboxes.routes",
    "outlast.kernel.sandboxes.egress.routes",
    "outlast.kernel.secrets.routes",
    "outlast.kernel.threads.routes",
    "outlast.kernel.compactions.routes",
    "outlast.kernel.schedules.routes",
    "outlast.kernel.webhooks.routes",
    "outlast.kernel.hooks.routes",
    "outlast.kernel.mcp.routes",
    "outlast.kernel.connections.routes",
)
"""Modules with a `router`, in the form of `App.routes`; the most requested first, since a request tries one route after
the other."""
Verbose = Annotated[str | None, Query(max_length=10)]
router = noun_router("Health", prefix="")


@router.get("/healthz", response_model=HealthAnswer)
async def read_health(surface: Served, request: Request) -> Response:
    """The process answers."""
    return await answer_health(surface, request)


@router.get("/readyz", response_model=ReadyAnswer)
async def read_readiness(surface: Served, request: Request, verbose: Verbose = None) -> Response:
    """Check that the server can work: 503 while its database does not answer, or its worker, its HTTP server or the
    database's writer is down for more than 10 s. Reports the isolation of sandboxes; with `verbose` also the state of
    every service, and the items that were set aside because they kept failing."""
    return await answer_health(surface, request)
