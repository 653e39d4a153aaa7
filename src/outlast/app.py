"""Wires the whole program: settings in, one task tree out.

`open_program` opens resources in order and closes them in reverse. `run_program` starts the concurrent services, each
once the one before is ready: the database's listener, followers' leases, the sweeper, the worker, the HTTP server.
Stopping has two steps. Soft (the first SIGTERM or Ctrl+C): the server takes on no connection and no run, streams end
with their cursors, and every run stops before its next effect, for at most `server.stop_grace_s`. Hard (then, or at the
second signal): the remaining runs are cut short and their leases released; they continue on another server or at the
next start, and this does not count as a failure.
"""

import gc
import logging
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import ASGIApp

from outlast.apps import APPS
from outlast.assembly import open_accounts, open_catalog, open_sandboxes
from outlast.base.clock import Clock, SystemClock
from outlast.base.data_directory import data_directory, held, node_of
from outlast.base.errors import OutlastError, UnsafeBind
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.base.supervision.supervisor import Run, Supervisor
from outlast.db.blobs import FolderBlobs
from outlast.db.connect import migrate, open_database
from outlast.db.sqlite import SqliteDatabase, demand_whole
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.store import has_tokens
from outlast.kernel.agents.own_loader import OwnLoader
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.tools.standard_tools import OwnTools
from outlast.kernel.apps import packages, registry
from outlast.kernel.apps.opened import Layer, Opening
from outlast.kernel.connections import actions as connections
from outlast.kernel.connections.service_accounts import AccountSecrets
from outlast.kernel.deployment import Deployment, join
from outlast.kernel.files.keeper import ArtifactKeeper
from outlast.kernel.http.allowed_hosts import is_loopback, known_hosts
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.surface import Surface
from outlast.kernel.mcp import code_servers, task_calls
from outlast.kernel.mcp.configured_secrets import ConfiguredSecrets
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.package_network import PackageNetwork
from outlast.kernel.mcp.package_servers import PackageServers
from outlast.kernel.mcp.tools import ConnectedTools
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.postgres_checks import options_of, warn_of_room
from outlast.kernel.presence.actions import tell_presence
from outlast.kernel.presence.board import PresenceBoard
from outlast.kernel.presence.news import PresenceNews
from outlast.kernel.previews.hosts import preview_hosts
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.runs import account_questions
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.followers import Watching
from outlast.kernel.runs.leases import free_lapsed
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.actions import pause_idle
from outlast.kernel.sandboxes.disk_guard import DiskGuard
from outlast.kernel.sandboxes.idle_policy import Ladder
from outlast.kernel.sandboxes.orphans import reconcile, sweep
from outlast.kernel.sandboxes.template_files import load_templates
from outlast.kernel.sandboxes.warm_start import Warmer
from outlast.kernel.schedules import due_runs
from outlast.kernel.schedules import store as schedules
from outlast.kernel.schedules.code_schedules import follow_code
from outlast.kernel.secrets.prompt import secrets_addition
from outlast.kernel.secrets.vault import open_vault
from outlast.kernel.services import SandboxServices, Services
from outlast.kernel.set_aside.shelf import DatabaseShelf
from outlast.kernel.settings import Settings
from outlast.kernel.sidecars import OpenSidecar, open_sidecars, with_dependencies
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.live.open import open_live
from outlast.kernel.streams.writer import Flusher
from outlast.kernel.webhooks.sender import Sender
from outlast.surfaces.http.application import ApiLoader, create_http
from outlast.surfaces.http.server import HttpServer, bind, bind_twin
from outlast.surfaces.protocols.e2b.ports import with_ports
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime

