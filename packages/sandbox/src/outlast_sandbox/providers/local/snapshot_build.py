"""Builds a snapshot in a separate sandbox, whose home folder becomes the snapshot.

Packages for TypeScript are installed with Deno, which fills its own cache (for `npm:` imports) and a `node_modules`
(for Node) from one resolution; Python's go into a folder on PYTHONPATH. Then the set-up commands run, every package is
imported once to warm the caches, and the sandbox ends. A failed build leaves nothing behind.
"""

import functools
import json
import shlex
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from secrets import token_hex
from types import MappingProxyType
from typing import Any, Final

import anyio
import anyio.to_thread

from outlast_sandbox.egress.snapshot_build_proxy import serve_allow_list
from outlast_sandbox.errors import ArgumentsInvalid, SandboxError, SandboxUnavailable
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interface import Command, CommandResult, Limits, Progress, SandboxSpec, SnapshotRecipe
from outlast_sandbox.package_indexes import Indexes, read_indexes
from outlast_sandbox.package_names import NPM, PYPI

from .base_layer import find_deno, find_python
from .etc_files import ROOTS
from .launch import WORKSPACE, Ground
from .sandbox import LocalSandbox, State, clear_remains
from .snapshots import PROJECT, PYTHON_FOLDER, Snapshot, SnapshotFolder

Start = Callable[[SandboxSpec, Ground, Path], Coroutine[Any, Any, LocalSandbox]]

LIMITS: Final = Limits(memory_bytes=4 * 1024**3, cpu_count=4, processes=1024, disk_bytes=8 * 1024**3)
STEP_TIMEOUT_S: Final = 1800.0
SHOWN_CHARS: Final = 4000
OWN_PIP: Final = "/opt/pip"
_LIMITS: Final = MappingProxyType(
    {
        "disk": f"than {LIMITS.disk_bytes >> 20} MiB of disk",
        "memory": f"than {LIMITS.memory_bytes >> 20} MiB of memory",
        "processes": f"than {LIMITS.processes} processes",
    }
)


@dataclass(frozen=True, slots=True)
class Step:
    """`title` is displayed to users; `env` is added to the build's."""

    title: str
    script: str
    env: tuple[tuple[str, str], ...] = ()


class Build:
    """One build. `run` may be called once."""

    def __init__(self, start: Start, snapshots: SnapshotFolder, recipe: SnapshotRecipe, progress: Progress) -> None:
        self._start = start
        self._snapshots = snapshots
        self._recipe = recipe
        self._progress = progress

    async def run(self) -> Snapshot:
        """Raises `SandboxUnavailable` with the end of the output if a step fails, `ArgumentsInvalid` for a file outside
        the home folder. A cancelled call leaves nothing behind."""
        self._progress("prepare", "")
        indexes = await anyio.to_thread.run_sync(read_indexes, find_python())
        with anyio.CancelScope(shield=True):  # otherwise the opened folder would never be closed
            work = await anyio.to_thread.run_sync(self._snapshots.open_work, self._recipe.name)
        try:
            await anyio.to_thread.run_sync(_write_home, work.home, self._recipe, indexes)
            await anyio.to_thread.run_sync(_write_project, work.project, self._recipe)
            async with self._sandbox(work.folder, indexes) as box:
                failure = await self._carry_out_all(box)
            if failure is not None:
                raise failure
            layers = self._recipe.project.layers if self._recipe.project is not None else ()
            return await anyio.to_thread.run_sync(self._snapshots.publish, work, self._recipe.name, layers)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(work.close)

    @asynccontextmanager
    async def _sandbox(self, work: Path, indexes: Indexes) -> AsyncIterator[LocalSandbox]:
        read_only = [(folder, str(folder)) for folder in indexes.folders if not _is_bound_anyway(folder)]
        if pip := await anyio.to_thread.run_sync(_own_pip):
            read_only.append((pip, f"{OWN_PIP}/pip"))
        env, home, project = build_environment(indexes, LIMITS), work / "home", self._recipe.project
        if project is not None:
            env |= project.env
        # Without a project the home folder is the workspace as well.
        workspace = home if project is None else work / PROJECT
        layers = () if project is None else project.layers
        spec = SandboxSpec(f"sbx_{token_hex(16)}", workspace, LIMITS, env, egress=True, layers=layers)
        box = await self._start(spec, Ground(home=home, read_only=tuple(read_only)), work / "state")
        try:
            listener = await box.egress_listener()
            allowed = [f"{host}:{port}" for host, port in sorted(indexes.allowed)]
            async with anyio.create_task_group() as tasks:
                # An index on this machine or in its network is allowed too: the operator configured it.
                gate = functools.partial(serve_allow_list, listener, allowed, allow_private=allowed)
                tasks.start_soon(gate)
                yield box
                tasks.cancel_scope.cancel()
        finally:
            await box.kill()

    async def _carry_out_all(self, box: LocalSandbox) -> SandboxError | None:
        """Returns the first failure: if raised, the gate's task group would wrap it in an exception group."""
        try:
            for number, step in enumerate(plan_steps(self._recipe)):
                await self._carry_out(box, number, step)
        except SandboxError as error:
            return error
        return None

    async def _carry_out(self, box: LocalSandbox, number: int, step: Step) -> None:
        output: list[str] = []

        def on_output(text: str) -> None:
            output.append(text)
            self._progress(step.title, "".join(output)[-SHOWN_CHARS:])

        self._progress(step.title, "")
        command = Command(f"step_{number}", 1, step.script, env=dict(step.env), timeout_s=STEP_TIMEOUT_S)
        result = await box.run(command, on_output)
        if result.exit_code != 0:
            raise _failed(self._recipe.name, step, result)


