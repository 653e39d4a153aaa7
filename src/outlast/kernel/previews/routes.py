"""Previews: a link to a port of a sandbox. What is seen there is served by the preview layer, not by a route."""

from urllib.parse import quote, urlsplit

from fastapi import Request
from starlette.responses import Response

from outlast.base.clock import iso
from outlast.kernel.http.auth import Served, Signed, Surface, Svc
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.previews import actions
from outlast.kernel.previews.actions import Ticket
from outlast.kernel.previews.hosts import Address, port_suffix
from outlast.kernel.previews.layer import TICKET_PATH
from outlast.kernel.previews.shapes import PortAnswer, PreviewAnswer, PreviewRequest

router = noun_router("Sandboxes")


@router.get("/sandboxes/{sandbox_id}/ports", response_model=Page[PortAnswer])
async def list_ports(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """Ports that can be seen: those of declared services, then others that something listens on. Wakes nothing."""
    return reply(page(await actions.list_ports(services, actor, sandbox_id)))


@router.post("/sandboxes/{sandbox_id}/preview", response_model=PreviewAnswer)
async def open_preview(
    sandbox_id: str, body: PreviewRequest, request: Request, surface: Served, actor: Signed
) -> Response:
    """A link that shows one browser a port of the sandbox, once, within a minute. Opening it wakes the sandbox."""
    opener = opener_of(surface, request)
    ticket = await actions.open_preview(surface.services, actor, sandbox_id, body.port, opener)
    return reply(shown_ticket(surface, request, ticket, body.path))


def opener_of(surface: Surface, request: Request) -> str:
    """The origin of the page that asks, which may show the preview in a frame."""
    scheme, host = here(request, surface)
    return request.headers.get("origin") or f"{scheme}://{host}"


def shown_ticket(surface: Surface, request: Request, ticket: Ticket, path: str) -> dict[str, str]:
    """A ticket as the link that redeems it, beginning at `path`."""
    origin = preview_origin(surface, request, ticket.sandbox_id, ticket.port)
    query = f"ticket={ticket.secret}&to={quote(path, safe='')}"
    return {"url": origin + path, "ticket_url": f"{origin}{TICKET_PATH}?{query}", "expires_at": iso(ticket.expires_at)}


def preview_origin(surface: Surface, request: Request, sandbox_id: str, port: int) -> str:
    """Where a port of a sandbox is seen."""
    scheme, host = here(request, surface)
    return f"{scheme}://{surface.previews.format(Address(port, sandbox_id))}{port_suffix(host)}"


def here(request: Request, surface: Surface) -> tuple[str, str]:
    """Scheme and host under which browsers reach this server."""
    public = urlsplit(surface.services.settings.server.public_url)
    if public.netloc:
        return public.scheme, public.netloc
    return request.url.scheme, request.headers.get("host", "")
