"""Pages: create, list, read, rename, duplicate, delete; actions on them; their history, code and links."""

from fastapi import Request as HttpRequest
from starlette.responses import Response

from outlast.apps.pages import actions, user_actions
from outlast.apps.pages import code_actions as page_code
from outlast.apps.pages import copies as page_copies
from outlast.apps.pages import link_actions as page_links
from outlast.apps.pages import version_actions as page_history
from outlast.apps.pages.embeds.hosts import embed_url, page_hosts
from outlast.apps.pages.embeds.page_links import frame_of
from outlast.apps.pages.shapes import (
    ActionAnswer,
    ActionRequest,
    ActionState,
    CodeAnswer,
    LinkAnswer,
    LinkRequest,
    NewLinkAnswer,
    PageAction,
    PageData,
    PagePatch,
    PageRequest,
    RestoreRequest,
    VersionAnswer,
    VersionsAnswer,
)
from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.parameters import Before, Key, Limit, LongLimit, Version
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews.links import public_address

router = noun_router("Pages")


@router.get("/projects/{project_id}/pages", response_model=Page[PageData])
async def list_pages(
    project_id: str, services: Svc, actor: Signed, after: str | None = None, limit: LongLimit = 100
) -> Response:
    """The project's pages, oldest first, without their HTML."""
    found = await actions.list_pages(services, actor, project_id, after, limit)
    return reply(page(found.items, found.next))


@router.post("/projects/{project_id}/pages", status_code=201, response_model=PageData)
async def create_page(project_id: str, body: PageRequest, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Create a page with its conversation (editors)."""
    made = await actions.create_page(services, actor, project_id, title=body.title, html=body.html, key=key)
    return reply(made, 201)


@router.get("/pages/{page_id}", response_model=PageData)
async def read_page(page_id: str, services: Svc, actor: Signed) -> Response:
    """One page with its HTML. Its changes are in its thread's events; start runs with messages on that thread."""
    return reply(await actions.read_page(services, actor, page_id))


@router.patch("/pages/{page_id}", response_model=PageData)
async def rename_page(page_id: str, body: PagePatch, services: Svc, actor: Signed) -> Response:
    """Rename a page and its conversation (editors)."""
    return reply(await actions.rename_page(services, actor, page_id, body.title))


@router.delete("/pages/{page_id}", status_code=204)
async def delete_page(page_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a page with its history, conversation, files and links (owners). Refused (409) while a run of it has not
    ended."""
    await actions.delete_page(services, actor, page_id)
    return nothing()


@router.post("/pages/{page_id}/duplicate", status_code=201, response_model=PageData)
async def duplicate_page(page_id: str, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Copy a page with its HTML, files and conversation (editors)."""
    return reply(await page_copies.duplicate_page(services, actor, page_id, key=key), 201)


@router.post("/pages/{page_id}/actions", status_code=202, response_model=ActionAnswer)
async def act_on_page(page_id: str, body: ActionRequest, services: Svc, actor: Signed, key: Key = None) -> Response:
    """Report an action on the page (editors). If no run is active, one starts. Otherwise the action waits,
    with other waiting actions, for the next run."""
    acted = await user_actions.act(services, actor, page_id, body.name, body.data, model=body.model, key=key)
    return reply(acted, 202)


@router.get("/pages/{page_id}/actions", response_model=Page[PageAction])
async def list_page_actions(
    page_id: str,
    services: Svc,
    actor: Signed,
    state: ActionState | None = None,
    before: str | None = None,
    limit: Limit = 50,
) -> Response:
    """Actions of people on the page, newest first."""
    found = await user_actions.list_actions(services, actor, page_id, state=state, before=before, limit=limit)
    return reply(page(found.items, found.next))


@router.delete("/pages/{page_id}/actions/{action_id}", status_code=204)
async def take_back_action(page_id: str, action_id: str, services: Svc, actor: Signed) -> Response:
    """Cancel a waiting action (its author and owners). Refused (409) once a run has taken it."""
    await user_actions.take_back(services, actor, page_id, action_id)
    return nothing()


@router.get("/pages/{page_id}/versions", response_model=VersionsAnswer)
async def list_page_versions(
    page_id: str, services: Svc, actor: Signed, before: Before = None, limit: Limit = 50
) -> Response:
    """The page's history, newest first."""
    found = await page_history.list_versions(services, actor, page_id, before, limit)
    return reply({"items": found.items, "next": found.next})


@router.get("/pages/{page_id}/versions/{version}", response_model=VersionAnswer)
async def read_page_version(page_id: str, version: Version, services: Svc, actor: Signed) -> Response:
    """An earlier version of the page."""
    return reply(await page_history.read_version(services, actor, page_id, version))


@router.post("/pages/{page_id}/undo", response_model=PageData)
async def undo_page(page_id: str, services: Svc, actor: Signed) -> Response:
    """Undo the last change to the page by a run or a person (editors). Repeat to undo earlier changes.
    Refused (409) while a run is active or another member drives the thread."""
    return reply(await page_history.undo_page(services, actor, page_id))


@router.post("/pages/{page_id}/restore", response_model=PageData)
async def restore_page(page_id: str, body: RestoreRequest, services: Svc, actor: Signed) -> Response:
    """Restore an earlier version of the page (editors). Refused in the same cases as undo."""
    return reply(await page_history.restore_page(services, actor, page_id, body.version))


@router.get("/pages/{page_id}/code", response_model=Page[CodeAnswer])
async def list_page_code(
    page_id: str, services: Svc, actor: Signed, before: Before = None, limit: Limit = 50
) -> Response:
    """The code that ran for the page and its results, newest first."""
    found = await page_code.list_code(services, actor, page_id, before, limit)
    return reply(page(found.items, found.next))


@router.get("/pages/{page_id}/links", response_model=Page[LinkAnswer])
async def list_page_links(page_id: str, services: Svc, actor: Signed) -> Response:
    """The page's valid links, newest first (editors)."""
    return reply(page(await page_links.list_links(services, actor, page_id)))


@router.post("/pages/{page_id}/links", status_code=201, response_model=NewLinkAnswer)
async def create_page_link(
    page_id: str, body: LinkRequest, request: HttpRequest, surface: Served, actor: Signed
) -> Response:
    """Create a read-only link to the page (editors). Anyone with the link can view the page. The link is
    returned only once."""
    made = await page_links.create_link(surface.services, actor, page_id, body.name, body.expires_in_days)
    scheme, host = public_address(surface, request)
    url = embed_url(page_hosts(surface.previews), page_id, made.secret, scheme=scheme, host=host)
    return reply({**made.link.model_dump(), "url": url, "frame": frame_of(url, made.link.name)}, 201)


@router.delete("/pages/{page_id}/links/{link_id}", status_code=204)
async def revoke_page_link(page_id: str, link_id: str, services: Svc, actor: Signed) -> Response:
    """Revoke a link at once (editors). Repeating is harmless."""
    await page_links.revoke_link(services, actor, page_id, link_id)
    return nothing()
