"""Modules that the agents of pages saved."""

from starlette.responses import Response

from outlast.apps.pages import code_actions as actions
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.library.shapes import ModuleData

router = noun_router("Modules")


@router.get("/pages/{page_id}/modules", response_model=Page[ModuleData])
async def list_page_modules(page_id: str, services: Svc, actor: Signed) -> Response:
    """What the page's agent has saved there, by path, as far as the files live."""
    return reply(page(await actions.list_page_modules(services, actor, page_id)))
