"""Edit a screen's app by hand."""

from starlette.responses import Response

from outlast.apps.screens.edits import actions
from outlast.apps.screens.edits.shapes import (
    EditsAnswer,
    EditsRequest,
    InspectAnswer,
    InspectRequest,
    PictureAnswer,
    PictureRequest,
    StylesAnswer,
    StylesRequest,
    UndoAnswer,
    UndoRequest,
)
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import reply
from outlast.kernel.http.routers import noun_router

router = noun_router("Screens")


@router.post("/screens/{screen_id}/edits", response_model=EditsAnswer)
async def save_edits(screen_id: str, body: EditsRequest, services: Svc, actor: Signed) -> Response:
    """Edit the app's source (editors). Each edit is applied, refused or reported as stale separately. All
    are refused (409) while a run works on the screen or another member drives its thread."""
    return reply(await actions.save_edits(services, actor, screen_id, body.edits))


@router.post("/screens/{screen_id}/edits/undo", response_model=UndoAnswer)
async def undo_edits(screen_id: str, body: UndoRequest, services: Svc, actor: Signed) -> Response:
    """Undo the edits of one checkpoint (editors). Refused (409) if one of the files has been changed
    since."""
    return reply(await actions.undo_edits(services, actor, screen_id, body.checkpoint_id))


@router.post("/screens/{screen_id}/edits/pictures", response_model=PictureAnswer)
async def place_picture(screen_id: str, body: PictureRequest, services: Svc, actor: Signed) -> Response:
    """Add an uploaded image to the app's files (editors), so that the app can show it wherever it runs."""
    return reply(await actions.place_picture(services, actor, screen_id, body.attachment_id))


@router.post("/screens/{screen_id}/edits/inspect", response_model=InspectAnswer)
async def inspect_elements(screen_id: str, body: InspectRequest, services: Svc, actor: Signed) -> Response:
    """The source values of elements, and which of them can be edited by hand."""
    return reply({"items": await actions.inspect_elements(services, actor, screen_id, body.locs)})


@router.post("/screens/{screen_id}/edits/classes", response_model=StylesAnswer)
async def map_styles(screen_id: str, body: StylesRequest, services: Svc, actor: Signed) -> Response:
    """CSS as the Tailwind classes of the project's own design system (editors), and the CSS of classes. No sandbox is
    woken: while it sleeps, unknown values become arbitrary values."""
    return reply(await actions.map_styles(services, actor, screen_id, body))