MAX_FILES = 65_536  # the most open files that this program asks for
Announce = Callable[[str], None]
AskedToStop = Callable[[], Awaitable[None]]
log = logging.getLogger("outlast.app")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One server's opened resources. `tasks` are services that run beside the requests, by name; `layers` are those of
    the apps around the HTTP application."""

    services: Services
    worker: Worker
    own_agents: OwnLoader
    sidecars: Sequence[OpenSidecar]
    tasks: Sequence[tuple[str, Run]]
    layers: Sequence[Layer]


def load() -> None:
    """Import the apps and what they open on a server. Repeatable. Raises `StartRefused` as `registry.load` does."""
    packages.declare(APPS)
    for app in registry.load().apps:
        if app.server:
            import_module(app.server)


def run(settings: Settings, announce: Announce, *, http: bool) -> None:
    """Run a server, or only a worker if `http` is false, until it is asked to stop. `announce` is called with the
    address, or with "" for a worker, once everything is ready. Raises `StartRefused`, `InvalidSetting` and similar
    errors."""
    _allow_many_files()
    anyio.run(partial(run_program, settings, announce, http=http), backend_options={"use_uvloop": True})


def _allow_many_files() -> None:
    """Followers, sandboxes and their connections each take a descriptor; the default limit of most systems is low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def run_program(
    settings: Settings, announce: Announce, *, http: bool, asked_to_stop: AskedToStop | None = None
) -> None:
    """As `run`, inside a running event loop. `asked_to_stop` returns at the first request to stop and, called again, at
    the second; None waits for signals."""
    async with open_program(settings) as program:
        listeners = await _bind(program) if http else []
        e2b = E2bRuntime(program.services) if program.services.sandboxes.manager else None
        server, api = await _http_server(program, listeners, e2b) if listeners else (None, None)
        stack = AsyncExitStack()
        async with stack, anyio.create_task_group() as tasks:
            wish = asked_to_stop or stack.enter_context(_signals())
            worker_ended = anyio.Event()
            await _start_inner(program, tasks, worker_ended)
            if server is not None:
                if e2b is not None:
                    tasks.start_soon(program.services.supervisor.keep, "hosted sandboxes", e2b.run)
                await program.services.supervisor.start(tasks, "http", _serve, server, vital=True)
            if api is not None:
                await api.load()
                tasks.start_soon(program.services.supervisor.keep, "check of sandboxes", api.surface.readiness.run)
            tasks.start_soon(program.services.supervisor.guard.once, "start", "models", _warm_up, program)
            tasks.start_soon(
                program.services.supervisor.guard.once, "start", "agents' code", _follow_code, program.services
            )
            announce(_address(settings, listeners[0]) if listeners else "")
            await wish()
            await _stop(program, server, worker_ended, wish)
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def open_program(settings: Settings) -> AsyncIterator[Program]:
    """Open all resources of a server in order, and close them in reverse; nothing runs yet. Raises
    `DataDirectoryInUse`, `StorageUnavailable`, `SchemaMismatch`, `DeploymentMismatch`, `SecretKeyMissing`,
    `InvalidSetting`."""
    load()
    clock: Clock = SystemClock()
    folder = data_directory(settings.server.data_dir)
    async with AsyncExitStack() as stack:
        was_clean = stack.enter_context(held(folder))
        sidecars = stack.enter_context(open_sidecars(settings, folder, clock))
        settings = with_dependencies(settings, sidecars)
        environment = dict(os.environ)
        for sidecar in sidecars:
            environment |= sidecar.secrets
        database = open_database(settings.database.url.reveal(), folder, clock, options_of(settings))
        stack.push_async_callback(database.aclose)
        if not was_clean and isinstance(database, SqliteDatabase):
            await anyio.to_thread.run_sync(demand_whole, database.path)
        await migrate(database)
        await warn_of_room(database, settings)
        if not await join(database, Deployment(folder, folder / settings.blobs.url.reveal())):
            log.warning("the database was restored: stored files are not collected until 'outlast verify' has run")
        hub = Hub()
        hub.live = await open_live(settings.live.redis_url, database, clock)
        stack.push_async_callback(hub.live.aclose)
        vault = await open_vault(database, folder, os.environ)
        if database.dialect == "postgresql":  # whose time all processes share
            clock = database.clock
        supervisor = Supervisor(clock, DatabaseShelf(database))
        catalog = open_catalog(settings, clock)
        stack.push_async_callback(catalog.aclose)
        opening = Opening(
            settings=settings,
            database=database,
            blobs=FolderBlobs(folder / settings.blobs.url.reveal()),
            clock=clock,
            folder=folder,
            environment=environment,
            vault=vault,
            supervisor=supervisor,
            hub=hub,
            templates=load_templates(settings.screens),
            states=registry.make_states(settings),
            closing=stack,
        )
        opening = replace(opening, sandboxes=open_sandboxes(opening))
        program = _wire(opening, catalog, sidecars)
        await program.own_agents.load()
        yield program


