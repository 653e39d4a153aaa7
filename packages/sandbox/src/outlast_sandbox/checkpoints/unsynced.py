"""Folders that were written and may not be synced to disk yet.

A sync would delay callers that need the sandbox, by seconds on a busy machine. So a note is stored next to the
workspaces, synced before the folder counts as written, and removed once the folder is synced too. While the machine
runs the folder is complete, even if the server is killed. A note that is older than the machine's last boot means that
the folder may be incomplete.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from outlast_sandbox.checkpoints.safe_open import open_folder

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_libc: Final = ctypes.CDLL(None)


class Unsynced:
    """The notes of one server's workspaces; `boot_id` identifies the machine's current boot. Calls block."""

    def __init__(self, folder: Path, boot_id: str | None = None) -> None:
        self._folder = folder
        self._boot_id = _BOOT_ID.read_text().strip() if boot_id is None else boot_id

    def note(self, workspace_id: str) -> None:
        """Record that the folder has just been written. Durable on return. Raises `OSError`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._note(workspace_id), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, self._boot_id.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        parent = open_folder(self._folder)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)

    def in_doubt(self, workspace_id: str) -> bool:
        """True if the machine went down before the folder was synced."""
        try:
            return self._note(workspace_id).read_text() != self._boot_id
        except FileNotFoundError:
            return False

    def noted(self) -> list[str]:
        """The workspaces that have a note, including those in doubt."""
        return [path.stem for path in self._folder.glob("*.unsynced")]

    def forget(self, workspace_id: str) -> None:
        """Remove the note of a deleted workspace."""
        self._note(workspace_id).unlink(missing_ok=True)

    def sync(self, workspace_id: str, folder: Path) -> None:
        """Sync the folder to disk, and remove its note. Raises `OSError`; the note then stays."""
        with suppress(FileNotFoundError):
            descriptor = open_folder(folder)
            try:
                if _libc.syncfs(descriptor):
                    os.sync()
            finally:
                os.close(descriptor)
        self._note(workspace_id).unlink(missing_ok=True)

    def _note(self, workspace_id: str) -> Path:
        return self._folder / f"{workspace_id}.unsynced"
