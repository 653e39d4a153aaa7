"""Screens: make, list, read, move, change, duplicate, delete; hosts of their pictures, and the themes they can have."""

from typing import Any

from fastapi import Request as HttpRequest
from starlette.responses import Response

from outlast.apps.screens import actions, copies
from outlast.apps.screens import image_host_actions as host_actions
from outlast.apps.screens.shapes import (
    CopyRequest,
    ImageHostAnswer,
    MovesRequest,
    ScreenData,
    ScreenPatch,
    ScreenRequest,
    Theme,
)
from outlast.apps.screens.theme_tokens import shipped_themes
from outlast.kernel.http.auth import Served, Signed, Surface, Svc
from outlast.kernel.http.parameters import Key, LongLimit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews.routes import preview_origin
from outlast.kernel.sandboxes.templates import DEV_PORT

router = noun_router("Screens")
PAGE = 200


@router.get("/projects/{project_id}/screens", response_model=Page[ScreenData])
async def list_screens(
    project_id: str,
    request: HttpRequest,
    surface: Served,
    actor: Signed,
    after: str | None = None,
    limit: LongLimit = PAGE,
) -> Response:
    """The project's screens, oldest first."""
    found = await actions.list_screens(surface.services, actor, project_id, after, limit)
    return reply(page([shown(surface, request, one) for one in found.items], found.next))


@router.post("/projects/{project_id}/screens", status_code=201, response_model=ScreenData)
async def create_screen(
    project_id: str, body: ScreenRequest, request: HttpRequest, surface: Served, actor: Signed, key: Key = None
) -> Response:
    """Make a screen with its conversation and first files (editors). Without a place it gets the next free one."""
    made = await actions.create_screen(surface.services, actor, project_id, body, key=key)
    return reply(shown(surface, request, made), 201)


@router.patch("/projects/{project_id}/screens", response_model=Page[ScreenData])
async def move_screens(
    project_id: str, body: MovesRequest, request: HttpRequest, surface: Served, actor: Signed
) -> Response:
    """Move several screens at once, all or none (editors)."""
    moved = await actions.move_screens(surface.services, actor, project_id, body.items)
    return reply(page([shown(surface, request, one) for one in moved]))


@router.get("/screens/{screen_id}", response_model=ScreenData)
async def read_screen(screen_id: str, request: HttpRequest, surface: Served, actor: Signed) -> Response:
    """One screen. Runs are started on its thread."""
    return reply(shown(surface, request, await actions.read_screen(surface.services, actor, screen_id)))


@router.patch("/screens/{screen_id}", response_model=ScreenData)
async def change_screen(
    screen_id: str, body: ScreenPatch, request: HttpRequest, surface: Served, actor: Signed
) -> Response:
    """Move, resize, rename a screen, or give it another theme (editors). While a run works there a theme is written
    into its files when that has ended."""
    changed = await actions.change_screen(surface.services, actor, screen_id, body)
    return reply(shown(surface, request, changed))


@router.delete("/screens/{screen_id}", status_code=204)
async def delete_screen(screen_id: str, surface: Served, actor: Signed) -> Response:
    """Remove a screen with its conversation, files and sandbox (owners). Refused (409) while a run of it has not
    ended."""
    await actions.delete_screen(surface.services, actor, screen_id)
    return nothing()


@router.post("/screens/{screen_id}/duplicate", status_code=201, response_model=ScreenData)
async def duplicate_screen(
    screen_id: str,
    request: HttpRequest,
    surface: Served,
    actor: Signed,
    body: CopyRequest | None = None,
    key: Key = None,
) -> Response:
    """Copy a screen with its files, conversation and theme (editors)."""
    asked = body or CopyRequest()
    copied = await copies.duplicate_screen(surface.services, actor, screen_id, asked.x, asked.y, key=key)
    return reply(shown(surface, request, copied), 201)


@router.get("/screens/{screen_id}/image-hosts", response_model=Page[ImageHostAnswer])
async def list_image_hosts(screen_id: str, services: Svc, actor: Signed) -> Response:
    """Hosts whose pictures the screen may load, and (`allowed_at` null) those whose pictures were blocked."""
    return reply(page(await host_actions.list_image_hosts(services, actor, screen_id)))


@router.put("/screens/{screen_id}/image-hosts/{host}", response_model=Page[ImageHostAnswer])
async def allow_image_host(screen_id: str, host: str, services: Svc, actor: Signed) -> Response:
    """Let the screen load pictures of a host (editors). Repeating changes nothing."""
    return reply(page(await host_actions.allow_image_host(services, actor, screen_id, host)))


@router.delete("/screens/{screen_id}/image-hosts/{host}", status_code=204)
async def remove_image_host(screen_id: str, host: str, services: Svc, actor: Signed) -> Response:
    """Block pictures of a host again (editors)."""
    await host_actions.remove_image_host(services, actor, screen_id, host)
    return nothing()


@router.get("/themes", response_model=Page[Theme])
async def list_themes(surface: Served, actor: Signed) -> Response:
    """The themes that screens can have."""
    return reply(page(list(shipped_themes().values())))


def shown(surface: Surface, request: HttpRequest, screen: ScreenData) -> dict[str, Any]:
    """A screen as its project's members see it: with the address of its app, once it has a sandbox."""
    body = screen.model_dump(mode="json")
    if screen.sandbox_id is not None:
        body["preview_url"] = f"{preview_origin(surface, request, screen.sandbox_id, DEV_PORT)}/"
    return body