def _wire(opening: Opening, catalog: ModelCatalog, sidecars: Sequence[OpenSidecar]) -> Program:
    """The rooms, each wired with its dependencies, and the apps."""
    settings, database, blobs = opening.settings, opening.database, opening.blobs
    clock, supervisor, hub, sandboxes = opening.clock, opening.supervisor, opening.hub, opening.sandboxes
    database.on_notice(hub.ring)
    presence = PresenceBoard(clock)
    presence.on_change(lambda room_id: tell_presence(presence, hub, room_id))
    opening = replace(opening, runs_code=lambda name: name in agents.sandboxed)
    apps = {app.name: opening.open(app) for app in registry.load().apps}
    # On PostgreSQL another process may have been this machine's server a moment ago: its leases must lapse, so a
    # new process must not renew them.
    node_id = node_of(opening.folder) if database.dialect == "sqlite" else new_id("node")
    news = None if database.dialect == "sqlite" else PresenceNews(presence, hub.live, clock, node_id)
    agents: Agents = Agents(
        {name: app.agents for name, app in apps.items()},
        additions=[
            *(addition for app in apps.values() for addition in app.additions),
            secrets_addition(opening.runs_code),
        ],
    )
    account_tokens = open_accounts(opening)
    mcp_packages = _mcp_packages(opening, sandboxes)
    connected = ConnectedTools(
        database,
        McpConnections(database, opening.vault, settings.mcp, account_tokens, ConfiguredSecrets(settings.sandbox)),
        clock,
        mcp_packages,
        opening.workspaces,
    )
    engine = Engine(
        db=database,
        hub=hub,
        clock=clock,
        settings=settings,
        catalog=catalog,
        blobs=blobs,
        agents=agents,
        flusher=Flusher(settings.streams.save_interval_s, hub.live),
        node_id=node_id,
        log=_log_event,
        workspaces=opening.workspaces,
        files=sandboxes.checkpoints,
        connected=connected,
    )
    if sandboxes.egress is not None and account_tokens.oauth.services:
        sandboxes.egress.more = AccountSecrets(database, account_tokens, agents)
    warmer = None
    if sandboxes.manager is not None and settings.sandbox is not None and settings.sandbox.mode == "warm":
        warmer = Warmer(database, sandboxes.manager, engine.agents)
        sandboxes = replace(sandboxes, warm=warmer.warm)
    services = Services(
        db=database,
        clock=clock,
        settings=settings,
        blobs=blobs,
        presence=presence,
        hub=hub,
        catalog=catalog,
        vault=opening.vault,
        accounts=account_tokens,
        engine=engine,
        watching=Watching(database, hub, clock, settings, node_id),
        sandboxes=sandboxes,
        states=opening.states,
        implementations=opening.implementations,
        supervisor=supervisor,
        want_packages=mcp_packages.want,
    )
    timers = {kind: handle for app in apps.values() for kind, handle in app.timers.items()}
    timers[schedules.TIMER] = partial(due_runs.fire, services)
    timers[account_questions.TIMER] = partial(connections.go_on, services)
    timers[task_calls.TIMER] = connected.end_task
    sweeper = Sweeper(engine, sandboxes.steps, timers, supervisor)
    optional = {"checkpoints": sandboxes.checkpoints, "snapshots": sandboxes.snapshots, "warming of sandboxes": warmer}
    tasks: list[tuple[str, Run]] = [
        *((name, one.run) for name, one in optional.items() if one is not None),
        *(task for app in apps.values() for task in app.tasks.items()),
        ("files of projects", ArtifactKeeper(database, clock, blobs, settings, supervisor).run),
        ("timers", sweeper.run),
        *([("presence on other nodes", news.run)] if news is not None else []),
        ("calls of MCP servers", connected.run),
        *([("packages of MCP servers", mcp_packages.run)] if sandboxes.manager is not None else []),
        ("webhooks", Sender(database, clock, opening.vault, settings, supervisor).run),
    ]
    own_agents = OwnLoader(
        settings.agents, engine.agents, clock, OwnTools(opening).give, partial(_follow_code, services)
    )
    if settings.agents.reload:
        tasks.append(("agents of the operator", own_agents.run))
    return Program(
        services=services,
        worker=Worker(engine, supervisor),
        own_agents=own_agents,
        sidecars=sidecars,
        tasks=tasks,
        layers=[app.layer for app in apps.values() if app.layer is not None],
    )


