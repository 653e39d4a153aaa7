"""MCP servers that are packages: installed once, then run in sandboxes of their own beside the agents'.

A server runs for one workspace and one user, over the workspace's files: without network unless hosts are named, and
without any environment of this program. It starts at a call and ends when it is idle, when the workspace's own sandbox
is another one, and with this program.
"""

import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import field
from importlib import import_module
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import OutlastError
from outlast.base.mcp_errors import McpServerFailed
from outlast.base.records import dataclass
from outlast.db.database import Database
from outlast.kernel.agents.mcp import parse_command
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast.kernel.mcp import store
from outlast.kernel.mcp.connection import without_deadline
from outlast.kernel.mcp.definitions import bounded
from outlast.kernel.mcp.live_calls import Answer, Ask, refuse
from outlast.kernel.mcp.outcomes import Request
from outlast.kernel.mcp.package_builds import OURS, Installed, empty_sandbox, install, limits, sandbox_of
from outlast.kernel.mcp.package_network import PackageNetwork
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.rules import secrets_of
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast_sandbox.egress.rules import Policy
from outlast_sandbox.interactive import ProcessSpec
from outlast_sandbox.interface import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from mcp import ClientSession

T = TypeVar("T")
START_S: Final = 60.0
INSTALL_S: Final = 1_800.0
LOOK_EVERY_S: Final = 300.0  # for packages that another node has added
log = logging.getLogger("outlast.mcp")


class Key(NamedTuple):
    server_id: str
    workspace_id: str
    user_id: str


@dataclass(eq=False, slots=True)
class Running:
    """A server at work. `over`: it has ended or is about to; `is_stuck`: a call was given up, so that the next one gets
    a new process; `calls`: those in progress, by what asks a person for each."""

    place: tuple[str, str]  # the workspace's own sandbox, and its ref
    client: "ClientSession | None" = None
    failure: str = ""
    ready: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)
    is_stuck: bool = False
    calls: list[Ask] = field(default_factory=list)
    used_at: float = 0.0

    async def ask(self, request: Request) -> Answer:
        """Ask the person of the call that began last: a process does not say for which call it asks. All its calls are
        of one person and one workspace."""
        return await (self.calls[-1] if self.calls else refuse)(request)


