"""The snapshots on this machine: one folder each, immutable once it exists.

    CACHE/snapshots/NAME/home/          what lies in the home folder; every sandbox gets a layer of its own over it
    CACHE/snapshots/NAME/project/       what lies in folders of the workspace, under a layer for each of them
    CACHE/snapshots/NAME/snapshot.json  its size
    CACHE/snapshots/NAME/in_use         locked, shared, by the shim of every sandbox that was started from it

Files in it are open to all users, since each sandbox has its own user: a layer refuses what the files below it forbid.
The folder around them keeps other users of this machine out. The files come from installed packages and are not
trusted: the server follows no link in them.
"""

import fcntl
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from outlast_sandbox.errors import ArgumentsInvalid, Conflict, SandboxUnavailable
from outlast_sandbox.folders import discard_folder, each_folder, remove_folder

from .base_layer import BaseLayer
from .etc_files import HOME

FOLDER: Final = "snapshots"
IN_USE: Final = "in_use"
FACTS: Final = "snapshot.json"
FORGOTTEN_AFTER_S: Final = 90 * 86_400.0
PROJECT: Final = "project"
PYTHON_FOLDER: Final = ".python"
NODE_FOLDER: Final = "node_modules"
_SHARED: Final = frozenset({".cache", ".config", ".local"})
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,79}")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that is ready: `folder` as above."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def lock(self) -> Path:
        return self.folder / IN_USE

    def layers(self, names: Iterable[str]) -> tuple[tuple[str, Path], ...]:
        """Its folders of the workspace, each with its path here."""
        project = self.folder / PROJECT
        return tuple((name, project / name) for name in names if (project / name).is_dir())

    def size_bytes(self) -> int:
        return int(json.loads((self.folder / FACTS).read_text())["size_bytes"])

    def symlinks(self) -> tuple[tuple[str, str], ...]:
        """Node searches packages next to a file and in its parent folders, so from the workspace up to the root."""
        has_modules = (self.home / NODE_FOLDER).is_dir() and not (self.home / NODE_FOLDER).is_symlink()
        return ((f"{HOME}/{NODE_FOLDER}", f"/{NODE_FOLDER}"),) if has_modules else ()

    def entries(self) -> Iterator[tuple[Path, str]]:
        """The entries of the home folder, as (path here, path inside), if no layer can be mounted over it. For folders
        that programs share, their entries, so that others can be added next to them."""
        for path in sorted(self.home.iterdir()):
            if path.name in _SHARED and path.is_dir() and not path.is_symlink():
                yield from ((inner, f"{HOME}/{path.name}/{inner.name}") for inner in sorted(path.iterdir()))
            else:
                yield path, f"{HOME}/{path.name}"


def package_environment(base: BaseLayer) -> dict[str, str]:
    """Variables that locate the packages in the home folder; the same during the build and later."""
    programs = f"{HOME}/{NODE_FOLDER}/.bin:{HOME}/{PYTHON_FOLDER}/bin"
    return {"PATH": f"{programs}:{base.search_path}", "PYTHONPATH": f"{HOME}/{PYTHON_FOLDER}"}


@dataclass(frozen=True, slots=True)
class Work:
    """A folder where a snapshot is being built. Locked, to distinguish the remains of a killed server from another
    server's build."""

    folder: Path
    lock: int

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / PROJECT

    def close(self) -> None:
        """Release it, and remove it unless `publish` took it. Blocks: it may hold very many files."""
        os.close(self.lock)
        discard_folder(self.folder)


