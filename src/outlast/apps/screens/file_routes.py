"""The app of a screen: open it, and its files."""

from fastapi import Query
from fastapi import Request as HttpRequest
from starlette.responses import Response, StreamingResponse

from outlast.apps.screens import file_actions as actions
from outlast.apps.screens import open_actions as opening
from outlast.apps.screens.file_search import MAX_HITS, MAX_QUERY_CHARS
from outlast.apps.screens.routes import Show
from outlast.apps.screens.shapes import (
    HitsAnswer,
    ScreenChangesAnswer,
    ScreenData,
    ScreenFilesAnswer,
    ScreenPreviewRequest,
)
from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews.links import embedding_origin, ticket_answer
from outlast.kernel.previews.shapes import PreviewAnswer
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.routes import as_download

router = noun_router("Screens")


@router.post("/screens/{screen_id}/open", status_code=202, response_model=ScreenData)
async def open_screen(screen_id: str, services: Svc, actor: Signed, show: Show) -> Response:
    """Start its app: the server wakes or creates the sandbox in the background; progress comes as events."""
    return reply(show(await opening.open_screen(services, actor, screen_id)), 202)


@router.post("/screens/{screen_id}/preview", response_model=PreviewAnswer)
async def preview_screen(
    screen_id: str, request: HttpRequest, surface: Served, actor: Signed, body: ScreenPreviewRequest | None = None
) -> Response:
    """Create a link that opens the app in one browser, once, within a minute."""
    path = (body or ScreenPreviewRequest()).path
    opener = embedding_origin(surface, request)
    ticket = await opening.preview_screen(surface.services, actor, screen_id, opener)
    return reply(ticket_answer(surface, request, ticket, path))


@router.get("/screens/{screen_id}/files", response_model=ScreenFilesAnswer)
async def list_screen_files(screen_id: str, services: Svc, actor: Signed) -> Response:
    """The app's own files: from its sandbox if that is awake, else as last saved."""
    return reply(await actions.list_files(services, actor, screen_id))


@router.get("/screens/{screen_id}/files/content", response_class=Response)
async def read_screen_file(screen_id: str, path: str, services: Svc, actor: Signed) -> Response:
    """A file's bytes, the first 5 MB of it, as a download."""
    return as_download(path, await actions.read_file(services, actor, screen_id, path))


@router.get("/screens/{screen_id}/search", response_model=HitsAnswer)
async def search_screen(
    screen_id: str,
    services: Svc,
    actor: Signed,
    q: str = Query(max_length=MAX_QUERY_CHARS),
    limit: int = Query(100, ge=1, le=MAX_HITS),
) -> Response:
    """Lines of the app's own text files that contain `q`, ignoring case."""
    return reply(await actions.search_files(services, actor, screen_id, q, limit))


@router.get("/screens/{screen_id}/archive", response_class=Response)
async def download_screen(screen_id: str, services: Svc, actor: Signed) -> Response:
    """The app as a ZIP that runs elsewhere with `npm install && npm run dev`: without installed packages, caches, and
    files that look like secrets."""
    archive = await actions.pack(services, actor, screen_id)
    headers = {"content-disposition": f'attachment; filename="{archive.name}"', "cache-control": "no-store"}
    return StreamingResponse(archive.pieces, 200, headers, "application/zip")


@router.get("/screens/{screen_id}/checkpoints", response_model=Page[CheckpointData])
async def list_screen_checkpoints(
    screen_id: str, services: Svc, actor: Signed, before: str | None = None, limit: Limit = 50
) -> Response:
    """Earlier versions of the screen's files, newest first. Compare and restore them under /v1/checkpoints."""
    found = await actions.list_checkpoints(services, actor, screen_id, before, limit)
    return reply(page(found.items, found.next))


@router.get("/screens/{screen_id}/changes", response_model=ScreenChangesAnswer)
async def read_screen_changes(screen_id: str, services: Svc, actor: Signed, run: str | None = None) -> Response:
    """The files that a run changed, so far or when it ended; without `run`, the last one that changed something."""
    return reply(await actions.changes_of_run(services, actor, screen_id, run))
