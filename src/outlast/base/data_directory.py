"""The folder that one server owns: database file, stored files, workspaces. A lock keeps a second server out."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from outlast.base.errors import DataDirectoryInUse, DataDirectoryMissing, StartRefused
from outlast.base.ids import new_id

LOCK: Final = "lock"
NODE: Final = "node"


def data_directory(setting: str) -> Path:
    """The folder as an absolute path, created if missing. Raises `StartRefused` if it cannot be created or written."""
    folder = Path(setting).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(folder.stat().st_mode & 0o770)
    except OSError as error:
        raise StartRefused(
            f"The data directory {folder} cannot be used: {error.strerror}.",
            hint="Choose another with --data-dir, or give this user write permission.",
            data_dir=str(folder),
        ) from None
    return folder


def existing_data_directory(setting: str) -> Path:
    """The folder as an absolute path. Raises `DataDirectoryMissing` if there is none; nothing is created."""
    folder = Path(setting).expanduser().absolute()
    if not folder.is_dir():
        raise DataDirectoryMissing(f"There is no Outlast data directory at {folder}.", data_dir=str(folder))
    return folder


@contextmanager
def held(folder: Path) -> Iterator[bool]:
    """Lock the folder while this context is open; the system releases the lock even after a SIGKILL. Yields True if the
    last owner stopped cleanly. Raises `DataDirectoryInUse`, naming the process that owns it."""
    try:
        file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartRefused(
            f"The data directory {folder} is not writable: {error.strerror}.", data_dir=str(folder)
        ) from None
    try:
        _lock(file, folder)
        was_clean = os.fstat(file).st_size == 0
        os.truncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        yield was_clean
        os.truncate(file, 0)
    finally:
        os.close(file)


def node_of(folder: Path) -> str:
    """The id of this machine's server, the same after each restart; created at the first call."""
    file = folder / NODE
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.write_text(new_id("node"))
        fresh.replace(file)
    return file.read_text().strip()


def cache_directory() -> Path:
    """The user's cache folder, shared by all their servers. Not created here."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "outlast"


def sync_file(path: Path, flags: int = 0) -> None:
    """Flush one file, or with O_DIRECTORY a folder's entries, to disk. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(file, 32, 0).decode("ascii", "replace").strip()
        raise DataDirectoryInUse(
            f"The data directory {folder} is in use by another Outlast process (pid {pid or 'unknown'}).",
            data_dir=str(folder),
            pid=pid,
        ) from None
