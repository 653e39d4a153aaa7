"""Modules saved by the agents of pages."""

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
    """The saved modules of the page's agent, by path, as far as their files exist."""
    return reply(page(await actions.list_page_modules(services, actor, page_id)))