class PackageServers:
    """`run` installs packages and keeps their servers; `call` waits for it."""

    def __init__(
        self,
        db: Database,
        manager: SandboxManager | None,
        settings: McpSettings,
        clock: Clock,
        network: PackageNetwork | None = None,
    ) -> None:
        """`manager` is None on a server without sandboxes; `network` is None if sandboxes have none."""
        self._db, self._manager, self._settings, self._clock, self._network = db, manager, settings, clock, network
        self._tasks: TaskGroup | None = None
        self._running: dict[Key, Running] = {}
        self._refs: dict[str, str] = {}
        self._installing = anyio.Lock()
        self._wish, self._news = anyio.Event(), anyio.Event()

    async def run(self) -> None:
        """Install packages that are not listed yet, and keep servers that calls have started. Until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                while True:
                    wish = self._wish
                    wait_s = await self._install_due()
                    await wait_at_most(self._clock, wish, wait_s)
                    if wish.is_set():
                        self._wish = anyio.Event()
            finally:
                self._tasks = None

    @property
    def are_offered(self) -> bool:
        """Whether this server runs packages."""
        return self._manager is not None

    def want(self) -> None:
        """Look for packages to install now."""
        self._wish.set()

    async def listed(self, server_id: str, most_s: float) -> McpServerRow:
        """The server, once its package is installed and its tools are listed, or that has failed; at the latest after
        `most_s`."""
        self.want()
        with anyio.move_on_after(most_s):
            while True:
                news = self._news
                server = await self._db.read(store.server_of, server_id)
                if server.listed_at is not None or server.problem is not None:
                    return server
                await news.wait()
        return await self._db.read(store.server_of, server_id)

    async def call(
        self,
        server: McpServerRow,
        workspace: OpenWorkspace,
        project_id: str,
        user_id: str,
        work: Callable[["ClientSession"], Awaitable[T]],
        *,
        again: bool,
        ask: Ask = refuse,
    ) -> T:
        """The result of `work` with the server of this workspace and user. If the server ends meanwhile, the call is
        made once more with `again`; otherwise, and if it fails twice, raises `McpServerFailed`. `ask` as in
        `McpConnections.use`."""
        key = Key(server.id, workspace.workspace_id, user_id)
        for is_last in (not again, True):
            one = await self._ready(key, server, workspace, project_id)
            try:
                return await self._work(server, one, work, ask)
            except McpServerFailed:
                if is_last or not one.over.is_set():
                    raise
            finally:
                one.used_at = self._clock.monotonic()
        raise AssertionError("unreachable")

    async def _work(
        self, server: McpServerRow, one: Running, work: Callable[["ClientSession"], Awaitable[T]], ask: Ask
    ) -> T:
        from mcp import MCPError  # loaded with its client

        from outlast.kernel.mcp import sdk

        assert one.client is not None
        try:
            with anyio.fail_after(self._settings.timeout_s) as scope, _counted(one, scope, ask, self._settings):
                return await work(one.client)
        except TimeoutError:
            one.is_stuck = True
            raise _failed(server, f"did not answer within {self._settings.timeout_s:g} s") from None
        except Exception as error:  # the edge of another program
            own = sdk.own_error(error)
            if own is not None:
                raise own from None
            with anyio.move_on_after(1.0):  # the end of the process may be read after that of its messages
                if not isinstance(error, MCPError) or "closed" in str(error).lower():
                    await one.over.wait()
            reason = "ended in the middle of the call" if one.over.is_set() else sdk.reason_of(error)
            raise _failed(server, reason) from None

    async def _ready(self, key: Key, server: McpServerRow, workspace: OpenWorkspace, project_id: str) -> Running:
        """A server that can be called, started if none runs."""
        place = workspace.sandbox.sandbox_id, workspace.sandbox.ref
        one = self._running.get(key)
        if one is not None and (one.place != place or one.is_stuck or one.over.is_set()):
            one.over.set()
            await one.ended.wait()
            one = self._running.get(key)
        if one is None:
            if self._tasks is None or self._manager is None:
                raise _failed(server, "is a package, and this server runs no sandboxes")
            self._make_room()
            one = self._running[key] = Running(place, used_at=self._clock.monotonic())
            self._tasks.start_soon(self._keep, key, one, server, project_id)
        await one.ready.wait()
        if one.client is None:
            raise _failed(server, one.failure or "ended at once")
        return one

    def _make_room(self) -> None:
        idle = sorted((one for one in self._running.values() if not one.calls), key=lambda one: one.used_at)
        for one in idle[: max(0, len(self._running) + 1 - self._settings.most_packages)]:
            one.over.set()

    async def _keep(self, key: Key, one: Running, server: McpServerRow, project_id: str) -> None:
        """One server from its start to its end. An error of it does not affect others."""
        try:
            with anyio.fail_after(INSTALL_S):
                ref, installed = await self._installed(server)
            with anyio.fail_after(START_S) as starting:
                async with self._serving(key, one, server, installed, ref, project_id) as one.client:
                    starting.deadline = math.inf
                    one.used_at = self._clock.monotonic()
                    one.ready.set()
                    await self._until_idle(one)
        except Exception as error:  # the edge of another program, in a sandbox
            one.failure = _reason(error)
            log.info("server of a package ended", extra={"server": server.name, "reason": one.failure})
        finally:
            one.over.set()
            self._running.pop(key, None)
            one.ready.set()
            one.ended.set()

    @asynccontextmanager
    async def _serving(
        self, key: Key, one: Running, server: McpServerRow, installed: Installed, ref: str, project_id: str
    ) -> "AsyncIterator[ClientSession]":
        """A client of the server in a new sandbox over the workspace."""
        assert self._manager is not None
        folder = self._manager.workspace_dir(key.workspace_id)
        spec = SandboxSpec(f"{OURS}{token_hex(12)}", folder, limits(self._settings.package_memory_mb), snapshot_ref=ref)
        whose = secrets_of(server, project_id)
        policy = await self._policy(server, whose, key.user_id)
        async with AsyncExitStack() as stack:
            if policy is not None and self._network is not None:
                spec = await self._network.prepare(spec, policy)
            box = await stack.enter_async_context(sandbox_of(self._manager.provider, spec))
            if policy is not None and self._network is not None:
                await stack.enter_async_context(self._network.serving(box, policy, whose, project_id, key.user_id))
            yield await stack.enter_async_context(_connected(server, box, installed, one.over, one.ask))

    async def _policy(self, server: McpServerRow, whose: str, user_id: str) -> Policy | None:
        """What the server may reach, with the secrets of the project `whose`; None: nothing."""
        if not server.hosts and not server.secrets:
            return None
        if self._network is None:
            raise _failed(server, "names hosts, and sandboxes of this server have no network")
        return await self._network.policy(server.name, server.hosts or (), server.secrets or (), whose, user_id)

    async def _until_idle(self, one: Running) -> None:
        while not one.over.is_set():
            left_s = one.used_at + self._settings.idle_s - self._clock.monotonic()
            if not one.calls and left_s <= 0:
                return
            await wait_at_most(self._clock, one.over, max(left_s, 1.0))

    # --- installing -------------------------------------------------------------------------------------------------

    async def _install_due(self) -> float:
        """Install what is due; returns the seconds until something may be."""
        if self._manager is None:
            return LOOK_EVERY_S
        due, wait_s = await self._db.read(store.packages_due, LOOK_EVERY_S)
        for server in due:
            problem = await self._install(server)
            if problem:
                await self._db.write(store.put_problem, server.id, problem)
            self._news.set()
            self._news = anyio.Event()
        return 0.0 if due else wait_s

    async def _install(self, server: McpServerRow) -> str:
        """Why the package could not be installed and listed; empty if it was."""
        try:
            with anyio.fail_after(INSTALL_S):
                await self._list(server)
        except Exception as error:  # the edge of another program, in a sandbox
            return error.message if isinstance(error, McpServerFailed) else _failed(server, _reason(error)).message
        return ""

    async def _list(self, server: McpServerRow) -> None:
        assert self._manager is not None
        sdk = await anyio.to_thread.run_sync(import_module, "outlast.kernel.mcp.sdk_requests")
        ref, installed = await self._installed(server)
        memory = self._settings.package_memory_mb
        with anyio.fail_after(START_S):
            async with (
                empty_sandbox(self._manager.provider, ref, memory) as box,
                _connected(server, box, installed, anyio.Event()) as client,
            ):
                found, _ = bounded(await sdk.list_tools(client), self._settings.most_tools)
        await self._db.write(store.put_listing, server.id, found)

    async def _installed(self, server: McpServerRow) -> tuple[str, Installed]:
        """The ref of the package's snapshot on this node, and what is in it. Pins it at the first time."""
        assert self._manager is not None
        assert server.command is not None
        provider = self._manager.provider
        fresh = await self._db.read(store.server_of, server.id)
        pinned = None if fresh.installed is None else Installed(**fresh.installed)
        ref = self._refs.get(server.id)
        if pinned is not None and ref is not None and await provider.has_snapshot(ref):
            return ref, pinned
        async with self._installing:  # one build at a time
            package, memory = parse_command(server.command), self._settings.package_memory_mb
            ref, found = await install(provider, server.name, package, pinned, memory)
            if pinned is None:
                await self._db.write(store.put_installed, server.id, found._asdict())
            self._refs[server.id] = ref
            return ref, found


