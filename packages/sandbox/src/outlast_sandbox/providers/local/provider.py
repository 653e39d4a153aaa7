"""Creates local sandboxes, and finds them again."""

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from outlast_sandbox.errors import Conflict, SandboxIsolationMissing, SandboxLost, SandboxUnavailable
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interface import (
    BuiltSnapshot,
    Capabilities,
    Command,
    Limits,
    ProbeReport,
    Progress,
    SandboxProvider,
    SandboxSpec,
    SnapshotRecipe,
)
from outlast_sandbox.providers.local.snapshot_build import Build, clear_build
from outlast_sandbox.providers.setup import ProviderSetup, read_options
from outlast_sandbox.providers.unsupported import ProviderDefaults

from . import probe as probing
from .base_layer import BaseLayer, base_identity, prepare_base
from .cgroups import Group, Layout, find_layout, remove_empty_groups
from .connection import lost, open_socket
from .launch import START_TIMEOUT_S, Ground, choose_uid, find_powers, make_mount_points, own_workspace, write_plan
from .presence import Presence
from .sandbox import LocalSandbox, State, clear_remains
from .snapshots import SnapshotFolder

T = TypeVar("T")

SHIM: Final = Path(__file__).with_name("shim.py")
_START_SHIM: Final = "import sys; sys.path.insert(0, sys.argv[1]); import shim; shim.main()"
LOG_BYTES: Final = 2000
FORGOTTEN_AFTER_S: Final = 120.0  # a folder without a state file: its start was abandoned early


class LocalProvider(ProviderDefaults):
    """See `SandboxProvider`. `state_dir` holds one folder per living sandbox (socket, state file, log); `cache_dir` the
    base layer. In memory: only facts about this machine, and the shims whose exit codes must be collected."""

    def __init__(self, state_dir: Path, cache_dir: Path) -> None:
        self.state_dir = state_dir.absolute()
        self.cache_dir = cache_dir.absolute()
        self._presence = Presence(self.state_dir)
        self._snapshots = SnapshotFolder(self.cache_dir)
        self._base: BaseLayer | None = None
        self._layout: Layout | None = None
        self._shims: list[subprocess.Popen[bytes]] = []
        self._preparing = anyio.Lock()

    @property
    def name(self) -> str:
        return "local"

    @property
    def capabilities(self) -> Capabilities:
        if self._layout is None:
            self._layout = find_layout()
        return Capabilities(
            pause=self._layout.can_freeze,
            snapshot=True,
            volume=True,
            preview=True,
            reattach=True,
            interactive=True,
            egress=True,
        )

    async def probe(self) -> ProbeReport:
        report = probing.missing_tools()
        if report is not None:
            return report
        started = time.monotonic()
        workspace = Path(await _in_thread(tempfile.mkdtemp))
        spec = SandboxSpec(f"probe-{os.getpid()}-{time.monotonic_ns()}", workspace, Limits(memory_bytes=256 * 1024**2))
        try:
            _, layout = await self.prepare()
            sandbox = await self.create(spec)
            milliseconds = (time.monotonic() - started) * 1000
            try:
                result = await sandbox.run(Command("probe", 1, "true", timeout_s=10))
            finally:
                await sandbox.kill()
            if result.exit_code != 0:
                return probing.failure(f"the first command failed: {result.output}")
            return probing.success(layout, find_powers(), milliseconds)
        except (SandboxUnavailable, SandboxLost) as error:
            return probing.failure(str(error.fields.get("log") or error))
        except SandboxIsolationMissing as error:
            return ProbeReport(False, "none", (error.message,), (error.hint,))
        except OSError as error:
            return ProbeReport(False, "none", (f"the trial could not be prepared: {error}",))
        finally:
            with anyio.CancelScope(shield=True):
                await _in_thread(functools.partial(discard_folder, workspace))

    async def create(self, spec: SandboxSpec) -> LocalSandbox:
        snapshot = self._snapshots.get(spec.snapshot_ref) if spec.snapshot_ref else None
        layers = snapshot.layers(spec.layers) if snapshot is not None else ()
        return await self.start(spec, Ground(snapshot, layers=layers), self.state_dir / spec.sandbox_id)

    async def start(self, spec: SandboxSpec, ground: Ground, folder: Path) -> LocalSandbox:
        """As `create`, with file systems and state folder chosen by the caller."""
        missing = probing.missing_tools()
        if missing is not None:
            raise SandboxIsolationMissing(missing.details[0], hint=missing.fixes[0])
        base, layout = await self.prepare()
        group = Group.planned(layout, spec.sandbox_id)
        where = self._presence.path
        plan = await _in_thread(functools.partial(_lay_out, spec, base, layout, group, folder, ground, where))
        shim = self._start_shim(folder, plan)
        ready = False
        try:
            ready = await _wait_ready(shim)
            state = State.read(folder)
            if not ready or state is None:
                raise _not_started(spec.sandbox_id, folder)
            return LocalSandbox(state, folder)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._abandon(shim, group, folder)
            raise

    async def base_identity(self) -> str:
        return await _in_thread(base_identity)

    async def build_snapshot(self, recipe: SnapshotRecipe, progress: Progress) -> BuiltSnapshot:
        snapshot = self._snapshots.find(recipe.name)
        if snapshot is None:
            await self._clear_abandoned()
            snapshot = await Build(self.start, self._snapshots, recipe, progress).run()
        return BuiltSnapshot(recipe.name, await _in_thread(snapshot.size_bytes))

    async def has_snapshot(self, ref: str) -> bool:
        return self._snapshots.find(ref) is not None

    def snapshot_home(self, ref: str) -> Path | None:
        """The folder with a snapshot's installed files, or None if the snapshot is not on this machine."""
        snapshot = self._snapshots.find(ref)
        return None if snapshot is None else snapshot.home

    async def remove_snapshot(self, ref: str) -> None:
        await _in_thread(functools.partial(self._snapshots.remove, ref))

    async def _clear_abandoned(self) -> None:
        """End and remove the builds of killed servers; remove snapshots that no server seems to use any more."""
        for name in await _in_thread(self._snapshots.forgotten):
            with suppress(Conflict):
                await self.remove_snapshot(name)
        for folder in await _in_thread(self._snapshots.abandoned):
            await _in_thread(functools.partial(clear_build, folder))

    async def connect(self, sandbox_id: str, ref: str) -> LocalSandbox:
        folder = self.state_dir / sandbox_id
        state = State.read(folder)
        if state is None or state.ref != ref or not state.is_alive():
            raise lost(sandbox_id)
        try:
            watch = await open_socket(folder, b"W")
        except OSError as error:
            raise lost(sandbox_id) from error
        await anyio.aclose_forcefully(watch)
        return LocalSandbox(state, folder)

    async def list_refs(self) -> list[tuple[str, str]]:
        self._presence.hold()
        self._collect()
        await self._clear_abandoned()
        return await _in_thread(self._scan)

    def _scan(self) -> list[tuple[str, str]]:
        refs = []
        if self._layout is not None:
            remove_empty_groups(self._layout, FORGOTTEN_AFTER_S)
        for folder in sorted(self.state_dir.iterdir()) if self.state_dir.is_dir() else ():
            state = State.read(folder)
            if state is not None and state.is_alive():
                refs.append((state.sandbox_id, state.ref))
            elif state is not None:
                clear_remains(state, folder)
            elif time.time() - folder.stat().st_mtime > FORGOTTEN_AFTER_S:
                discard_folder(folder)
        return refs

    async def prepare(self) -> tuple[BaseLayer, Layout]:
        """Create the base layer and detect the control groups; otherwise done at the first use. Idempotent."""
        self._presence.hold()
        async with self._preparing:
            if self._base is None or self._layout is None:
                self._base = await _in_thread(functools.partial(prepare_base, self.cache_dir))
                self._layout = await _in_thread(find_layout)
            return self._base, self._layout

    def _start_shim(self, folder: Path, plan: bytes) -> subprocess.Popen[bytes]:
        """Start the shim in its own session, so that no signal to the server's terminal or group reaches it."""
        self._collect()
        python = os.path.realpath(sys.executable)
        command = [python, "-I", "-S", "-c", _START_SHIM, str(SHIM.parent)]
        plan_file = os.memfd_create("plan")
        try:
            with open(folder / "log", "wb") as log:
                os.write(plan_file, plan)
                os.lseek(plan_file, 0, os.SEEK_SET)
                shim = subprocess.Popen(
                    command,
                    stdin=plan_file,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,
                    cwd="/",
                    env={},
                )
        finally:
            os.close(plan_file)
        self._shims.append(shim)
        return shim

    def _collect(self) -> None:
        """Collect the exit codes of shims that have ended, so that no zombie stays."""
        for shim in [shim for shim in self._shims if shim.poll() is not None]:
            self._shims.remove(shim)

    async def _abandon(self, shim: subprocess.Popen[bytes], group: Group, folder: Path) -> None:
        """End a start that failed or was cancelled, at whatever step it is."""
        if shim.poll() is None:
            shim.kill()
        await _in_thread(shim.wait)
        state = State(folder.name, shim.pid, 0, group)
        await _in_thread(functools.partial(clear_remains, state, folder))


