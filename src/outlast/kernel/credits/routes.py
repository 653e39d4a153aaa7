"""The credits of the caller."""

from starlette.responses import Response

from outlast.kernel.credits import actions
from outlast.kernel.credits.shapes import CreditsAnswer
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import reply
from outlast.kernel.http.routers import noun_router

router = noun_router("Models and credits")


@router.get("/credits", response_model=CreditsAnswer)
async def read_credits(services: Svc, actor: Signed) -> Response:
    """Get the caller's balance and the last 20 ledger entries."""
    return reply(await actions.read_credits(services, actor))