class SnapshotFolder:
    """All snapshots. Stateless. Blocks."""

    def __init__(self, cache_dir: Path) -> None:
        self._root = cache_dir / FOLDER

    def find(self, name: str) -> Snapshot | None:
        snapshot = Snapshot(self._root / name)
        return snapshot if _NAME.fullmatch(name) and (snapshot.folder / FACTS).is_file() else None

    def get(self, name: str) -> Snapshot:
        """Raises `SandboxUnavailable` if it is not on this machine."""
        snapshot = self.find(name)
        if snapshot is None:
            raise SandboxUnavailable(
                f"the snapshot {name!r} is not on this machine",
                hint="Run 'outlast snapshots build', or restart the server, which builds it too.",
                snapshot=name,
            )
        return snapshot

    def open_work(self, name: str) -> "Work":
        """A folder for a build; the caller closes it."""
        if not _NAME.fullmatch(name):
            raise ArgumentsInvalid(f"{name[:100]!r} is not a valid snapshot name", snapshot=name[:100])
        self._root.mkdir(parents=True, exist_ok=True)
        self._root.chmod(0o700)
        work = Path(tempfile.mkdtemp(prefix=".building-", dir=self._root))
        lock = os.open(work / IN_USE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX)
        (work / "home").mkdir(mode=0o755)
        return Work(work, lock)

    def publish(self, work: "Work", name: str, layers: Iterable[str] = ()) -> Snapshot:
        """Publish the folder in `work` as the snapshot of that name, atomically; the first of several wins. Only
        `layers` of the project are kept."""
        size = _open_to_all(work.home)
        if work.project.is_dir():
            _keep_only(work.project, tuple(layers))
            size += _open_to_all(work.project)
        (work.folder / FACTS).write_text(json.dumps({"size_bytes": size}))
        work.folder.chmod(0o755)
        target = self._root / name
        try:
            work.folder.rename(target)
        except OSError:
            if self.find(name) is None:
                raise
        return Snapshot(target)

    def remove(self, name: str) -> None:
        """Raises `Conflict` if a living sandbox was started from it. A missing snapshot is ignored."""
        snapshot = self.find(name)
        if snapshot is None:
            return
        lock = os.open(snapshot.lock, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            aside = Path(tempfile.mkdtemp(prefix=".removed-", dir=self._root))
            snapshot.folder.rename(aside / name)
        except OSError as error:
            raise Conflict(
                f"the snapshot {name} is in use by a living sandbox",
                hint="Kill the sandboxes that use it, or wait until they are removed.",
                snapshot=name,
            ) from error
        finally:
            os.close(lock)
        discard_folder(aside)

    def forgotten(self) -> list[str]:
        """Names of snapshots that no sandbox was started from for very long: the server that requested them may be gone
        with its database. A server that still uses one builds it again when needed."""
        limit = time.time() - FORGOTTEN_AFTER_S
        locks = sorted(self._root.glob(f"[!.]*/{IN_USE}")) if self._root.is_dir() else []
        return [path.parent.name for path in locks if path.stat().st_mtime < limit]

    def abandoned(self) -> list[Path]:
        """Remains of killed servers: work folders that no process holds, and interrupted removals."""
        hidden = sorted(self._root.glob(".*")) if self._root.is_dir() else []
        return [path for path in hidden if path.name.startswith(".removed-") or _is_free(path / IN_USE)]


def _keep_only(project: Path, layers: Sequence[str]) -> None:
    """Remove all other entries, and any that is not a folder in its place. Links are not followed."""
    for root, folders, names in os.walk(project):
        inside = os.path.relpath(root, project)
        at = "" if inside == "." else f"{inside}/"
        deeper = []
        for name in [*folders, *names]:
            path = Path(root, name)
            is_folder = path.is_dir() and not path.is_symlink()
            if is_folder and f"{at}{name}" in layers:
                continue
            if is_folder and any(layer.startswith(f"{at}{name}/") for layer in layers):
                deeper.append(name)
            elif is_folder:
                remove_folder(path)
            else:
                path.unlink()
        folders[:] = deeper


def _is_free(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _open_to_all(home: Path) -> int:
    """Let every user read the files, and change them in their own layer; return their size in bytes."""
    size = 0
    top = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in each_folder(top):
            os.fchmod(folder, 0o777)
            for name in os.listdir(folder):
                facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode):
                    size += facts.st_blocks * 512 // facts.st_nlink
                    os.chmod(name, 0o777 if facts.st_mode & 0o111 else 0o666, dir_fd=folder)
    finally:
        os.close(top)
    return size
