"""Is it alive, can it work."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.kernel.accounts.shapes import HealthAnswer, ReadyAnswer
from outlast.kernel.http.auth import Served
from outlast.kernel.http.responses import reply

Verbose = Annotated[str | None, Query(max_length=10)]
router = APIRouter(tags=["Health"])


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
