"""Creates sandboxes on the hosts, and finds them again."""

import functools
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import anyio.to_thread

from outlast_sandbox.clock import Clock, SystemClock
from outlast_sandbox.errors import HostUnreachable, InvalidSetting, SandboxError, SandboxUnavailable
from outlast_sandbox.interface import Capabilities, Command, Limits, ProbeReport, SandboxSpec
from outlast_sandbox.providers.docker.engine import EngineRefused
from outlast_sandbox.providers.docker.plan import SANDBOX_LABEL
from outlast_sandbox.providers.docker.plan import container_name as name_of
from outlast_sandbox.providers.docker.provider import agent_config, is_running, unless_ended, what_it_said
from outlast_sandbox.providers.local.base_layer import BaseLayer, prepare_base
from outlast_sandbox.providers.local.connection import lost
from outlast_sandbox.providers.local.etc_files import AUTHORITY, ROOTS
from outlast_sandbox.providers.setup import ProviderSetup
from outlast_sandbox.providers.unsupported import ProviderDefaults

from .host import Fences, Host, HostState
from .image import prepare_image
from .placement import HostLoad, ranked
from .plan import FILES, container_body, labels, volume_name
from .sandbox import HostSandbox, end_container

log = logging.getLogger("outlast.sandboxes")

START_TIMEOUT_S: Final = 60.0
CLEAN_UP_TIMEOUT_S: Final = 60.0
ASK_ALL_S: Final = 20.0
FORGOTTEN_AFTER_S: Final = 120.0  # a start takes less: an older container that does not run was abandoned
_STARTING: Final = ("created", "initialized", "configured")
CAPABILITIES: Final = Capabilities(pause=True, preview=True, reattach=True, interactive=True, egress=True)


