"""Who is where in a document."""

from fastapi import APIRouter
from starlette.responses import Response

from outlast.apps.documents import presence_actions as actions
from outlast.apps.documents.presence_shapes import PlaceRequest
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, reply
from outlast.kernel.presence.shapes import EphemeralPresence

router = APIRouter(prefix="/v1/documents/{document_id}", tags=["Documents"])


@router.get("/presence", response_model=EphemeralPresence)
async def read_presence(document_id: str, services: Svc, actor: Signed) -> Response:
    """Who has the document open now. Changes come as `presence` frames of the project's stream."""
    return reply(await actions.read_document_presence(services, actor, document_id))


@router.put("/presence", status_code=204)
async def move_in_document(document_id: str, body: PlaceRequest, services: Svc, actor: Signed) -> Response:
    """Show other members that the caller has the document open, and in which block they are. Repeat the call
    while they type: typing ends after 6 seconds. A caller that does not follow the project's stream is shown
    as gone a few seconds later."""
    await actions.move_in_document(services, actor, document_id, body.block_id, body.typing)
    return nothing()


@router.delete("/presence", status_code=204)
async def leave_document(document_id: str, services: Svc, actor: Signed) -> Response:
    """The caller closed the document. Repeating is harmless."""
    await actions.leave_document(services, actor, document_id)
    return nothing()