def _mcp_packages(opening: Opening, sandboxes: SandboxServices) -> PackageServers:
    network = None
    if sandboxes.egress is not None:
        network = PackageNetwork(opening.database, opening.clock, opening.folder / "mcp-egress", sandboxes.egress)
    return PackageServers(opening.database, sandboxes.manager, opening.settings.mcp, opening.clock, network)


async def _follow_code(services: Services) -> None:
    """Keep what the operator's agents declare: schedules and MCP servers."""
    await follow_code(services)
    await code_servers.follow_code(services)
    await connections.follow_settings(services)
    services.want_packages()


async def _start_inner(program: Program, tasks: TaskGroup, worker_ended: anyio.Event) -> None:
    """Start everything but the HTTP server: interrupted runs are resumed before new work comes in."""
    services = program.services
    supervisor, room = services.supervisor, services.sandboxes

    def keep(name: str, run: Run) -> None:
        tasks.start_soon(supervisor.keep, name, run)

    keep("bells of the database", services.db.background)
    keep("live text of other nodes", services.hub.live.run)
    if services.db.dialect == "postgresql":  # other processes write too
        keep("still streams", partial(services.hub.watch_still, services.settings.runs.lease_s))
    keep("followers", services.watching.run)
    keep("typing", services.presence.run)
    if services.db.dialect == "sqlite":  # the folder's lock ensures that no other server holds a run
        await services.db.write(free_lapsed, everything=True)
    for sidecar in program.sidecars:
        await supervisor.start(tasks, sidecar.name, sidecar.run)
    if room.egress is not None:
        await supervisor.start(tasks, "egress", room.egress.run)
    if room.manager is not None and room.keeper is not None:
        await supervisor.start(tasks, "services in sandboxes", room.keeper.run)
        disk = DiskGuard(room.manager)
        room.manager.attend(disk)
        # A machine that cannot run sandboxes reports that when one is needed.
        await supervisor.guard.once("start", "sandboxes", reconcile, room.manager)
        keep("disk of sandboxes", disk.run)
        step, look = partial(pause_idle, services), partial(sweep, room.manager)
        keep("idle sandboxes", Ladder(room.manager, step, look).run)
    if room.studio is not None:
        await supervisor.start(tasks, "browsers", room.studio.run)
    for name, run in program.tasks:
        keep(name, run)
    tasks.start_soon(_work, program, worker_ended)


async def _work(program: Program, ended: anyio.Event) -> None:
    try:
        await program.services.supervisor.keep("worker", program.worker.run, vital=True)
    finally:
        ended.set()


async def _warm_up(program: Program) -> None:
    """Load what the first answer would wait for. Like all imported objects it lives until the end, so the garbage
    collector skips both."""
    catalog = program.services.catalog
    for model in catalog.list():
        if missing := catalog.missing_key(model.provider):
            log.warning("a model cannot be used: its key is not set", extra={"model": model.id, "variable": missing})
    await catalog.warm_up()
    gc.freeze()


