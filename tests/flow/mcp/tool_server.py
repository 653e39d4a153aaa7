"""An MCP server made with the library's own server, over streamable HTTP on the loopback interface."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent, ToolAnnotations

from tests.photographer import png

READ_ONLY = ToolAnnotations(read_only_hint=True)
CHART = png(8, 6)


@dataclass
class ToolServer:
    """`calls` are those of its tools; `headers` those of each request, with names in lower case. While it `is_dying`,
    the connection of each call ends in the middle of its answer."""

    mcp: MCPServer
    port: int = 0
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stuck: anyio.Event = field(default_factory=anyio.Event)
    is_dying: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def describe(self, text: str) -> None:
        """Change the description of `find`."""
        self.mcp._tool_manager._tools["find"].description = text

    def drop(self, name: str) -> None:
        self.mcp._tool_manager.remove_tool(name)


def make_server(**options: Any) -> ToolServer:
    mcp = MCPServer("tests", **options)
    it = ToolServer(mcp)

    @mcp.tool(annotations=READ_ONLY)
    def find(text: str) -> str:
        """Find issues."""
        it.calls.append(("find", {"text": text}))
        return f"1 issue about {text}"

    @mcp.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))
    def create_issue(title: str) -> dict[str, str]:
        """Create an issue."""
        it.calls.append(("create_issue", {"title": title}))
        return {"id": "ENG-1", "title": title}

    @mcp.tool(annotations=ToolAnnotations(destructive_hint=True))
    def delete_all() -> str:
        """Delete everything."""
        it.calls.append(("delete_all", {}))
        return "deleted"

    @mcp.tool(annotations=READ_ONLY)
    def chart() -> CallToolResult:
        """Draw a chart."""
        return CallToolResult(
            content=[
                TextContent(text="Here it is."),
                ImageContent(data=base64.b64encode(CHART).decode(), mime_type="image/png"),
                ResourceLink(name="numbers", uri="file:///numbers.csv", description="the numbers"),
            ]
        )

    @mcp.tool(annotations=READ_ONLY)
    def broken() -> str:
        """Fail."""
        raise ToolError("the tracker is closed")

    @mcp.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))
    async def never() -> str:
        """Never end."""
        it.calls.append(("never", {}))
        await it.stuck.wait()
        return "ended"

    return it


@asynccontextmanager
async def tool_server(port: int = 0, is_stream: bool = True, **options: Any) -> AsyncIterator[ToolServer]:
    """The server, at work. Its answers are streams of events, or else one JSON object. `options`: of the library's
    server."""
    it = make_server(**options)
    app = it.mcp.streamable_http_app(json_response=not is_stream)

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            it.headers.append({name.decode(): text.decode() for name, text in scope["headers"]})
        await app(scope, receive, _dying(it, send) if it.is_dying else send)

    async with serving(noting, port) as it.port:
        try:
            yield it
        finally:
            it.stuck.set()


def _dying(it: ToolServer, send: Callable[..., Any]) -> Callable[..., Any]:
    before = len(it.calls)

    async def cut(message: Any) -> None:
        body = message.get("body", b"")
        if len(it.calls) == before or not body:
            await send(message)
            return
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        raise ConnectionAbortedError("in the middle of an answer")

    return cut


@asynccontextmanager
async def serving(app: Callable[..., Any], port: int = 0) -> AsyncIterator[int]:
    """The port of an ASGI application at work."""
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="critical", timeout_graceful_shutdown=1))
    started = anyio.Event()
    startup = server.startup

    async def start(sockets: Any = None) -> None:
        await startup(sockets)
        started.set()

    server.startup = start  # type: ignore[method-assign]
    async with anyio.create_task_group() as group:
        group.start_soon(server._serve)
        await started.wait()
        try:
            yield server.servers[0].sockets[0].getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            group.cancel_scope.cancel()
