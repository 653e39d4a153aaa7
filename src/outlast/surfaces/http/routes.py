"""The routers of the kernel, and the routes that say whether the server is alive and can work."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.kernel.accounts import routes as accounts
from outlast.kernel.accounts.shapes import HealthAnswer, ReadyAnswer
from outlast.kernel.administration import routes as administration
from outlast.kernel.attachments import routes as attachments
from outlast.kernel.credits import routes as credits  # noqa: A004 - the room's word
from outlast.kernel.files import routes as artifacts
from outlast.kernel.http.auth import Served
from outlast.kernel.http.responses import reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.inbox import routes as inbox
from outlast.kernel.locks import routes as locks
from outlast.kernel.models import routes as models
from outlast.kernel.previews import routes as previews
from outlast.kernel.projects import member_routes as members
from outlast.kernel.projects import routes as projects
from outlast.kernel.runs import approval_routes as approvals
from outlast.kernel.runs import routes as runs
from outlast.kernel.sandboxes import routes as sandboxes
from outlast.kernel.sandboxes.checkpoints import routes as checkpoints
from outlast.kernel.sandboxes.egress import routes as secret_uses
from outlast.kernel.streams import routes as streams
from outlast.kernel.threads import routes as threads

Verbose = Annotated[str | None, Query(max_length=10)]
router = noun_router("Health", prefix="")


@router.get("/healthz", response_model=HealthAnswer)
async def read_health() -> Response:
    """The process answers."""
    return reply({"status": "ok"})


@router.get("/readyz", response_model=ReadyAnswer)
async def read_readiness(surface: Served, verbose: Verbose = None) -> Response:
    """Whether it can serve: 503 while its database does not answer, or its worker, its HTTP server or the database's
    writer is down for more than 10 s. Says what isolation sandboxes have here; with `verbose` also how every service
    is, and which items are set aside because they kept failing."""
    ready, report = await surface.readiness.report(verbose=verbose not in (None, "0", "false"))
    return reply(report, 200 if ready else 503)


def kernel_routers() -> list[APIRouter]:
    """Those asked most often first, since a request tries one route after the other."""
    modules = (
        streams,
        runs,
        accounts,
        administration,
        approvals,
        artifacts,
        attachments,
        checkpoints,
        credits,
        inbox,
        locks,
        members,
        models,
        previews,
        projects,
        sandboxes,
        secret_uses,
        threads,
    )
    return [router, *(module.router for module in modules)]
