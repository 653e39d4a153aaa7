"""MCP servers of a project: adding them, and allowing their tools."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.errors import Forbidden, MalformedInput, NotFound
from outlast.base.mcp_errors import McpNameTaken, McpSecretUnusable, McpServerFailed, McpToolChanged, TooManyMcpServers
from outlast.db.database import Database
from outlast.kernel.mcp import actions
from outlast.kernel.mcp.shapes import McpServerRequest
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.secrets.actions import create_secret
from tests.factories import join, make_user
from tests.flow.harness import stage
from tests.flow.mcp.test_runs import allow_all, connect, settings_for
from tests.flow.mcp.tool_server import tool_server


async def test_adding_a_server_lists_its_tools_and_offers_none(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, [], settings=settings_for(server)) as it:
        found = await connect(it, server)
        assert (found.server.tools, found.server.allowed, found.server.waiting) == (6, 0, 6)
        assert {tool.name: tool.asks for tool in found.tools} == {
            "broken": False,
            "chart": False,
            "create_issue": True,
            "delete_all": True,
            "find": False,
            "never": True,
        }
        shown = found.tools[0]
        assert (shown.shown, shown.call_name) == ("tracker.broken", "tracker__broken")
        with pytest.raises(McpNameTaken):
            await connect(it, server)
        (listed,) = await actions.list_servers(it.services, it.owner, it.project_id)
        assert listed == found.server


async def test_only_owners_add_and_allow_and_members_read(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, [], settings=settings_for(server)) as it:
        found = await connect(it, server)
        viewer, stranger = await db.write(make_user, "Vera"), await db.write(make_user, "Stan")
        await db.write(join, it.project_id, viewer, "viewer")
        wanted = McpServerRequest(name="other", url=server.url)
        calls = len(server.headers)
        for actor, error in ((viewer, Forbidden), (stranger, NotFound)):
            with pytest.raises(error):
                await actions.add_server(it.services, actor, it.project_id, wanted)
            with pytest.raises(error):
                await actions.allow_tools(it.services, actor, found.server.id, {"find": found.tools[4].digest})
            with pytest.raises(error):
                await actions.refresh_tools(it.services, actor, found.server.id)
        assert len(server.headers) == calls
        assert len((await actions.list_tools(it.services, viewer, found.server.id)).tools) == 6


async def test_a_changed_a_new_and_a_lost_tool_are_told_apart(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, [], settings=settings_for(server)) as it:
        found = await allow_all(it, await connect(it, server))
        assert {tool.state for tool in found.tools} == {"allowed"}
        server.describe("Find more.")
        server.drop("broken")

        @server.mcp.tool()
        def fresh() -> str:
            """A new one."""
            return ""

        now = await actions.refresh_tools(it.services, it.owner, found.server.id)
        states = {tool.name: tool.state for tool in now.tools}
        assert (states["find"], states["broken"], states["fresh"]) == ("changed", "gone", "new")
        old = {tool.name: tool.digest for tool in found.tools}
        for name in ("find", "broken", "unknown"):
            with pytest.raises(McpToolChanged):  # it is not what the owner has looked at
                await actions.allow_tools(it.services, it.owner, found.server.id, {name: old.get(name, "")})
        server.describe("Find issues.")
        back = await actions.refresh_tools(it.services, it.owner, found.server.id)
        assert {tool.name: tool.state for tool in back.tools}["find"] == "allowed"
        less = await actions.forbid_tools(it.services, it.owner, found.server.id, ["find"])
        assert {tool.name: tool.state for tool in less.tools}["find"] == "new"


async def test_the_secret_must_be_saved_have_a_value_and_be_for_the_host(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, [], settings=settings_for(server)) as it:
        with pytest.raises(McpSecretUnusable, match="no saved secret"):
            await connect(it, server, secret="KEY")
        await create_secret(it.services, it.owner, it.project_id, "KEY", ["example.com"], "hush")
        with pytest.raises(McpSecretUnusable, match="not for the host"):
            await connect(it, server, secret="KEY")
        await create_secret(it.services, it.owner, it.project_id, "EMPTY", [server.place], None)
        with pytest.raises(McpSecretUnusable, match="no value"):
            await connect(it, server, secret="EMPTY")
        plain = McpServerRequest(name="plain", url="http://example.com/mcp", secret="KEY")
        with pytest.raises(MalformedInput, match="only sent over https"):
            await actions.add_server(it.services, it.owner, it.project_id, plain)
        with pytest.raises(MalformedInput):
            await connect(it, server, header="X-Key")
        assert server.headers == []
        assert await db.read(lambda tx: tx.execute(sa.select(mcp_servers)).all()) == []


async def test_a_private_address_is_refused_also_behind_a_name(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, []) as it:
        with pytest.raises(MalformedInput, match="private network"):
            await connect(it, server)
        named = McpServerRequest(name="named", url=f"http://localhost:{server.port}/mcp")
        with pytest.raises(McpServerFailed, match="private network"):
            await actions.add_server(it.services, it.owner, it.project_id, named)
        assert server.headers == []


async def test_a_project_has_a_limited_number_of_servers(db: Database, tmp_path: Path) -> None:
    async with (
        tool_server() as server,
        stage(db, tmp_path, [], settings=settings_for(server, most_per_project=1)) as it,
    ):
        await connect(it, server)
        second = McpServerRequest(name="second", url=server.url)
        with pytest.raises(TooManyMcpServers):
            await actions.add_server(it.services, it.owner, it.project_id, second)
