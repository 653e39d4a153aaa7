"""MCP servers of a project: adding them, and allowing their tools."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import Forbidden, MalformedInput, NotFound
from outlast.base.mcp_errors import McpNameTaken, McpSecretUnusable, McpServerFailed, McpToolChanged, TooManyMcpServers
from outlast.base.secret_errors import SecretNameTaken
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.store import change_user
from outlast.kernel.connections import actions as accounts
from outlast.kernel.mcp import actions, package_servers
from outlast.kernel.mcp.package_builds import Installed
from outlast.kernel.mcp.package_network import PackageNetwork
from outlast.kernel.mcp.package_servers import Key, PackageServers, Running
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.mcp.shapes import McpServerRequest
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.sandboxes.egress.actions import list_secret_uses
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.egress.store import Use, add_uses
from outlast.kernel.sandboxes.egress.uses import UseLog
from outlast.kernel.secrets import actions as secrets
from outlast.kernel.secrets import store
from outlast.kernel.secrets.actions import create_secret
from outlast.kernel.secrets.rows import SecretRow
from outlast.kernel.secrets.saved_secrets import SavedSecrets
from outlast.kernel.secrets.tables import secrets as saved_secrets
from outlast.testing.scripted_model import Call, turn
from outlast_sandbox.egress.http1 import RequestHead
from outlast_sandbox.egress.rules import Policy, Target
from outlast_sandbox.egress.secrets import OperatorSecrets, SandboxSecrets, SecretLookup
from outlast_sandbox.egress.way_out import Egress
from tests.factories import join, make_thread, make_user
from tests.flow.harness import stage
from tests.flow.mcp.test_runs import allow_all, connect, settings_for
from tests.flow.mcp.tool_server import tool_server

NOW = datetime(2026, 1, 1, tzinfo=UTC)


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


async def test_a_persons_own_server_is_for_their_runs_and_for_no_one_else_to_see(db: Database, tmp_path: Path) -> None:
    turns = [turn("Done."), turn(Call("tracker__find", {"text": "x"})), turn("Found.")]
    async with tool_server() as server, stage(db, tmp_path, turns, settings=settings_for(server)) as it:
        ben, vera = await db.write(make_user, "Ben"), await db.write(make_user, "Vera")
        await db.write(join, it.project_id, ben, "editor")
        await db.write(join, it.project_id, vera, "viewer")
        wanted = McpServerRequest(name="tracker", url=server.url, own=True)
        with pytest.raises(Forbidden):
            await actions.add_server(it.services, vera, it.project_id, wanted)
        found = await actions.add_server(it.services, ben, it.project_id, wanted)
        assert (found.server.origin, found.server.project_id) == ("user", None)
        with pytest.raises(McpNameTaken):
            await actions.add_server(it.services, ben, it.project_id, wanted)
        find = {tool.name: tool.digest for tool in found.tools if tool.name == "find"}
        await actions.allow_tools(it.services, ben, found.server.id, find)
        assert [one.name for one in await actions.list_servers(it.services, ben, it.project_id)] == ["tracker"]
        assert await actions.list_servers(it.services, it.owner, it.project_id) == []
        for refused in (
            partial(actions.list_tools, it.services, it.owner, found.server.id),
            partial(actions.allow_tools, it.services, it.owner, found.server.id, find),
            partial(actions.refresh_tools, it.services, it.owner, found.server.id),
            partial(actions.remove_server, it.services, it.owner, found.server.id),
            partial(accounts.begin_sign_in, it.services, it.owner, found.server.id, "http://127.0.0.1:8400"),
        ):
            with pytest.raises(NotFound):
                await refused()
        await it.ended((await it.start()).run_id)
        assert [one.name for one in it.model.requests[0].tools if one.name.startswith("tracker")] == []
        thread_id = await db.write(make_thread, it.project_id, ben)
        await it.ended((await it.start(actor=ben, target=thread_id)).run_id)
        assert [name for name, _ in server.calls] == ["find"]
        await actions.remove_server(it.services, ben, found.server.id)
        assert await actions.list_servers(it.services, ben, it.project_id) == []


async def test_a_server_for_every_project_is_added_and_changed_by_administrators_alone(
    db: Database, tmp_path: Path
) -> None:
    """Everybody's agents are offered the tools that an administrator allowed; a project's own server of its name, and a
    person's, go first."""
    calls = [turn(Call("tracker__find", {"text": text})) for text in ("server", "project", "mine")]
    turns = [one for call in calls for one in (call, turn("Found."))]
    async with (
        tool_server() as server,
        tool_server() as other,
        tool_server() as third,
        stage(db, tmp_path, turns, settings=settings_for(server, other, third)) as it,
    ):
        services, owner = it.services, it.owner
        admin = await db.write(make_user, "Ada")
        await db.write(lambda tx: change_user(tx, admin.user_id, is_admin=True))
        await db.write(lambda tx: change_user(tx, owner.user_id, is_admin=False))
        wanted = McpServerRequest(name="tracker", url=server.url)
        with pytest.raises(Forbidden):
            await actions.add_server(services, owner, None, wanted)
        with pytest.raises(MalformedInput):
            await actions.add_server(services, admin, None, wanted.model_copy(update={"own": True}))
        found = await actions.add_server(services, admin, None, wanted)
        assert (found.server.origin, found.server.project_id) == ("server", None)
        with pytest.raises(McpNameTaken):
            await actions.add_server(services, admin, None, wanted)
        find = {tool.name: tool.digest for tool in found.tools if tool.name == "find"}
        for refused in (
            partial(actions.list_server_servers, services, owner),
            partial(actions.allow_tools, services, owner, found.server.id, find),
            partial(actions.forbid_tools, services, owner, found.server.id, ["find"]),
            partial(actions.refresh_tools, services, owner, found.server.id),
            partial(actions.remove_server, services, owner, found.server.id),
        ):
            with pytest.raises(Forbidden):
                await refused()
        await actions.allow_tools(services, admin, found.server.id, find)
        assert [one.id for one in await actions.list_server_servers(services, admin)] == [found.server.id]
        assert [one.origin for one in await actions.list_servers(services, owner, it.project_id)] == ["server"]
        assert len((await actions.list_tools(services, owner, found.server.id)).tools) == len(found.tools)
        await it.ended((await it.start()).run_id)
        assert [name for name, _ in server.calls] == ["find"]

        for one, own in ((other, False), (third, True)):
            named = McpServerRequest(name="tracker", url=one.url, own=own)
            more = await actions.add_server(services, owner, it.project_id, named)
            await actions.allow_tools(services, owner, more.server.id, find)
            await it.ended((await it.start()).run_id)
            assert [name for name, _ in one.calls] == ["find"]
        listed = await actions.list_servers(services, owner, it.project_id)
        assert [one.origin for one in listed] == ["project", "server", "user"]
        assert [name for name, _ in server.calls] == ["find"]
        await actions.remove_server(services, admin, found.server.id)
        assert await actions.list_server_servers(services, admin) == []