class HostsProvider(ProviderDefaults):
    """See `SandboxProvider`. The ref of a sandbox is `host/container`. The engines list the containers by their labels;
    here is only what is known of each host. `setup.owner` must be the same for all servers of one database.

    Placement counts the sandboxes of all servers, but not those that another one is creating at the same moment: a host
    may get as many above its capacity as there are other servers."""

    def __init__(self, setup: ProviderSetup, image: str, runtime: str, clock: Clock | None = None) -> None:
        self._state_dir = setup.state_dir.absolute()
        self._cache_dir = setup.cache_dir.absolute()
        self._owner = setup.owner
        self._image = image
        self._runtime = runtime
        clock = clock or SystemClock()
        self._hosts = {one.name: Host(one, setup.owner, clock) for one in setup.hosts}
        if len(self._hosts) < len(setup.hosts) or any(not name or "/" in name for name in self._hosts):
            raise InvalidSetting(
                "sandbox.hosts: each host needs a name of its own, without a slash.", setting="sandbox.hosts"
            )
        self._base: BaseLayer | None = None
        self._preparing = anyio.Lock()

    @property
    def name(self) -> str:
        return "docker"

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def use_fences(self, fences: Fences) -> None:
        """From now on, what is found on a host with a lower fence than this names is ended before anything on that host
        is served: at its first use, and whenever it did not answer for a while."""
        for host in self._hosts.values():
            host.fences = fences

    def host_states(self) -> list[HostState]:
        """What is known of each host, without asking it."""
        return [host.state() for host in self._hosts.values()]

    def host_of(self, ref: str) -> str:
        """The name of the host that a ref names; it need not be configured any more."""
        return ref.partition("/")[0]

    async def kill_older(self, host: str, workspace_id: str, fence: int) -> list[str]:
        """End the workspace's sandboxes on that host whose fence is lower; returns their ids. Idempotent. Raises
        `HostUnreachable`: then they may live on there."""
        return await self._host(host).kill_older(workspace_id, fence)

    async def create(self, spec: SandboxSpec) -> HostSandbox:
        """See `SandboxProvider`. On the host with the largest free share; a host that does not answer is left alone for
        a while, and the next one is tried. Raises `HostUnreachable` if none answers."""
        failure: HostUnreachable | None = None
        base = await self._prepare()
        for name in await self._candidates(spec):
            host = self._hosts[name]
            host.starting += 1
            try:
                return await self._create_on(host, spec, base)
            except HostUnreachable as error:
                failure = error
            finally:
                host.starting -= 1
        raise failure or self._no_place(spec)

    async def connect(self, sandbox_id: str, ref: str) -> HostSandbox:
        host = self._host(self.host_of(ref))
        facts = await host.engine.inspect(ref.partition("/")[2])
        if facts is None or not is_running(facts):
            raise lost(sandbox_id)
        if facts["Config"]["Labels"].get(SANDBOX_LABEL) != sandbox_id:
            raise lost(sandbox_id)
        return self._handle(host, sandbox_id, ref, asleep=bool(facts["State"].get("Paused")))

    async def list_refs(self) -> list[tuple[str, str]]:
        """See `SandboxProvider`. Raises `HostUnreachable` if one of the hosts does not answer: what is missing from the
        list would count as lost."""
        return sorted([ref for name in self._hosts for ref in await self.list_on(name)])

    async def list_on(self, host: str) -> list[tuple[str, str]]:
        """(sandbox id, ref) of every living sandbox on one host; remains of dead ones there are removed. Raises
        `HostUnreachable`."""
        place = self._host(host)
        refs, found = [], await place.find()
        for one in found:
            if one.lives:
                refs.append((one.sandbox_id, f"{host}/{one.container}"))
            elif one.state not in _STARTING or time.time() - one.created > FORGOTTEN_AFTER_S:
                try:
                    await end_container(place.engine, one.container, one.sandbox_id)
                except HostUnreachable:
                    raise
                except SandboxUnavailable as error:  # list the others; this one is tried again by the next call
                    log.warning("container not removed", extra={"sandbox_id": one.sandbox_id, "code": error.code})
        await place.sweep_volumes({one.sandbox_id for one in found})
        return sorted(refs)

    async def probe(self) -> ProbeReport:
        """Starts and ends a sandbox on each host. Sandboxes can be used if one of them works."""
        details, fixes, works = [], [], 0
        for host in self._hosts.values():
            spec = SandboxSpec(f"probe-{os.getpid()}-{time.monotonic_ns()}", Path(os.devnull), Limits(256 * 1024**2))
            started = time.monotonic()
            try:
                version = await host.engine.version()
                sandbox = await self._create_on(host, spec, await self._prepare())
                milliseconds = (time.monotonic() - started) * 1000
                try:
                    result = await sandbox.run(Command("probe", 1, "true", timeout_s=10))
                finally:
                    await sandbox.kill()
            except SandboxError as error:
                details.append(f"host {host.name}: {error.message}")
                fixes += [f"host {host.name}: {error.hint}"] if error.hint else []
                continue
            if result.exit_code == 0:
                works += 1
                what = f"{version.get('Version')} at {host.engine.address}, room for {host.config.capacity}"
                details.append(f"host {host.name}: {what}; a sandbox started in {milliseconds:.0f} ms")
            else:
                details.append(f"host {host.name}: the first command failed: {result.output[:200]}")
        return ProbeReport(works > 0, "container" if works else "none", tuple(details), tuple(fixes))

    async def _candidates(self, spec: SandboxSpec) -> list[str]:
        loads: list[HostLoad] = []

        async def ask(host: Host) -> None:
            used, answers = 0, not host.is_left_alone()
            if answers:
                try:
                    with anyio.fail_after(ASK_ALL_S):
                        used = sum(one.lives or one.state in _STARTING for one in await host.find())
                except (SandboxUnavailable, TimeoutError):
                    answers = False
            config = host.config
            loads.append(HostLoad(host.name, config.capacity, used + host.starting, frozenset(config.labels), answers))

        async with anyio.create_task_group() as tasks:
            for host in self._hosts.values():
                if not spec.host or host.name == spec.host:
                    tasks.start_soon(ask, host)
        return ranked(loads, spec.host_labels)

    def _no_place(self, spec: SandboxSpec) -> SandboxUnavailable:
        suited = [
            host
            for host in self._hosts.values()
            if set(spec.host_labels) <= set(host.config.labels) and spec.host in ("", host.name)
        ]
        if not suited:
            return SandboxUnavailable(
                f"No sandbox host is called {spec.host!r}."
                if spec.host
                else f"No sandbox host carries the labels {', '.join(spec.host_labels)}.",
                hint="sandbox.hosts in outlast.toml lists them.",
            )
        silent = [host.name for host in suited if host.is_left_alone()]
        if len(silent) == len(suited):
            return HostUnreachable(f"No sandbox host answers: {', '.join(silent)}.", retry_after_s=5)
        return SandboxUnavailable("All sandbox hosts are full.", hint="Raise a capacity, or add a host.")

    async def _create_on(self, host: Host, spec: SandboxSpec, base: BaseLayer) -> HostSandbox:
        await host.admit()
        engine, container = host.engine, name_of(spec.sandbox_id)
        image = await prepare_image(engine, self._image, base)
        body = container_body(spec, image, self._owner, self._runtime)
        sandbox = None
        try:
            with anyio.CancelScope(shield=True):  # the engine may still carry out an interrupted request
                await engine.create_volume(volume_name(spec.sandbox_id), labels(spec, self._owner))
                created = await engine.create(container, body)
                await engine.start(created)
            await anyio.lowlevel.checkpoint()
            sandbox = self._handle(host, spec.sandbox_id, f"{host.name}/{created}")
            config = await anyio.to_thread.run_sync(functools.partial(_configuration, spec, base))
            with anyio.fail_after(START_TIMEOUT_S):
                await unless_ended(engine, created, functools.partial(sandbox.introduce, config))
            return sandbox
        except BaseException as error:
            with anyio.move_on_after(CLEAN_UP_TIMEOUT_S, shield=True):
                why = await what_it_said(engine, container)
                if sandbox is not None:
                    sandbox.killed = True
                    await sandbox.aclose()
                with suppress(SandboxUnavailable):
                    await end_container(engine, container, spec.sandbox_id)
            if isinstance(error, (EngineRefused, TimeoutError, OSError)):
                raise self._not_started(host, spec, str(error), why) from error
            raise

    def _handle(self, host: Host, sandbox_id: str, ref: str, *, asleep: bool = False) -> HostSandbox:
        folder = self._state_dir / sandbox_id
        handle = HostSandbox(host.engine, host.admit, sandbox_id, ref, folder, asleep=asleep)
        host.handles.add(handle)
        return handle

    def _not_started(self, host: Host, spec: SandboxSpec, error: str, said: str) -> SandboxUnavailable:
        return SandboxUnavailable(
            f"The sandbox's container did not start on {host.name}: {said or error or 'it did not answer in time'}",
            hint=f"Check that the image {self._image!r} is pulled there and has Python 3.9 or newer and bash;"
            " 'outlast doctor' tests each host.",
            sandbox_id=spec.sandbox_id,
            host=host.name,
        )

    def _host(self, name: str) -> Host:
        """Raises `HostUnreachable` for one that is not configured any more: its sandboxes may live on there."""
        try:
            return self._hosts[name]
        except KeyError:
            raise HostUnreachable(
                f"The sandbox host {name!r} is not configured.",
                hint="Name it in sandbox.hosts again, or give its sandboxes up.",
                host=name,
            ) from None

    async def _prepare(self) -> BaseLayer:
        async with self._preparing:
            if self._base is None:
                self._base = await anyio.to_thread.run_sync(functools.partial(prepare_base, self._cache_dir))
            return self._base


def _configuration(spec: SandboxSpec, base: BaseLayer) -> dict[str, Any]:
    """What the agent gets over its first connection. Authorities are files in memory there."""
    config: dict[str, Any] = {**agent_config(spec, base), "files": {}}
    if spec.authority_pem:
        ours = spec.authority_pem.strip() + "\n"
        moved = {ROOTS: f"{FILES}/roots.pem", AUTHORITY: f"{FILES}/authority.pem"}
        config["env"] = {name: moved.get(value, value) for name, value in config["env"].items()}
        bundle = (base.roots.read_text().rstrip() + "\n").lstrip() + ours
        config["files"] = {moved[ROOTS]: bundle, moved[AUTHORITY]: ours}
    return config
