"""Creates containers, and finds them again."""

import functools
import json
import logging
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from outlast_sandbox.errors import SandboxError, SandboxUnavailable
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interface import Capabilities, Command, Limits, ProbeReport, SandboxProvider, SandboxSpec
from outlast_sandbox.providers.local.base_layer import TOOLS, BaseLayer, prepare_base
from outlast_sandbox.providers.local.connection import lost
from outlast_sandbox.providers.local.egress_environment import write_authorities
from outlast_sandbox.providers.local.launch import choose_uid, environment, find_powers, own_workspace
from outlast_sandbox.providers.local.presence import Presence
from outlast_sandbox.providers.local.seccomp import filter_program
from outlast_sandbox.providers.setup import ProviderSetup, read_options
from outlast_sandbox.providers.unsupported import ProviderDefaults

from .engine import Engine, EngineRefused, first_answer, usual_sockets
from .handshake import MEETING_FOLDER, introduce, meeting
from .plan import OWNER_LABEL, SANDBOX_LABEL, SEARCH_PATH, Place, container_body, container_name
from .sandbox import Container, DockerSandbox, end_container

T = TypeVar("T")
log = logging.getLogger("outlast.sandboxes")

START_TIMEOUT_S: Final = 60.0
CLEAN_UP_TIMEOUT_S: Final = 60.0
FORGOTTEN_AFTER_S: Final = 120.0  # a start takes less: an older container that does not run was abandoned
_STARTING: Final = ("created", "initialized", "configured")
CAPABILITIES: Final = Capabilities(pause=True, volume=True, preview=True, reattach=True, interactive=True, egress=True)


@dataclass(frozen=True, slots=True)
class DockerOptions:
    """`image`: has Python 3.9 or newer and bash, and is already pulled; `socket`: the engine's socket ("" searches the
    default places of Docker and Podman); `runtime`: the engine's OCI runtime for sandboxes, such as `runsc` ("" is its
    default one)."""

    image: str = "python:3.13-slim"
    socket: str = ""
    runtime: str = ""


def open_provider(setup: ProviderSetup) -> "SandboxProvider":
    """On this machine's engine, or on those of the hosts that are named. Raises `InvalidSetting`."""
    options = read_options(DockerOptions, setup.options, "docker")
    if setup.hosts:
        from outlast_sandbox.providers.hosts.provider import HostsProvider  # only where there are any

        return HostsProvider(setup, options.image, options.runtime)
    return DockerProvider(setup, options)