@asynccontextmanager
async def _connected(
    server: McpServerRow, box: Sandbox, installed: Installed, over: anyio.Event, ask: Ask = refuse
) -> "AsyncIterator[ClientSession]":
    """A client of the package's server, whose process is started in this sandbox."""
    transport = await anyio.to_thread.run_sync(import_module, "outlast.kernel.mcp.sandbox_transport")
    assert server.command is not None
    argv = (*installed.program, *parse_command(server.command).args)
    process = await box.processes.start(ProcessSpec(argv, stdin=True))
    async with transport.connect(box.processes, process.pid, over, ask) as client:
        yield client


@contextmanager
def _counted(one: Running, scope: anyio.CancelScope, ask: Ask, settings: McpSettings) -> Iterator[None]:
    """A call at work, for which a person can be asked."""
    patient = without_deadline(scope, settings.timeout_s, ask)
    one.calls.append(patient)
    try:
        yield
    finally:
        one.calls.remove(patient)


def _failed(server: McpServerRow, reason: str) -> McpServerFailed:
    return McpServerFailed(f"The MCP server {server.name} {reason.rstrip('.')[:400]}.", server=server.name)


def _reason(error: BaseException) -> str:
    """Why a server failed, for people."""
    leaves: Sequence[BaseException] = error.exceptions if isinstance(error, BaseExceptionGroup) else [error]
    for one in leaves:
        if isinstance(one, BaseExceptionGroup):
            return _reason(one)
        if isinstance(one, OutlastError):
            return f"cannot be started: {one.message}"
    if isinstance(leaves[0], TimeoutError):
        return "did not start in time"
    return f"cannot be started ({type(leaves[0]).__name__})"
