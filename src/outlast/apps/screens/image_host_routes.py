"""Hosts of pictures in screens: list, allow, remove."""

from fastapi import APIRouter
from starlette.responses import Response

from outlast.apps.screens import image_host_actions as actions
from outlast.apps.screens.shapes import ImageHostAnswer
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.shapes import Page

router = APIRouter(prefix="/v1", tags=["Screens"])


@router.get("/screens/{screen_id}/image-hosts", response_model=Page[ImageHostAnswer])
async def list_image_hosts(screen_id: str, services: Svc, actor: Signed) -> Response:
    """Hosts whose pictures the screen may load, and (`allowed_at` null) those whose pictures were blocked."""
    return reply(page(await actions.list_image_hosts(services, actor, screen_id)))


@router.put("/screens/{screen_id}/image-hosts/{host}", response_model=Page[ImageHostAnswer])
async def allow_image_host(screen_id: str, host: str, services: Svc, actor: Signed) -> Response:
    """Let the screen load pictures of a host (editors). Repeating changes nothing."""
    return reply(page(await actions.allow_image_host(services, actor, screen_id, host)))


@router.delete("/screens/{screen_id}/image-hosts/{host}", status_code=204)
async def remove_image_host(screen_id: str, host: str, services: Svc, actor: Signed) -> Response:
    """Block pictures of a host again (editors)."""
    await actions.remove_image_host(services, actor, screen_id, host)
    return nothing()
