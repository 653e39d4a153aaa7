"""Screens: make, list, read, move, change, duplicate, delete, open; and the themes they can have."""

from typing import Any

from fastapi import APIRouter, Query
from fastapi import Request as HttpRequest
from starlette.responses import Response

from outlast.apps.screens import actions, copies
from outlast.apps.screens.shapes import CopyRequest, MovesRequest, ScreenData, ScreenPatch, ScreenRequest, ThemeAnswer
from outlast.apps.screens.theme_actions import list_themes as shipped_themes
from outlast.kernel.http.auth import Served, Signed, Surface
from outlast.kernel.http.parameters import Key
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews.routes import preview_origin
from outlast.kernel.sandboxes.templates import DEV_PORT

router = APIRouter(prefix="/v1", tags=["Screens"])
PAGE = 200


@router.get("/projects/{project_id}/screens", response_model=Page[ScreenData])
async def list_screens(
    project_id: str,
    request: HttpRequest,
    surface: Served,
    actor: Signed,
    after: str | None = None,
    limit: int = Query(PAGE, ge=1, le=500),
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


@router.get("/themes", response_model=Page[ThemeAnswer])
async def list_themes(surface: Served, actor: Signed) -> Response:
    """The themes that screens can have."""
    return reply(
        page(
            [
                {
                    "id": one.id,
                    "name": one.name,
                    "description": one.description,
                    "light": dict(one.light),
                    "dark": dict(one.dark),
                }
                for one in shipped_themes()
            ]
        )
    )


def shown(surface: Surface, request: HttpRequest, screen: ScreenData) -> dict[str, Any]:
    """A screen as its project's members see it: with the address of its app, once it has a sandbox."""
    body = screen.model_dump(mode="json")
    if screen.sandbox_id is not None:
        body["preview_url"] = f"{preview_origin(surface, request, screen.sandbox_id, DEV_PORT)}/"
    return body
