"""Connections: accounts of people on MCP servers and services."""

from fastapi import Request
from starlette.responses import Response

from outlast.kernel.connections import actions
from outlast.kernel.connections.oauth_client import CALLBACK_PATH, DOCUMENT_PATH, client_document
from outlast.kernel.connections.shapes import AccountAnswer, SignInAnswer, SignInCallbackRequest
from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.links import public_address

router = noun_router("Connections", prefix="")


@router.get("/v1/projects/{project_id}/connections", response_model=Page[AccountAnswer])
async def list_connections(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the project's MCP servers on which people have accounts, and the services of the configuration, each with
    your own connection."""
    return reply(page(await actions.list_accounts(services, actor, project_id)))


@router.post("/v1/mcp-servers/{mcp_server_id}/connection", status_code=201, response_model=SignInAnswer)
async def begin_sign_in(mcp_server_id: str, request: Request, surface: Served, actor: Signed) -> Response:
    """Begin to connect your account (editors). Open `url` in a browser in which you are signed in here, within ten
    minutes; it works once."""
    own = _own_address(surface, request)
    return reply(await actions.begin_sign_in(surface.services, actor, mcp_server_id, own), 201)


@router.post("/v1/connections/callback", response_model=AccountAnswer)
async def finish_sign_in(body: SignInCallbackRequest, services: Svc, actor: Signed) -> Response:
    """Finish connecting your account with what the other server sent back. Runs that wait for the account go on."""
    return reply(await actions.finish_sign_in(services, actor, body))


@router.post("/v1/mcp-servers/{mcp_server_id}/connection/test", response_model=AccountAnswer)
async def test_connection(mcp_server_id: str, services: Svc, actor: Signed) -> Response:
    """Test your account on a service with one cheap request (editors). The answer has the name of the account."""
    return reply(await actions.test_connection(services, actor, mcp_server_id))


@router.delete("/v1/mcp-servers/{mcp_server_id}/connection", status_code=204)
async def disconnect(mcp_server_id: str, services: Svc, actor: Signed) -> Response:
    """Disconnect your account. Its tokens are deleted, and revoked where the other server offers that."""
    await actions.disconnect(services, actor, mcp_server_id)
    return nothing()


@router.get(DOCUMENT_PATH, include_in_schema=False)  # not of the API: other servers read it
async def read_client_document(request: Request, surface: Served) -> Response:
    """This server as an OAuth client: authorization servers read it."""
    address = _own_address(surface, request)
    return reply(client_document(address + DOCUMENT_PATH, address + CALLBACK_PATH))


def _own_address(surface: Surface, request: Request) -> str:
    """Where browsers reach this server. The Host header was checked: it names this server."""
    scheme, host = public_address(surface, request)
    return f"{scheme}://{host}"
