"""Screens: create, list, read, move, change, duplicate, delete; hosts of their pictures, and the available themes."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends
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
from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.parameters import Key, LongLimit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews.links import preview_origin
from outlast.kernel.sandboxes.templates import DEV_PORT

router = noun_router("Screens")
PAGE = 200


async def show_screen(surface: Served, request: HttpRequest) -> Callable[[ScreenData], dict[str, Any]]:
    """Renders a screen for its project's members: with the address of its app, once it has a sandbox."""

    def show(screen: ScreenData) -> dict[str, Any]:
        body = screen.model_dump(mode="json")
        if screen.sandbox_id is not None:
            body["preview_url"] = f"{preview_origin(surface, request, screen.sandbox_id, DEV_PORT)}/"
        return body

    return show


Show = Annotated[Callable[[ScreenData], dict[str, Any]], Depends(show_screen)]


@router.get("/projects/{project_id}/screens", response_model=Page[ScreenData])
async def list_screens(
    project_id: str, services: Svc, actor: Signed, show: Show, after: str | None = None, limit: LongLimit = PAGE
) -> Response:
    """The project's screens, oldest first."""
    found = await actions.list_screens(services, actor, project_id, after, limit)
    return reply(page([show(one) for one in found.items], found.next))


@router.post("/projects/{project_id}/screens", status_code=201, response_model=ScreenData)
async def create_screen(
    project_id: str, body: ScreenRequest, services: Svc, actor: Signed, show: Show, key: Key = None
) -> Response:
    """Create a screen with its conversation and first files (editors). Without a place it gets the next free one."""
    return reply(show(await actions.create_screen(services, actor, project_id, body, key=key)), 201)


@router.patch("/projects/{project_id}/screens", response_model=Page[ScreenData])
async def move_screens(project_id: str, body: MovesRequest, services: Svc, actor: Signed, show: Show) -> Response:
    """Move several screens at once, all or none (editors)."""
    return reply(page([show(one) for one in await actions.move_screens(services, actor, project_id, body.items)]))


@router.get("/screens/{screen_id}", response_model=ScreenData)
async def read_screen(screen_id: str, services: Svc, actor: Signed, show: Show) -> Response:
    """One screen. Runs are started on its thread."""
    return reply(show(await actions.read_screen(services, actor, screen_id)))


@router.patch("/screens/{screen_id}", response_model=ScreenData)
async def change_screen(screen_id: str, body: ScreenPatch, services: Svc, actor: Signed, show: Show) -> Response:
    """Move, resize or rename a screen, or change its theme (editors). While a run works there, the theme is written
    into its files when the run has ended."""
    return reply(show(await actions.change_screen(services, actor, screen_id, body)))


@router.delete("/screens/{screen_id}", status_code=204)
async def delete_screen(screen_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a screen with its conversation, files and sandbox (owners). Refused (409) while a run of it has not
    ended."""
    await actions.delete_screen(services, actor, screen_id)
    return nothing()


@router.post("/screens/{screen_id}/duplicate", status_code=201, response_model=ScreenData)
async def duplicate_screen(
    screen_id: str, services: Svc, actor: Signed, show: Show, body: CopyRequest | None = None, key: Key = None
) -> Response:
    """Copy a screen with its files, conversation and theme (editors)."""
    asked = body or CopyRequest()
    return reply(show(await copies.duplicate_screen(services, actor, screen_id, asked.x, asked.y, key=key)), 201)


@router.get("/screens/{screen_id}/image-hosts", response_model=Page[ImageHostAnswer])
async def list_image_hosts(screen_id: str, services: Svc, actor: Signed) -> Response:
    """Hosts whose pictures the screen may load, and (`allowed_at` null) hosts whose pictures were blocked."""
    return reply(page(await host_actions.list_image_hosts(services, actor, screen_id)))


@router.put("/screens/{screen_id}/image-hosts/{host}", response_model=Page[ImageHostAnswer])
async def allow_image_host(screen_id: str, host: str, services: Svc, actor: Signed) -> Response:
    """Allow the screen to load pictures from a host (editors). Repeating changes nothing."""
    return reply(page(await host_actions.allow_image_host(services, actor, screen_id, host)))


@router.delete("/screens/{screen_id}/image-hosts/{host}", status_code=204)
async def remove_image_host(screen_id: str, host: str, services: Svc, actor: Signed) -> Response:
    """Block pictures from a host again (editors)."""
    await host_actions.remove_image_host(services, actor, screen_id, host)
    return nothing()


@router.get("/themes", response_model=Page[Theme])
async def list_themes(actor: Signed) -> Response:
    """The available themes for screens."""
    return reply(page(list(shipped_themes().values())))