# --- the HTTP server --------------------------------------------------------------------------------------------------


async def _bind(program: Program) -> list[socket.socket]:
    """Bound sockets: two for a loopback address, so that previews' names resolve to this server over IPv4 and IPv6. An
    address that other machines can reach requires a token first: a network position gives no access."""
    server = program.services.settings.server
    if not is_loopback(server.host) and not await program.services.db.read(has_tokens):
        raise UnsafeBind(
            f"{server.host} can be reached from other machines, and this server has no API token yet.",
            hint=f"Create one first: outlast tokens create --data-dir {server.data_dir}; or bind 127.0.0.1.",
            host=server.host,
        )
    listener = bind(server.host, server.port)
    twin = bind_twin(listener)
    return [listener] if twin is None else [listener, twin]


async def _http_server(
    program: Program, listeners: list[socket.socket], e2b: E2bRuntime | None
) -> tuple[HttpServer, ApiLoader]:
    services, settings, server = program.services, program.services.settings, program.services.settings.server
    is_local = is_loopback(server.host) and not server.public_url
    manager = services.sandboxes.manager
    surface = Surface(
        services=services,
        streams=OpenStreams(settings.streams, settings.limits.streams_per_user),
        readiness=Readiness(services.db, manager.provider if manager else None, services.supervisor),
        local_owner=await accounts.ensure_local_owner(services) if is_local else None,
        version=version("outlast"),
        secure_cookie=server.public_url.startswith("https://"),
        previews=preview_hosts(settings.sandbox.preview_base_domain if settings.sandbox else ""),
    )
    services.db.on_notice(surface.streams.on_bell)
    hosts = known_hosts(server.host, server.public_url, server.allowed_hosts)
    api = ApiLoader(surface)
    inner = create_http(surface, hosts, e2b, api)
    layer = PreviewLayer(inner, surface, hosts)

    def close() -> None:
        surface.streams.close()
        layer.close()

    outer: ASGIApp = with_ports(layer, inner, surface)
    for put_around in program.layers:
        outer = put_around(outer, surface, hosts)
    return HttpServer(outer, listeners, server.stop_grace_s, close, layer.run), api


async def _serve(server: HttpServer, *, task_status: TaskStatus[None]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run_until_stopped)
        await server.ready.wait()
        task_status.started()


def _address(settings: Settings, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return settings.server.public_url or f"http://{f'[{host}]' if ':' in host else host}:{port}"


# --- stopping ---------------------------------------------------------------------------------------------------------


@contextmanager
def _signals() -> Iterator[AskedToStop]:
    """Each call waits for the next SIGTERM or SIGINT."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:

        async def wish() -> None:
            async for number in received:
                log.info("stopping", extra={"signal": number.name})
                return

        yield wish


async def _stop(program: Program, server: HttpServer | None, worker_ended: anyio.Event, wish: AskedToStop) -> None:
    """Stop softly for the grace period, or until the second request to stop; then hard."""

    async def hurry(scope: anyio.CancelScope) -> None:
        await wish()
        scope.cancel()

    program.worker.stop_softly()
    with anyio.move_on_after(program.services.settings.server.stop_grace_s):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hurry, tasks.cancel_scope)
            if server is not None:
                server.stop()
                await server.stopped.wait()
            await worker_ended.wait()
            tasks.cancel_scope.cancel()
    if not worker_ended.is_set():
        await program.worker.stop_hard()


def _log_event(message: str, **fields: Any) -> None:
    """Write to the log for modules below the surfaces."""
    error = fields.pop("error", None)
    level = logging.WARNING if error is not None else logging.INFO
    if isinstance(error, OutlastError):
        fields |= {"code": error.code, "reason": error.message}
        error = None
    log.log(level, message, extra=fields, exc_info=error)
