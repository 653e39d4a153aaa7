"""Links to ports of sandboxes. Previews themselves are served by `preview_layer.py`, before any route is asked."""

from fastapi import Request
from starlette.responses import Response

from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews import actions
from outlast.kernel.previews.links import embedding_origin, ticket_answer
from outlast.kernel.previews.shapes import PortAnswer, PreviewAnswer, PreviewRequest

router = noun_router("Sandboxes")


@router.get("/sandboxes/{sandbox_id}/ports", response_model=Page[PortAnswer])
async def list_ports(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """List the visible ports: those of declared services, then other listening ports. Does not wake the sandbox."""
    return reply(page(await actions.list_ports(services, actor, sandbox_id)))


@router.post("/sandboxes/{sandbox_id}/preview", response_model=PreviewAnswer)
async def open_preview(
    sandbox_id: str, body: PreviewRequest, request: Request, surface: Served, actor: Signed
) -> Response:
    """Create a one-time link, valid for one minute, that opens a sandbox port in one browser. Opening it starts the
    sandbox."""
    opener = embedding_origin(surface, request)
    ticket = await actions.open_preview(surface.services, actor, sandbox_id, body.port, opener)
    return reply(ticket_answer(surface, request, ticket, body.path))
