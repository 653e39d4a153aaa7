"""The fixed, read-only base layer: a sandbox's root file system.

The host's programs and libraries are bound read-only; `/etc` (`etc_files.py`) is a small folder of its own with nothing
secret in it; the agent, Deno and Node are under `/opt/outlast`. Nothing of the host's `/root`, `/home`, `/var`, `/run`
or the data directory is in it. The launcher only reads this dataclass, so a `BaseLayer` may be built elsewhere.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import deno

from outlast_sandbox.errors import SandboxIsolationMissing
from outlast_sandbox.folders import discard_folder

from .etc_files import COPIED_FROM_ETC, ROOTS, build_etc
from .node import find_node, place_node

FORMAT: Final = "3"  # increase it when the layer's own files change
TOOLS: Final = "/opt/outlast"
SYSTEM_FOLDERS: Final = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_AGENT_START: Final = f"import sys; sys.path.insert(0, {TOOLS!r}); from inside.main import main; main()"
_COMPILE: Final = "import sys, compileall; sys.exit(not compileall.compile_dir(sys.argv[1], quiet=1))"


@dataclass(frozen=True, slots=True)
class BaseLayer:
    """The sources of the parts of the root.

    `read_only`: (host path, path inside); `symlinks`: (target, path inside); `agent`: the command line of the agent;
    `search_path`: PATH of all processes inside; `roots`: the certificate authorities of the system, one PEM file. Only
    Deno, Node and a few files are copied.
    """

    read_only: tuple[tuple[Path, str], ...]
    symlinks: tuple[tuple[str, str], ...]
    agent: tuple[str, ...]
    search_path: str
    roots: Path


def prepare_base(cache_dir: Path) -> BaseLayer:
    """The base layer for this machine, created in `cache_dir` at the first call (about a second) and reused later.

    Blocks: call it in a worker thread. Idempotent, also from two processes at once. Raises `SandboxIsolationMissing` if
    there is no Python 3.9 or newer that a sandbox could use.
    """
    python = find_python()
    folder = cache_dir / f"base-{_fingerprint(python)}"
    if not folder.exists():
        _build(folder, python)
    read_only, symlinks = _system_folders()
    if not python.is_relative_to("/usr"):
        prefix = Path(sys.base_prefix)
        read_only.append((prefix, str(prefix)))
    read_only += [(folder / "etc", "/etc"), (folder / "tools", TOOLS)]
    search_path = f"{TOOLS}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    if not python.is_relative_to("/usr"):
        search_path += f":{python.parent}"
    agent = (str(python), "-I", "-S", "-c", _AGENT_START)
    roots = folder / ROOTS.lstrip("/")
    return BaseLayer(tuple(read_only), tuple(symlinks), agent, search_path, roots)


def find_python() -> Path:
    """The system's Python 3.9 or newer, or the one that runs the server, whose prefix is then bound as well."""
    system = Path("/usr/bin/python3")
    if system.exists():
        probe = subprocess.run(
            [str(system), "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 9))"],
            capture_output=True,
            check=False,
        )
        if probe.returncode == 0:
            return system
    own = Path(os.path.realpath(sys.executable))
    if own.is_relative_to(sys.base_prefix):
        return own
    raise SandboxIsolationMissing(
        "no Python that a sandbox could use was found", hint="Install the system's Python: apt install python3"
    )


def find_deno() -> Path | None:
    """The `deno` binary of the package of that name, or one on the PATH; without it there is no TypeScript."""
    try:
        return Path(os.path.realpath(deno.find_deno_bin()))
    except FileNotFoundError:
        found = shutil.which("deno")
        return Path(os.path.realpath(found)) if found else None


def _agent_source() -> Path:
    return Path(__file__).parent / "inside"


def _fingerprint(python: Path) -> str:
    """Changes with every input of the layer."""
    digest = hashlib.sha256(f"{FORMAT} {python} {os.stat(python).st_mtime_ns}".encode())
    for source in sorted(_agent_source().glob("*.py")):
        digest.update(source.name.encode() + source.read_bytes())
    for binary in (find_deno(), find_node()):
        if binary is not None:
            facts = os.stat(binary)
            digest.update(f"{facts.st_size} {facts.st_mtime_ns}".encode())
    for name in COPIED_FROM_ETC:
        try:
            digest.update(f"{name} {os.stat(Path('/etc') / name).st_mtime_ns}".encode())
        except OSError:
            continue
    return digest.hexdigest()[:16]


def base_identity() -> str:
    """Changes with the dependencies of installed packages: processor, Python, Node and Deno. Blocks for some ms."""
    parts = [os.uname().machine, str(find_python())]
    for program in (find_python(), find_node(), find_deno()):
        facts = os.stat(program) if program else None
        parts.append(f"{facts.st_size}.{int(facts.st_mtime)}" if facts else "none")
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def _build(folder: Path, python: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="base-new-", dir=folder.parent))
    try:
        work.chmod(0o755)
        build_etc(work / "etc")
        _build_tools(work / "tools", python)
        work.rename(folder)
    except OSError:
        if not folder.exists():  # another process may have been faster
            raise
    finally:
        discard_folder(work)


def _build_tools(tools: Path, python: Path) -> None:
    (tools / "bin").mkdir(parents=True)
    source = find_deno()
    if source is not None:
        _place_program(source, tools / "bin" / "deno")
    place_node(tools)
    inside = tools / "inside"
    inside.mkdir()
    for module in _agent_source().glob("*.py"):
        shutil.copy2(module, inside / module.name)
    for path in inside.iterdir():
        path.chmod(0o644)
    subprocess.run([str(python), "-I", "-S", "-c", _COMPILE, str(inside)], check=True, capture_output=True)


def _place_program(source: Path, target: Path) -> None:
    """Place the program as a hard link if the disk allows it: each version of the agent may have a base layer, and the
    program is nearly all of its size."""
    if os.stat(source).st_mode & 0o555 == 0o555:
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)
    target.chmod(0o755)


def _system_folders() -> tuple[list[tuple[Path, str]], list[tuple[str, str]]]:
    read_only: list[tuple[Path, str]] = []
    symlinks: list[tuple[str, str]] = []
    for name in SYSTEM_FOLDERS:
        path = Path("/") / name
        if path.is_symlink():
            symlinks.append((os.readlink(path), str(path)))
        elif path.is_dir():
            read_only.append((path, str(path)))
    return read_only, symlinks