async def test_a_server_for_every_project_gets_the_secret_of_the_server_or_of_the_project_of_a_run(
    db: Database, tmp_path: Path
) -> None:
    turns = [turn(Call("tracker__find", {"text": "x"})), turn("Found.")] * 2
    look = partial(list_secret_uses, before=None, limit=9, sandbox_id=None, secret=None)
    async with tool_server() as server, stage(db, tmp_path, turns, settings=settings_for(server)) as it:
        services, hosts = it.services, [server.place]
        await db.write(lambda tx: change_user(tx, it.owner.user_id, is_admin=True))
        await secrets.create_secret(services, it.owner, None, "TRACKER_KEY", hosts, "of-the-server")
        wanted = McpServerRequest(name="tracker", url=server.url, secret="TRACKER_KEY")
        found = await actions.add_server(services, it.owner, None, wanted)
        find = {tool.name: tool.digest for tool in found.tools if tool.name == "find"}
        await actions.allow_tools(services, it.owner, found.server.id, find)
        await it.ended((await it.start()).run_id)
        assert {one["authorization"] for one in server.headers} == {"Bearer of-the-server"}
        uses = await look(services, it.owner, it.project_id)
        assert {one.mcp_server for one in uses.items} == {"tracker"}
        await secrets.create_secret(services, it.owner, it.project_id, "TRACKER_KEY", hosts, "of-the-project")
        await it.ended((await it.start()).run_id)
        assert server.headers[-1]["authorization"] == "Bearer of-the-project"


