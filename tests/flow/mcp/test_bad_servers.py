"""MCP servers that die in the middle of an answer, or lie about their tools: what people and models read of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent

from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings
from outlast.surfaces.http.application import create_http
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime
from outlast.testing.scripted_model import Call, turn
from tests.asgi import Browser
from tests.flow.harness import stage, told_last
from tests.flow.http.conftest import surface_over
from tests.flow.mcp.test_runs import CREATE, FIND, allow_all, connect, settings_for
from tests.flow.mcp.tool_server import READ_ONLY, ToolServer, tool_server

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
CUT = "The MCP server tracker ended the connection before its answer was complete."
CHECK = "Check the address and the header of the server, and whether it runs."


def unasked(server: ToolServer) -> Settings:
    free = PolicyRule(name="free", tool="tracker__*", decision="allow")
    return replace(settings_for(server, timeout_s=20), policy=(free,))


@pytest.mark.parametrize("is_stream", [True, False], ids=["a stream", "one JSON object"])
@pytest.mark.parametrize(
    ("call", "told"),
    [(FIND, f"{CUT} {CHECK}"), (CREATE, f"{CUT} It is not known whether the call took effect. {CHECK}")],
    ids=["that only reads", "that changes something"],
)
async def test_a_server_that_dies_in_the_middle_of_an_answer_is_not_asked_twice(
    db: Database, tmp_path: Path, call: Call, told: str, is_stream: bool
) -> None:
    turns = [turn(call), turn("It died."), turn(FIND), turn("It is back.")]
    async with tool_server(is_stream=is_stream) as server, stage(db, tmp_path, turns, settings=unasked(server)) as it:
        await allow_all(it, await connect(it, server))
        server.is_dying = True
        assert await it.ended((await it.start()).run_id) == "completed"
        assert told_last(it.model.requests[1]) == [told]
        assert len(server.calls) == 1
        server.is_dying = False
        assert await it.ended((await it.start()).run_id) == "completed"
        assert told_last(it.model.requests[3]) == ["1 issue about light"]


async def test_people_read_which_tools_of_a_listing_were_left_out_and_why(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, [], settings=settings_for(server)) as it:
        add_bad_tools(server.mcp)
        people = signed_in(it.services, it.owner)
        wanted = {"name": "tracker", "url": server.url}
        added = await people.post(f"/v1/projects/{it.project_id}/mcp-servers", wanted)
        assert added.status == 201
        bad = [
            {"name": "talks", "reason": "its description has more than 8,000 characters"},
            {"name": "two\nlines", "reason": "its name is not one line of at most 128 characters"},
        ]
        found = added.json()
        assert sorted(found["left_out"], key=lambda one: str(one["name"])) == bad
        assert (len(found["tools"]), found["server"]["tools"]) == (6, 6)
        again = await people.post(f"/v1/mcp-servers/{found['server']['id']}/refresh")
        assert sorted(again.json()["left_out"], key=lambda one: str(one["name"])) == bad
        assert (await people.get(f"/v1/mcp-servers/{found['server']['id']}/tools")).json()["left_out"] == []


def add_bad_tools(mcp: MCPServer) -> None:
    @mcp.tool(description="blah " * 2_000)
    def talks() -> str:
        return ""

    @mcp.tool(name="two\nlines")
    def other() -> str:
        """Two lines."""
        return ""


def signed_in(services: Any, actor: Actor) -> Browser:
    return Browser(create_http(surface_over(services, actor), known_hosts("127.0.0.1", "", ()), E2bRuntime(services)))


async def test_a_result_that_breaks_the_tools_own_schema_is_an_error_and_the_run_goes_on(
    db: Database, tmp_path: Path
) -> None:
    turns = [turn(Call("tracker__weather", {})), turn("It lies."), turn(FIND), turn("Found.")]
    async with tool_server() as server, stage(db, tmp_path, turns, settings=settings_for(server)) as it:
        add_liar(server.mcp)
        await allow_all(it, await connect(it, server))
        assert await it.ended((await it.start()).run_id) == "completed"
        (text,) = told_last(it.model.requests[1])
        assert text.startswith("The MCP server tracker returned a result that breaks the tool's own output schema: ")
        assert "'warm' is not of type 'number'" in text
        assert await it.ended((await it.start()).run_id) == "completed"
        assert told_last(it.model.requests[3]) == ["1 issue about light"]


async def test_a_schema_that_takes_for_ever_to_check_holds_nothing_up(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("tracker__weather", {})), turn("Warm.")]
    async with tool_server() as server, stage(db, tmp_path, turns, settings=settings_for(server)) as it:
        slow = {"type": "object", "properties": {"celsius": {"type": "string", "pattern": "^(a+)+$"}}}
        add_liar(server.mcp, "a" * 60 + "!", slow)
        await allow_all(it, await connect(it, server))
        assert await it.ended((await it.start()).run_id) == "completed"
        assert told_last(it.model.requests[1]) == ["warm"]


def add_liar(mcp: MCPServer, said: str = "warm", schema: dict[str, Any] | None = None) -> None:
    """A tool that gives `said` where its schema, or the given one, wants something else."""

    @mcp.tool(annotations=READ_ONLY)
    def weather() -> dict[str, float]:
        """Say how warm it is."""
        return {"celsius": 20.0}

    tool = mcp._tool_manager._tools["weather"]

    async def lie(*_arguments: Any, **_options: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(text="warm")], structured_content={"celsius": said})

    object.__setattr__(tool, "run", lie)
    if schema is not None:
        object.__setattr__(tool.fn_metadata, "output_schema", schema)
