"""MCP servers of a project and their tools."""

from fastapi import Query
from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.mcp import actions, shapes

router = noun_router("MCP servers")


@router.post("/projects/{project_id}/mcp-servers", status_code=201, response_model=shapes.McpToolsAnswer)
async def add_mcp_server(project_id: str, body: shapes.McpServerRequest, services: Svc, actor: Signed) -> Response:
    """Add an MCP server and list its tools (owners); those of a package are listed once it is installed. Agents are
    offered a tool once you allow it."""
    return reply(await actions.add_server(services, actor, project_id, body), 201)


@router.get("/projects/{project_id}/mcp-servers", response_model=Page[shapes.McpServerAnswer])
async def list_mcp_servers(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the project's MCP servers by name, those for every project, then those that the code of its agents names."""
    return reply(page(await actions.list_servers(services, actor, project_id)))


@router.get("/admin/mcp-servers", response_model=Page[shapes.McpServerAnswer])
async def list_server_mcp_servers(services: Svc, actor: Signed) -> Response:
    """List the MCP servers for every project (administrators)."""
    return reply(page(await actions.list_server_servers(services, actor)))


@router.post("/admin/mcp-servers", status_code=201, response_model=shapes.McpToolsAnswer)
async def add_server_mcp_server(body: shapes.McpServerRequest, services: Svc, actor: Signed) -> Response:
    """Add an MCP server for every project (administrators). Agents are offered a tool once you allow it."""
    return reply(await actions.add_server(services, actor, None, body), 201)


@router.get("/mcp-servers/{mcp_server_id}/tools", response_model=shapes.McpToolsAnswer)
async def list_mcp_tools(mcp_server_id: str, services: Svc, actor: Signed) -> Response:
    """List the server's tools as it last described them."""
    return reply(await actions.list_tools(services, actor, mcp_server_id))


@router.post("/mcp-servers/{mcp_server_id}/refresh", response_model=shapes.McpToolsAnswer)
async def refresh_mcp_tools(
    mcp_server_id: str, services: Svc, actor: Signed, project_id: str | None = Query(None, max_length=40)
) -> Response:
    """Ask the server for its tools again (owners; administrators for one of every project or of agents' code). A tool
    that changed is withheld from agents until you allow it again."""
    return reply(await actions.refresh_tools(services, actor, mcp_server_id, project_id))


@router.post("/mcp-servers/{mcp_server_id}/allow", response_model=shapes.McpToolsAnswer)
async def allow_mcp_tools(mcp_server_id: str, body: shapes.AllowToolsRequest, services: Svc, actor: Signed) -> Response:
    """Offer tools to the project's agents (owners), each exactly as you have seen it; those of a server for every
    project or of agents' code to these agents (administrators)."""
    return reply(await actions.allow_tools(services, actor, mcp_server_id, body.tools))


@router.post("/mcp-servers/{mcp_server_id}/forbid", response_model=shapes.McpToolsAnswer)
async def forbid_mcp_tools(
    mcp_server_id: str, body: shapes.ForbidToolsRequest, services: Svc, actor: Signed
) -> Response:
    """Stop offering tools to agents (owners; administrators for a server of every project or of agents' code)."""
    return reply(await actions.forbid_tools(services, actor, mcp_server_id, body.tools))


@router.delete("/mcp-servers/{mcp_server_id}", status_code=204)
async def remove_mcp_server(mcp_server_id: str, services: Svc, actor: Signed) -> Response:
    """Remove an MCP server of the project with its tools (owners; administrators for one of every project)."""
    await actions.remove_server(services, actor, mcp_server_id)
    return nothing()