async def test_a_persons_own_server_gets_their_own_secret_and_none_of_the_project(db: Database, tmp_path: Path) -> None:
    async with tool_server() as server, stage(db, tmp_path, [], settings=settings_for(server)) as it:
        services, owner, hosts = it.services, it.owner, [server.place]
        await secrets.create_secret(services, owner, it.project_id, "TRACKER_KEY", hosts, "the project's")
        wanted = McpServerRequest(name="tracker", url=server.url, secret="TRACKER_KEY", own=True)
        with pytest.raises(McpSecretUnusable):
            await actions.add_server(services, owner, it.project_id, wanted)
        await secrets.create_own_secret(services, owner, "TRACKER_KEY", hosts, "mine")
        await actions.add_server(services, owner, it.project_id, wanted)
        assert server.headers[-1]["authorization"] == "Bearer mine"


async def test_a_use_of_a_projects_secret_is_not_hidden_or_erased_by_a_secret_of_ones_own(
    db: Database, tmp_path: Path
) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        services, ben = it.services, await db.write(make_user, "Ben")
        await db.write(join, it.project_id, ben, "editor")
        await secrets.create_secret(services, it.owner, it.project_id, "KEY", ["api.example"], "the project's")
        log = UseLog(db, services.clock)
        head, target = RequestHead(b"GET", b"/", 1, [], {}), Target("api.example", 443, True)
        values = SavedSecrets(db, services.vault, OperatorSecrets({}), [])

        async def use() -> None:
            value = await SandboxSecrets({}, it.project_id, values, _no_one).value("KEY", ben.user_id)
            assert value is not None
            own = ["KEY"] if value.is_own else []
            await log.of("sbx_1", it.project_id).record(["KEY"], ben.user_id, target, head, 200, own)
            await log.flush()

        async def seen(actor: Actor) -> int:
            given: dict[str, Any] = {"before": None, "limit": 9, "sandbox_id": None, "secret": None}
            return len((await list_secret_uses(services, actor, it.project_id, **given)).items)

        await use()
        mine = await secrets.create_own_secret(services, ben, "KEY", ["api.example"], "mine")
        await use()
        assert (await seen(it.owner), await seen(ben)) == (1, 2)
        await secrets.delete_secret(services, ben, mine.id)
        assert (await seen(it.owner), await seen(ben)) == (1, 1)


async def _no_one() -> str | None:
    return None


async def _served(_listener: Any) -> None:
    pass