class DockerProvider(ProviderDefaults):
    """See `SandboxProvider`. `state_dir` holds one folder per living container (the agent's socket); the engine lists
    the containers by their labels. In memory: only the paths of the engine and the tools."""

    def __init__(self, setup: ProviderSetup, options: DockerOptions) -> None:
        self.state_dir = setup.state_dir.absolute()
        self._cache_dir = setup.cache_dir.absolute()
        self._owner = setup.owner
        self._options = options
        self._presence = Presence(self.state_dir)
        self._engine: Engine | None = None
        self._base: BaseLayer | None = None
        self._preparing = anyio.Lock()

    @property
    def name(self) -> str:
        return "docker"

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    async def probe(self) -> ProbeReport:
        workspace = Path(await _in_thread(tempfile.mkdtemp))
        spec = SandboxSpec(f"probe-{os.getpid()}-{time.monotonic_ns()}", workspace, Limits(memory_bytes=256 * 1024**2))
        started = time.monotonic()
        try:
            engine = await self.engine()
            version = await engine.version()
            sandbox = await self.create(spec)
            milliseconds = (time.monotonic() - started) * 1000
            try:
                result = await sandbox.run(Command("probe", 1, "true", timeout_s=10))
            finally:
                await sandbox.kill()
        except SandboxError as error:
            return ProbeReport(False, "none", (error.message,), (error.hint,) if error.hint else ())
        finally:
            with anyio.CancelScope(shield=True):
                await _in_thread(workspace.rmdir)
        if result.exit_code != 0:
            return ProbeReport(False, "none", (f"the first command failed: {result.output}",))
        return ProbeReport(True, "container", _details(engine, version, self._options.image, milliseconds))

    async def create(self, spec: SandboxSpec) -> DockerSandbox:
        engine = await self.engine()
        base = await self._prepare()
        folder = self.state_dir / spec.sandbox_id
        place = await _in_thread(functools.partial(_lay_out, spec, base, folder))
        body = container_body(spec, self._options.image, self._owner, place, self._options.runtime)
        config = json.dumps(agent_config(spec, base)).encode()
        try:
            with meeting(folder) as hello:
                container = await self._start(engine, spec.sandbox_id, body)
                with anyio.fail_after(START_TIMEOUT_S):
                    await unless_ended(engine, container, lambda: introduce(hello, folder, config, self._presence.path))
            return DockerSandbox(engine, await _look(engine, spec.sandbox_id, container), folder)
        except BaseException as error:
            with anyio.move_on_after(CLEAN_UP_TIMEOUT_S, shield=True):
                why = await what_it_said(engine, container_name(spec.sandbox_id))
                await end_container(engine, container_name(spec.sandbox_id), folder)
            if isinstance(error, (EngineRefused, TimeoutError, ConnectionError)):
                raise self._not_started(spec.sandbox_id, str(error), why) from error
            raise

    async def connect(self, sandbox_id: str, ref: str) -> DockerSandbox:
        engine = await self.engine()
        facts = await engine.inspect(ref)
        if facts is None or not is_running(facts):
            raise lost(sandbox_id)
        if facts["Config"]["Labels"].get(SANDBOX_LABEL) != sandbox_id:
            raise lost(sandbox_id)
        return DockerSandbox(engine, Container.of(sandbox_id, facts), self.state_dir / sandbox_id)

    async def list_refs(self) -> list[tuple[str, str]]:
        engine = await self.engine()
        listed = await engine.list(f"{OWNER_LABEL}={self._owner}")
        refs, known = [], set()
        for entry in listed:
            sandbox_id, container = entry["Labels"].get(SANDBOX_LABEL, ""), str(entry["Id"])
            known.add(sandbox_id)
            if entry.get("State") in ("running", "paused"):
                refs.append((sandbox_id, container))
            elif entry.get("State") not in _STARTING or _is_old(float(entry.get("Created") or 0)):
                try:
                    await end_container(engine, container, self.state_dir / sandbox_id)
                except SandboxUnavailable as error:  # list the others; this one is tried again by the next call
                    log.warning("container not removed", extra={"sandbox_id": sandbox_id, "code": error.code})
        await _in_thread(functools.partial(_forget_folders, self.state_dir, known))
        return sorted(refs)

    async def engine(self) -> Engine:
        """The engine's address, searched once; from then on containers see that a server is running. Raises
        `SandboxUnavailable` if no engine answers."""
        self._presence.hold()
        if self._engine is None:
            options = [self._options.socket] if self._options.socket else list(usual_sockets())
            socket_path = await first_answer([Path(path) for path in options])
            if socket_path is None:
                raise SandboxUnavailable(
                    f"no container engine answers at {' or '.join(options)}",
                    hint="Start Docker or Podman (systemctl start docker, or podman.socket), or name its socket in"
                    " sandbox.options.socket; this user needs permission to use it.",
                )
            self._engine = Engine(socket_path)
        return self._engine

    async def _prepare(self) -> BaseLayer:
        async with self._preparing:
            if self._base is None:
                self._base = await _in_thread(functools.partial(prepare_base, self._cache_dir))
            return self._base

    async def _start(self, engine: Engine, sandbox_id: str, body: dict[str, object]) -> str:
        """Shielded: the engine may still carry out an interrupted request, after the clean-up."""
        with anyio.CancelScope(shield=True):
            container = await engine.create(container_name(sandbox_id), body)
            await engine.start(container)
        await anyio.lowlevel.checkpoint()
        return container

    def _not_started(self, sandbox_id: str, error: str, log: str) -> SandboxUnavailable:
        image = self._options.image
        return SandboxUnavailable(
            f"The sandbox's container did not start: {log or error or 'it did not answer in time'}",
            hint=f"Check that the image {image!r} is pulled (docker pull {image}) and has Python 3.9 or newer and bash;"
            " 'outlast doctor' tests it.",
            sandbox_id=sandbox_id,
            image=image,
        )


