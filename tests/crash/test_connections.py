"""SIGKILL while a run waits for its person's account: it still waits, and goes on once the account is connected."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import begin, follow, message
from tests.crash.server import CrashServer, until
from tests.flow.connections.auth_server import AuthServer, auth_server
from tests.flow.connections.guarded_server import guarded_server
from tests.flow.connections.test_sign_in import allow
from tests.flow.mcp.tool_server import ToolServer

pytestmark = [pytest.mark.timeout(300)]
TURNS: list[dict[str, Any]] = [
    {"text": "I ask.", "calls": [{"id": "call_who", "name": "tracker__whoami", "arguments": {}}]},
    {"text": "That is you."},
]


async def connect(server: CrashServer, server_id: str) -> None:
    status, begun = await server.call("POST", f"/v1/mcp-servers/{server_id}/connection")
    assert status == 201, begun
    came = (await allow(begun["url"])).model_dump(exclude_none=True)
    status, account = await server.call("POST", "/v1/connections/callback", came)
    assert (status, account["state"]) == (200, "connected"), account


async def add(server: CrashServer, tracker: ToolServer, signs_in: AuthServer) -> str:
    """A server whose tools are all allowed, and on which the owner has no account."""
    project = (await server.get("/v1/projects"))["items"][0]["id"]
    wanted = {"name": "tracker", "url": tracker.url, "login": "user"}
    status, added = await server.call("POST", f"/v1/projects/{project}/mcp-servers", wanted)
    assert status == 201, added
    server_id = str(added["server"]["id"])
    await connect(server, server_id)
    found = await server.get(f"/v1/mcp-servers/{server_id}/tools")
    digests = {tool["name"]: tool["digest"] for tool in found["tools"]}
    await server.call("POST", f"/v1/mcp-servers/{server_id}/allow", {"tools": digests})
    await server.call("DELETE", f"/v1/mcp-servers/{server_id}/connection")
    assert signs_in.tokens == []
    return server_id


async def test_a_run_that_waits_for_an_account_survives_a_kill_and_goes_on_once_it_is_connected(
    make_server: MakeServer, model: ModelServer
) -> None:
    with auth_server() as signs_in:
        async with guarded_server(signs_in) as tracker:
            places = f'["{tracker.place}", "127.0.0.1:{signs_in.port}"]'
            server = make_server(more=f"[mcp]\nallow_private = {places}\n")
            async with kills.opened(server) as db:
                server_id = await add(server, tracker, signs_in)
                played = await begin(server, "who", message("who", TURNS, pace_s=0.0))

                async def waits() -> bool:
                    run = await server.get(f"/v1/runs/{played.run_id}")
                    return bool(run["status"] == "awaiting_approval" and run["pending"])

                with anyio.fail_after(60):
                    await until(waits)
                await server.kill()
                await server.revive()
                assert await waits()
                await connect(server, server_id)
                async for _ in follow(server, played):
                    pass
                state = played.fold()
                assert state.status == "completed", state
                assert tracker.calls == [("whoami", {"user": "ana"})]
                await check_followed(db, played)
                await check_ledger(db)
