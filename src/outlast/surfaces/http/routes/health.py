"""Is it alive, can it work."""

from fastapi import APIRouter
from starlette.responses import Response

from outlast.surfaces.http.models.accounts import HealthAnswer, ReadyAnswer
from outlast.surfaces.http.replies import reply
from outlast.surfaces.http.sign_in import Served

router = APIRouter(tags=["Health"])


@router.get("/healthz", response_model=HealthAnswer)
async def read_health() -> Response:
    """The process answers."""
    return reply({"status": "ok"})


@router.get("/readyz", response_model=ReadyAnswer)
async def read_readiness(surface: Served) -> Response:
    """Whether it can serve: 503 while its database does not answer. Says what isolation sandboxes have here."""
    ready, report = await surface.readiness.report()
    return reply(report, 200 if ready else 503)