def _is_old(moment: float) -> bool:
    return time.time() - moment > FORGOTTEN_AFTER_S


def _forget_folders(state_dir: Path, known: set[str]) -> None:
    """Remove the folders of containers that were removed outside of Outlast."""
    for folder in state_dir.iterdir() if state_dir.is_dir() else ():
        if folder.name not in known and _is_old(folder.stat().st_mtime):
            discard_folder(folder)


def _lay_out(spec: SandboxSpec, base: BaseLayer, folder: Path) -> Place:
    uid = choose_uid(find_powers(), spec.workspace_dir)
    own_workspace(spec.workspace_dir, uid)
    folder.mkdir(mode=0o700, parents=True)
    over = write_authorities(base, spec.authority_pem, folder) if spec.authority_pem else ()
    tools = next(path for path, inside in base.read_only if inside == TOOLS)
    user = f"{uid}:{uid}" if uid else f"{os.getuid()}:{os.getgid()}"
    return Place(tools, folder / MEETING_FOLDER, user, over)


def agent_config(spec: SandboxSpec, base: BaseLayer) -> dict[str, object]:
    """The engine enforces the limits, so the agent gets only the limit on the workspace."""
    own = environment(spec, base)
    path = own["PATH"].replace(base.search_path, SEARCH_PATH)
    env = {**own, "PATH": path, **spec.env}
    bounds: dict[str, object] = {"rlimits": [], "disk_bytes": spec.limits.disk_bytes}
    loaded = {"machine": os.uname().machine, "program": filter_program().hex()}
    own_end = {"end_after_s": spec.orphan.end_after_s}
    return {"env": env, **bounds, **own_end, "egress": spec.egress, "layers": list(spec.layers), "filter": loaded}


async def unless_ended(engine: Engine, container: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run the call, but raise `ConnectionError` if the container ends first."""
    ended = False

    async def watch(scope: anyio.CancelScope) -> None:
        nonlocal ended
        await engine.wait_end(container)
        ended = True
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, tasks.cancel_scope)
        await work()
        tasks.cancel_scope.cancel()
    if ended:
        raise ConnectionError("its first process ended")


async def _look(engine: Engine, sandbox_id: str, container: str) -> Container:
    facts = await engine.inspect(container)
    if facts is None or not is_running(facts):
        raise ConnectionError("it ended")
    return Container.of(sandbox_id, facts)


async def what_it_said(engine: Engine, container: str) -> str:
    try:
        return await engine.log(container)
    except (EngineRefused, SandboxUnavailable):
        return ""


def is_running(facts: dict[str, object]) -> bool:
    state = facts["State"]
    return isinstance(state, dict) and bool(state.get("Running") or state.get("Paused"))


def _details(engine: Engine, version: dict[str, object], image: str, milliseconds: float) -> tuple[str, ...]:
    platform = version.get("Platform")
    name = platform.get("Name") if isinstance(platform, dict) else None
    return (
        f"{name or 'container engine'} {version.get('Version')} at {engine.address}, image {image}",
        "no network device, no capability, read-only root, bounded memory, processor and processes",
        f"a sandbox started in {milliseconds:.0f} ms",
        "the sandboxes share the engine's kernel",
    )


async def _in_thread(call: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(call)