def plan_steps(recipe: SnapshotRecipe) -> Iterator[Step]:
    """The steps, in order."""
    npm = [word.removeprefix(NPM) for word in recipe.dependencies if word.startswith(NPM)]
    pypi = [word.removeprefix(PYPI) for word in recipe.dependencies if word.startswith(PYPI)]
    if npm:
        yield Step("install npm packages", _install_npm(npm))
    if pypi:
        words = f"--target ~/{PYTHON_FOLDER} --progress-bar off --no-warn-script-location --no-cache-dir"
        pip = f"python3 -m pip install {words} -- {shlex.join(pypi)}"
        yield Step("install Python packages", pip, (("PYTHONPATH", OWN_PIP),) if _own_pip() else ())
    for number, command in enumerate(recipe.commands, 1):
        yield Step(f"set up ({number} of {len(recipe.commands)})", f"cd ~ && {{ {command}\n}}")
    if npm and find_deno():
        yield Step("warm the caches", _warm(npm))
    project = recipe.project
    for number, command in enumerate(project.commands if project is not None else (), 1):
        title = f"prepare the app template ({number} of {len(project.commands)})" if project else ""
        yield Step(title, f"cd {WORKSPACE} && {{ {command}\n}}")


def package_json(packages: list[str]) -> str:
    """NAME@VERSION… as the dependencies of a private package."""
    versions = {}
    for package in packages:
        name, at, version = package[1:].partition("@")
        versions[package[0] + name] = version if at and version else "latest"
    return json.dumps({"private": True, "dependencies": versions}, indent=2) + "\n"


def build_environment(indexes: Indexes, limits: Limits) -> dict[str, str]:
    """Added to a sandbox's environment. Its proxy is the gate for every address, including an index on this machine."""
    return {
        **indexes.pip,
        **indexes.npm,
        "NO_PROXY": "",
        "no_proxy": "",
        "DENO_TLS_CA_STORE": "system",
        "SSL_CERT_FILE": ROOTS,
        "REQUESTS_CA_BUNDLE": ROOTS,
        "NODE_EXTRA_CA_CERTS": ROOTS,
        "PIP_CERT": ROOTS,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "NPM_CONFIG_CACHE": "/tmp/npm",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        "PYTHONDONTWRITEBYTECODE": "",
    }


