"""MCP servers that are packages: installed once, pinned, and run in sandboxes without network or the server's
environment."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from outlast import Agent, mcp
from outlast.base.clock import SystemClock
from outlast.base.mcp_errors import McpServerFailed
from outlast.db.connect import migrate, open_database
from outlast.db.database import Database
from outlast.kernel.mcp import actions, store
from outlast.kernel.mcp.package_network import PackageNetwork
from outlast.kernel.mcp.package_servers import PackageServers
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.mcp.shapes import McpServerRequest, McpToolsAnswer
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.runs.settings import PolicyRule, RetrySettings
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.settings import Settings
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage, told_last
from tests.flow.mcp.tool_server import serving
from tests.sandbox.mcp_package import SOURCE
from tests.sandbox.package_indexes import write_wheel

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
SANDBOX = SandboxSettings(memory_mb=512)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only index pip knows. It has the same package for all tests: it is built once."""
    folder = tmp_path / "wheels"
    write_wheel(folder, "notes", "1.0", SOURCE)
    for path in (tmp_path, folder):
        path.chmod(0o755)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("OUTLAST_TEST_SECRET", "hush-hush")
    return folder


@dataclass
class Works:
    it: Stage
    packages: PackageServers
    local: LocalProvider

    @property
    def manager(self) -> SandboxManager:
        manager = self.it.services.sandboxes.manager
        assert manager is not None
        return manager

    async def add(self, name: str = "notes", **more: Any) -> McpToolsAnswer:
        """The project's server, installed and with all of its tools allowed."""
        wanted = McpServerRequest(name=name, package="uvx notes", **more)
        added = await actions.add_server(self.it.services, self.it.owner, self.it.project_id, wanted)
        assert (added.server.listed_at, added.server.version, added.tools) == (None, None, [])
        return await self.installed(added.server.id)

    async def installed(self, server_id: str) -> McpToolsAnswer:
        row = await self.packages.listed(server_id, 120)
        assert row.problem is None, row.problem
        found = await actions.list_tools(self.it.services, self.it.owner, server_id)
        digests = {tool.name: tool.digest for tool in found.tools}
        return await actions.allow_tools(self.it.services, self.it.owner, server_id, digests)

    async def told(self, request: int = -1) -> str:
        assert await self.it.ended((await self.it.start()).run_id) == "completed"
        (text,) = told_last(self.it.model.requests[request])
        return text

    async def kill_once_begun(self, mark: str) -> None:
        """Kill the package's process once its tool has written this file."""
        while True:
            for one in list(self.packages._running):
                if (self.manager.workspace_dir(one.workspace_id) / mark).exists():
                    for sandbox_id, ref in await self.local.list_refs():
                        if sandbox_id.startswith("mcpbox_"):
                            box = await self.local.connect(sandbox_id, ref)
                            for process in await box.processes.list():
                                await box.processes.signal(process.pid, 9)
                            await box.aclose()
                    return
            await anyio.sleep(0.05)  # another process writes the file: there is nothing to wait for


@asynccontextmanager
async def works(
    local: LocalProvider,
    folder: Path,
    turns: list[Turn],
    *tools: mcp.McpServer,
    sandbox: SandboxSettings = SANDBOX,
    **more: Any,
) -> AsyncIterator[Works]:
    db: Database = open_database(f"sqlite:///{folder}/outlast.db", folder, SystemClock())
    await migrate(db)
    free = PolicyRule(name="free", tool="*", decision="allow")
    mcp_settings = McpSettings(timeout_s=60, **more)
    settings = Settings(sandbox=SANDBOX, mcp=mcp_settings, retry=RetrySettings(attempts=0), policy=(free,))
    manager = SandboxManager(db, local, SystemClock(), SANDBOX, folder / "data")
    egress = EgressKeeper(db, SystemClock(), policy_of(sandbox), folder / "egress")
    network = PackageNetwork(db, SystemClock(), folder / "mcp-egress", egress)
    model = ScriptedModel(turns)
    packages = PackageServers(db, manager, mcp_settings, SystemClock(), network)
    services = make_services(
        db,
        folder,
        settings,
        manager=manager,
        packages=packages,
        agents=[Agent("chat", tools=list(tools))],
        catalog=ScriptedCatalog(model),
    )
    owner = await db.write(make_user)
    project_id = await db.write(make_project, owner)
    thread_id = await db.write(make_thread, project_id, owner)
    async with anyio.create_task_group() as group:
        group.start_soon(packages.run)
        group.start_soon(Worker(services.engine).run)
        group.start_soon(services.watching.run)
        with anyio.fail_after(150):
            yield Works(Stage(services, model, owner, project_id, thread_id), packages, local)
        group.cancel_scope.cancel()
    await manager.aclose()
    await db.aclose()


