"""Hosts of pictures in screens: list, allow, remove."""

from fastapi import APIRouter
from starlette.responses import Response

from outlast.actions import screen_images as actions
from outlast.surfaces.http.models.screens import ImageHostAnswer
from outlast.surfaces.http.models.shapes import Page
from outlast.surfaces.http.replies import nothing, page, reply
from outlast.surfaces.http.sign_in import Signed, Svc

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