def _lay_out(
    spec: SandboxSpec, base: BaseLayer, layout: Layout, group: Group, folder: Path, ground: Ground, presence: Path
) -> bytes:
    uid = choose_uid(find_powers(), spec.workspace_dir)
    own_workspace(spec.workspace_dir, uid)
    if ground.home is not None:
        own_workspace(ground.home, uid)
    make_mount_points(spec.workspace_dir, (layer for layer, _ in ground.layers), uid)
    folder.mkdir(mode=0o700, parents=True)
    return write_plan(spec, base, layout, group, folder, uid, ground, presence)


async def _wait_ready(shim: subprocess.Popen[bytes]) -> bool:
    """True once the agent answers; False if the start failed. The pipe closes when the shim ends."""
    assert shim.stdout is not None
    with anyio.move_on_after(START_TIMEOUT_S + 2):
        await anyio.wait_readable(shim.stdout)
        answer = os.read(shim.stdout.fileno(), 16)
        shim.stdout.close()
        return answer == b"ready\n"
    return False


def _not_started(sandbox_id: str, folder: Path) -> SandboxUnavailable:
    try:
        log = (folder / "log").read_bytes()[-LOG_BYTES:].decode("utf-8", "replace").strip()
    except OSError:
        log = ""
    return SandboxUnavailable(
        f"The sandbox did not start: {log or 'no message'}",
        hint="Run 'outlast doctor': it tests a sandbox and lists what to change on this machine.",
        sandbox_id=sandbox_id,
        log=log,
    )


async def _in_thread(call: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(call)


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """No options: the provider detects all it needs."""


def open_provider(setup: ProviderSetup) -> SandboxProvider:
    """The local provider as `registry` opens it."""
    read_options(LocalOptions, setup.options, "local")
    return LocalProvider(setup.state_dir, setup.cache_dir)
