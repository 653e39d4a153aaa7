"""SIGKILL in the middle of a call to an MCP server: one that may not be repeated is made once, any other again."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import play
from tests.crash.server import CrashServer, until
from tests.flow.mcp.tool_server import READ_ONLY, ToolServer, tool_server

pytestmark = [pytest.mark.timeout(300)]


def turns(tool: str) -> list[dict[str, Any]]:
    return [
        {"text": "I ask the tracker.", "calls": [{"id": "call_mcp", "name": f"tracker__{tool}", "arguments": {}}]},
        {"text": "That is what I found."},
    ]


async def connect(server: CrashServer, tracker: ToolServer) -> None:
    """The project's tracker, with all of its tools allowed."""
    project = (await server.get("/v1/projects"))["items"][0]["id"]
    wanted = {"name": "tracker", "url": tracker.url}
    status, found = await server.call("POST", f"/v1/projects/{project}/mcp-servers", wanted)
    assert status == 201, found
    digests = {tool["name"]: tool["digest"] for tool in found["tools"]}
    status, found = await server.call("POST", f"/v1/mcp-servers/{found['server']['id']}/allow", {"tools": digests})
    assert status == 200, found


async def killed_while_called(
    make_server: MakeServer, model: ModelServer, tracker: ToolServer, tool: str
) -> dict[str, Any]:
    """The run's call, as followers saw it."""
    server = make_server(more=f'[mcp]\nallow_private = ["{tracker.place}"]\n')
    async with kills.opened(server) as db:
        await connect(server, tracker)

        async def kill() -> None:
            await until(lambda: (tool, {}) in tracker.calls)
            await server.kill()
            tracker.stuck.set()

        async with anyio.create_task_group() as group:
            group.start_soon(kill)
            played = await play(server, turns(tool))
        assert server.starts == 2
        state = played.fold()
        assert state.status == "completed", state
        await check_followed(db, played)
        await check_ledger(db)
        [call] = [part for part in state.parts if part["type"] == "tool_call"]
        return call


async def test_a_call_that_may_change_something_is_never_made_twice(
    make_server: MakeServer, model: ModelServer
) -> None:
    async with tool_server() as tracker:
        call = await killed_while_called(make_server, model, tracker, "never")
        assert call["status"] == "interrupted"
        assert tracker.calls == [("never", {})]


async def test_a_call_that_only_reads_is_made_again(make_server: MakeServer, model: ModelServer) -> None:
    async with tool_server() as tracker:

        @tracker.mcp.tool(annotations=READ_ONLY)
        async def count() -> str:
            """Count issues, slowly at first."""
            tracker.calls.append(("count", {}))
            await tracker.stuck.wait()
            return "17 issues"

        call = await killed_while_called(make_server, model, tracker, "count")
        assert (call["status"], call["result"]) == ("done", "17 issues")
        assert tracker.calls == [("count", {}), ("count", {})]