async def test_uses_by_a_persons_own_server_are_logged_and_those_of_shared_secrets_are_seen_by_all(
    db: Database, tmp_path: Path
) -> None:
    turns = [turn(Call("tracker__find", {"text": "x"})), turn("Found.")] * 2
    async with tool_server() as server, stage(db, tmp_path, turns, settings=settings_for(server)) as it:
        services, ben, hosts = it.services, await db.write(make_user, "Ben"), [server.place]
        await db.write(join, it.project_id, ben, "editor")
        shared = SecretRow("sec_1", None, None, "SHARED", hosts, None, ben.user_id, NOW, NOW)
        await db.write(lambda tx: tx.insert(saved_secrets, **shared._asdict()))
        await db.write(store.put_value, services.vault, "sec_1", "the server's")
        await secrets.create_own_secret(services, ben, "MINE", hosts, "mine")
        thread_id = await db.write(make_thread, it.project_id, ben)
        for secret in ("MINE", "SHARED"):
            wanted = McpServerRequest(name="tracker", url=server.url, secret=secret, own=True)
            found = await actions.add_server(services, ben, it.project_id, wanted)
            find = {tool.name: tool.digest for tool in found.tools if tool.name == "find"}
            await actions.allow_tools(services, ben, found.server.id, find)
            await it.ended((await it.start(actor=ben, target=thread_id)).run_id)
            await actions.remove_server(services, ben, found.server.id)
        look = partial(list_secret_uses, services, before=None, limit=9, sandbox_id=None, secret=None)
        named = [one.secret for one in (await look(ben, it.project_id)).items]
        assert named == ["SHARED", "SHARED", "MINE", "MINE"]  # a listing and a call each
        assert [one.secret for one in (await look(it.owner, it.project_id)).items] == ["SHARED", "SHARED"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_persons_own_package_gets_no_value_of_a_secret_of_the_project(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its proxy is opened with: only sandboxes can start one."""
    opened: list[tuple[str, SecretLookup, Any]] = []

    @asynccontextmanager
    async def proxy(
        _self: Any, _box: Any, whose: str, lookup: SecretLookup, _user: Any, uses: Any, _policy: Any
    ) -> Any:
        opened.append((whose, lookup, uses))
        yield SimpleNamespace(serve=_served)

    @asynccontextmanager
    async def box(*_: Any, **__: Any) -> Any:
        yield SimpleNamespace(sandbox_id="mcpbox_1", egress_listener=partial(anyio.sleep, 0))

    monkeypatch.setattr(Egress, "proxy", proxy)
    monkeypatch.setattr(package_servers, "sandbox_of", box)
    monkeypatch.setattr(package_servers, "_connected", box)
    async with stage(db, tmp_path, [], working=False) as it:
        services, owner = it.services, it.owner
        await secrets.create_secret(services, owner, it.project_id, "KEY", ["api.example"], "the project's")
        mine = await secrets.create_own_secret(services, owner, "KEY", ["api.example"], "mine")
        values = SavedSecrets(db, services.vault, OperatorSecrets({}), [])
        keeper = EgressKeeper(db, services.clock, Policy(), tmp_path / "egress", lookup=values)
        network = PackageNetwork(db, services.clock, tmp_path / "packages", keeper)
        manager = SimpleNamespace(workspace_dir=lambda _: tmp_path, provider=None)
        packages = PackageServers(db, manager, McpSettings(), services.clock, network)  # type: ignore[arg-type]
        for own in (True, False):
            wanted = McpServerRequest(name="notes", package="uvx notes", secrets=["KEY"], own=own)
            row = actions._row(services, owner, it.project_id, wanted, name="notes", url="", secrets=["KEY"])
            key, one = Key(row.id, "wsp_1", owner.user_id), Running(("", ""))
            async with packages._serving(key, one, row, Installed("", "", []), "", it.project_id):
                pass
        await secrets.delete_secret(services, owner, mine.id)
        assert [uses.project_id for _, _, uses in opened] == [it.project_id, it.project_id]
        found = [await lookup(owner.user_id, whose, "KEY") for whose, lookup, _ in opened]
        assert found == [None, "the project's"]


async def test_a_persons_own_secret_is_seen_changed_and_deleted_by_them_alone(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        services, ben = it.services, await db.write(make_user, "Ben")
        await db.write(join, it.project_id, ben, "editor")
        mine = await secrets.create_own_secret(services, ben, "BENS_KEY", ["api.example"], "hush")
        assert (mine.is_own, mine.has_value, mine.project_id) == (True, True, None)
        with pytest.raises(SecretNameTaken):
            await secrets.create_own_secret(services, ben, "BENS_KEY", ["api.example"], "hush")
        use = Use(it.project_id, "sbx_1", ben.user_id, "BENS_KEY", "api.example", "GET", "/", 200, services.clock.now())
        await db.write(add_uses, [replace(use, is_own=True)])
        look = partial(list_secret_uses, before=None, limit=9, sandbox_id=None, secret=None)
        for actor, seen in ((ben, ["BENS_KEY"]), (it.owner, [])):
            assert [one.name for one in await secrets.list_secrets(services, actor, it.project_id)] == seen
            assert [one.name for one in await secrets.list_own_secrets(services, actor)] == seen
            assert [one.secret for one in (await look(services, actor, it.project_id)).items] == seen
        for refused in (
            partial(secrets.change_secret, services, it.owner, mine.id, ["evil.example"], "x"),
            partial(secrets.set_own_value, services, it.owner, mine.id, "x"),
            partial(secrets.delete_secret, services, it.owner, mine.id),
        ):
            with pytest.raises(NotFound):
                await refused()
        await secrets.change_secret(services, ben, mine.id, ["other.example"], "new")
        await secrets.delete_secret(services, ben, mine.id)
        assert (await look(services, it.owner, it.project_id)).items == []
