"""Addresses of previews as this server's clients reach them."""

from urllib.parse import quote, urlsplit

from fastapi import Request

from outlast.base.clock import iso
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.actions import Ticket
from outlast.kernel.previews.hosts import Address, port_suffix
from outlast.kernel.previews.preview_layer import TICKET_PATH
from outlast.kernel.previews.shapes import PreviewAnswer


def public_address(surface: Surface, request: Request) -> tuple[str, str]:
    """Scheme and host under which browsers reach this server."""
    public = urlsplit(surface.services.settings.server.public_url)
    if public.netloc:
        return public.scheme, public.netloc
    return request.url.scheme, request.headers.get("host", "")


def embedding_origin(surface: Surface, request: Request) -> str:
    """The origin of the page that asks for a preview, which may show it in a frame."""
    scheme, host = public_address(surface, request)
    return request.headers.get("origin") or f"{scheme}://{host}"


def preview_origin(surface: Surface, request: Request, sandbox_id: str, port: int) -> str:
    """The origin at which browsers see a port of a sandbox."""
    scheme, host = public_address(surface, request)
    return f"{scheme}://{surface.previews.format(Address(port, sandbox_id))}{port_suffix(host)}"


def ticket_answer(surface: Surface, request: Request, ticket: Ticket, path: str) -> PreviewAnswer:
    """The link that redeems a ticket and then opens `path`."""
    origin = preview_origin(surface, request, ticket.sandbox_id, ticket.port)
    query = f"ticket={ticket.secret}&to={quote(path, safe='')}"
    return PreviewAnswer(
        url=origin + path, ticket_url=f"{origin}{TICKET_PATH}?{query}", expires_at=iso(ticket.expires_at)
    )