async def test_a_package_is_pinned_and_runs_over_the_workspace_without_network_or_the_servers_environment(
    local: LocalProvider, tmp_path: Path, wheels: Path
) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listening:
        port = listening.getsockname()[1]
        calls = [Call("notes__save", {"text": "hello"}), Call("notes__look", {"port": port}), Call("notes__count", {})]
        turns = [step for call in [*calls, calls[-1]] for step in (turn(call), turn("So."))]
        async with works(local, tmp_path, turns) as it:
            found = await it.add()
            assert (found.server.version, found.server.package, len(found.tools)) == ("1.0", "uvx notes", 6)
            assert {tool.name: tool.asks for tool in found.tools}["save"]
            assert await it.told() == "saved"
            looked = json.loads(await it.told())
            assert looked["files"] == ["saved.txt"]
            assert looked["network"] == [False, False]
            assert "hush-hush" not in looked["environment"].values()
            assert not set(looked["environment"].values()) & {os.environ["PIP_FIND_LINKS"], str(tmp_path)}
            assert await it.told() == "3"  # one process for all three runs
            (running,) = it.packages._running
            await it.manager.kill(running.workspace_id)
            assert await it.told() == "1"  # with another sandbox of the agent it is another process
            pinned = (await it.it.services.db.read(store.server_of, found.server.id)).installed
            assert pinned["version"] == "1.0"
            assert pinned["program"][-1].endswith("/notes-says")


async def test_a_package_reaches_the_named_hosts_only_and_gets_a_placeholder_of_its_key(
    local: LocalProvider, tmp_path: Path, wheels: Path
) -> None:
    seen: list[str | None] = []

    async def page(scope: Any, _receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(dict(scope["headers"]).get(b"authorization", b"").decode())
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"a page"})

    async with serving(page) as port, serving(page) as open_port:
        place, opened = f"127.0.0.1:{port}", f"127.0.0.1:{open_port}"
        key = DependencySettings(secret_env="OUTLAST_TEST_SECRET", hosts=(place,), allow_private=(place,))
        free = DependencySettings(hosts=(opened,), allow_private=(opened,))
        refused = [("notes", "example.com"), ("notes", opened)]
        asked = [("notes", place), *refused, ("plain", opened), ("plain", place)]
        calls = [Call(f"{server}__fetch", {"url": f"http://{host}/"}) for server, host in asked]
        turns = [step for call in calls for step in (turn(call), turn("So."))]
        sandbox = replace(SANDBOX, dependencies=(key, free))
        async with works(local, tmp_path, turns, sandbox=sandbox) as it:
            await it.add(secrets=["OUTLAST_TEST_SECRET"])
            assert await it.told() == "a page with SECRET_PLACEHOLDER_"
            for _ in refused:
                assert "a page" not in await it.told()
            assert seen == ["hush-hush"]
            assert it.packages._network is not None
            alone = await it.packages._network.policy("alone", (), (), it.it.project_id, it.it.owner.user_id)
            assert not alone.opens  # also not what the operator opened for sandboxes
            await it.add("plain", hosts=[opened])  # the same package, with a host of its own and without the secret
            assert await it.told() == "a page with "
            assert "a page" not in await it.told()
            assert seen == ["hush-hush", ""]


async def test_a_package_that_is_not_what_was_pinned_is_not_started(
    local: LocalProvider, tmp_path: Path, wheels: Path
) -> None:
    async with works(local, tmp_path, [turn(Call("notes__count", {})), turn("Hm.")]) as it:
        found = await it.add()
        row = await it.it.services.db.read(store.server_of, found.server.id)
        other = {**row.installed, "digest": "0" * 64}
        await it.it.services.db.write(lambda tx: tx.update(mcp_servers, {"id": row.id}, installed=other))
        it.packages._refs.clear()  # as on another node
        assert "is not the one that was installed first" in await it.told()


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("read_slowly", "done"),
        ("pay_slowly", "ended in the middle of the call. It is not known whether the call took effect."),
    ],
    ids=["one that only reads is called again", "one that changes something is not"],
)
async def test_a_process_that_is_killed_in_the_middle_of_a_call(
    local: LocalProvider, tmp_path: Path, wheels: Path, tool: str, told: str
) -> None:
    async with works(local, tmp_path, [turn(Call(f"notes__{tool}", {})), turn("So.")]) as it:
        await it.add()
        async with anyio.create_task_group() as group:
            group.start_soon(it.kill_once_begun, tool)
            assert told in await it.told()


async def test_a_package_in_the_code_of_an_agent_is_installed_and_ends_when_it_is_idle(
    local: LocalProvider, tmp_path: Path, wheels: Path
) -> None:
    turns = [turn(Call("notes__count", {})), turn("So.")] * 2
    async with works(local, tmp_path, turns, mcp.stdio("uvx notes"), idle_s=0.3) as it:
        await it.it.services.db.write(store.put_code_servers, list(it.it.services.engine.agents.mcp_servers))
        (server,) = await actions.list_servers(it.it.services, it.it.owner, it.it.project_id)
        assert (server.origin, server.package, server.listed_at) == ("code", "uvx notes", None)
        await it.packages.listed(server.id, 120)
        assert await it.told() == "1"
        running = list(it.packages._running.values())
        for one in running:
            await one.ended.wait()
        assert it.packages._running == {}
        assert [name for name, _ in await local.list_refs() if name.startswith("mcpbox_")] == []
        assert await it.told() == "1"  # a new process


async def test_a_package_that_does_not_exist_is_a_problem_that_people_read(
    local: LocalProvider, tmp_path: Path, wheels: Path
) -> None:
    async with works(local, tmp_path, []) as it:
        wanted = McpServerRequest(name="gone", package="uvx no-such-package")
        added = await actions.add_server(it.it.services, it.it.owner, it.it.project_id, wanted)
        row = await it.packages.listed(added.server.id, 120)
        assert row.problem is not None
        assert "no-such-package" in row.problem
        with pytest.raises(McpServerFailed):
            raise McpServerFailed(row.problem)
