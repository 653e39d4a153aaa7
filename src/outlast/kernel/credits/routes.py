"""The credits of the caller."""

from fastapi import APIRouter
from starlette.responses import Response

from outlast.kernel.credits import actions
from outlast.kernel.credits.shapes import CreditsAnswer
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import reply

router = APIRouter(prefix="/v1", tags=["Models and credits"])


@router.get("/credits", response_model=CreditsAnswer)
async def read_credits(services: Svc, actor: Signed) -> Response:
    """The caller's balance and the last 20 ledger entries."""
    return reply(await actions.read_credits(services, actor))