def clear_build(work: Path) -> None:
    """End the sandbox of a build whose server was killed, and remove its files. Blocks."""
    state = State.read(work / "state")
    if state is not None:
        clear_remains(state, work / "state")
    discard_folder(work)


def _write_home(home: Path, recipe: SnapshotRecipe, indexes: Indexes) -> None:
    _write_files(home, recipe.files, recipe.name)
    if indexes.npmrc or indexes.npm:
        registry = indexes.npm.get("NPM_CONFIG_REGISTRY")
        lines = f"registry={registry}\n" if registry else ""
        (home / ".npmrc").write_text(lines + indexes.npmrc)


def _write_files(folder: Path, files: Mapping[str, bytes], snapshot: str) -> None:
    for name, data in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ArgumentsInvalid(f"{name!r} is not a path below the folder", snapshot=snapshot)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _write_project(folder: Path, recipe: SnapshotRecipe) -> None:
    if recipe.project is None:
        return
    folder.mkdir(mode=0o755)
    _write_files(folder, recipe.project.files, recipe.name)


def _install_npm(packages: list[str]) -> str:
    if find_deno() is None:
        words = shlex.join(packages)
        return f"cd ~ && npm install --no-audit --no-fund -- {words}"
    text = shlex.quote(package_json(packages))
    imports = shlex.join(NPM + package for package in packages)
    # A template may have its own package.json: then these are added to it.
    return (
        "cd ~ && if [ -e package.json ]; then"
        f" deno install --node-modules-dir=auto {imports};"
        f" else printf %s {text} > package.json && deno install --node-modules-dir=auto; fi"
        f" && cd /tmp && deno cache {imports}"
    )


def _warm(packages: list[str]) -> str:
    """Import every package once, as a program will. A package that cannot be imported, such as a command, is not a
    failure. Then the caches' journals are written back: they are small databases, which every sandbox opens."""
    imports = "\n".join(
        f"try {{ await import({json.dumps(NPM + package)}); }}"
        f" catch (e) {{ console.log({json.dumps(package)}, String(e)); }}"
        for package in packages
    )
    journals = (
        "import glob, os, sqlite3\n"
        "for path in glob.glob(os.path.expanduser('~/.cache/deno/*_cache_v*')):\n"
        "    if path.endswith(('-wal', '-shm')): continue\n"
        "    with sqlite3.connect(path) as database: database.execute('PRAGMA wal_checkpoint(TRUNCATE)')\n"
        "    database.close()\n"
    )
    return (
        f"cat > /tmp/warm.ts <<'END_OF_IMPORTS'\n{imports}\nDeno.exit(0);\nEND_OF_IMPORTS\n"
        "deno run --allow-all --quiet /tmp/warm.ts && deno run --allow-all --quiet /tmp/warm.ts > /dev/null"
        f" && python3 -c {shlex.quote(journals)}"
    )


@functools.cache
def _own_pip() -> Path | None:
    """This program's pip, for a system whose Python has none. Blocks at the first call."""
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pip') is None)"
    if subprocess.run([str(find_python()), "-I", "-c", look], check=False).returncode == 0:
        return None
    spec = find_spec("pip")
    return Path(spec.origin).parent if spec and spec.origin else None


def _is_bound_anyway(folder: Path) -> bool:
    return folder.is_relative_to("/usr")


def _failed(name: str, step: Step, result: CommandResult) -> SandboxUnavailable:
    end = result.output.strip()[-2000:]
    why = f"did not end within {STEP_TIMEOUT_S:.0f} s" if result.timed_out else "failed"
    if result.killed_reason is not None:
        why = f"was ended because it needed more {_LIMITS.get(result.killed_reason, result.killed_reason)}"
    return SandboxUnavailable(
        f"the snapshot {name} could not be built: {step.title} {why}: {end or 'no output'}",
        hint="Correct [[sandbox.dependencies]] or sandbox.setup, then run 'outlast snapshots build'. A build reaches"
        " only the package indexes that pip and npm are configured with.",
        snapshot=name,
        step=step.title,
        output=end,
    )
