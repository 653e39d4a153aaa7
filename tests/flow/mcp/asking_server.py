"""Tools that ask a person before they do anything: by the revision 2026-07-28, and over the connection as before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

from tests.flow.mcp.tool_server import READ_ONLY, ToolServer, make_server, serving

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False)
SCHEMA = {
    "type": "object",
    "properties": {
        "seats": {"type": "integer", "title": "Seats", "minimum": 1, "maximum": 9},
        "side": {"type": "string", "enum": ["window", "aisle"]},
        "insured": {"type": "boolean", "description": "Insurance for 5 €"},
    },
    "required": ["seats", "side"],
}


class Booking(BaseModel):
    seats: int = Field(title="Seats", ge=1, le=9)


def add_tools(it: ToolServer) -> None:
    @it.mcp.tool(annotations=CHANGES)
    def book(train: str, ctx: Context) -> InputRequiredResult | str:
        """Book seats, which a person chooses."""
        given = ctx.input_responses
        it.calls.append(("book", {"train": train, "given": given is not None, "state": ctx.request_state}))
        if given is None:
            form = ElicitRequestFormParams(message="Which seats?", requested_schema=SCHEMA)
            return InputRequiredResult(input_requests={"seats": ElicitRequest(params=form)}, request_state=train)
        answer = given["seats"]
        assert isinstance(answer, ElicitResult)
        return orjson.dumps([answer.action, answer.content]).decode()

    @it.mcp.tool(annotations=CHANGES)
    async def book_live(ctx: Context) -> str:
        """Book seats, which a person chooses, over the connection."""
        it.calls.append(("book_live", {}))
        found = await ctx.elicit("How many seats?", Booking)
        it.calls.append(("answered", {"action": found.action}))
        return f"{found.action}: {found.data.seats if found.action == 'accept' else 'nothing'}"

    @it.mcp.tool(annotations=READ_ONLY)
    async def pay(ctx: Context) -> str:
        """Pay on a page that a person opens first."""
        it.calls.append(("pay", {}))
        if it.stuck.is_set():
            return "paid"
        page = ElicitRequestURLParams(message="Pay here", url="https://pay.example.com/7", elicitation_id="7")
        raise UrlElicitationRequiredError([page])


@asynccontextmanager
async def asking_server(*, modern: bool, **options: Any) -> AsyncIterator[ToolServer]:
    """A server with these tools too. One that is not `modern` knows nothing of the revision 2026-07-28."""
    it = make_server(**options)
    add_tools(it)
    app = it.mcp.streamable_http_app()

    async def older(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        if not modern and headers.get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    async with serving(older) as it.port:
        try:
            yield it
        finally:
            it.stuck.set()
