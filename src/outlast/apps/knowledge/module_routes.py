"""Modules: saved by agents, published and deleted by people."""

from typing import Literal

from starlette.responses import Response

from outlast.apps.knowledge import module_actions as actions
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.library.shapes import ModuleData

router = noun_router("Modules")


@router.get("/modules", response_model=Page[ModuleData])
async def list_published_modules(services: Svc, actor: Signed, scope: Literal["user"] = "user") -> Response:
    """The caller's own library, by path: modules that all agents working for the caller can find."""
    return reply(page(await actions.list_published(services, actor)))


@router.post("/modules/{module_id}/publish", response_model=ModuleData)
async def publish_module(module_id: str, services: Svc, actor: Signed) -> Response:
    """Put a module into the caller's library (editors of its project), replacing an earlier one with its path."""
    return reply(await actions.publish_module(services, actor, module_id))


@router.delete("/modules/{module_id}", status_code=204)
async def delete_module(module_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a module: one of a project (editors; its file stays), or one of the caller's library."""
    await actions.delete_module(services, actor, module_id)
    return nothing()
