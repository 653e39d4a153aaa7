"""Folders that were written and may not be on the disk yet.

Waiting for the disk would hold up callers that need the sandbox, for seconds on a busy machine. So a note is left
beside the workspaces, synced before the folder counts as there, and removed once the folder is synced too. While the
machine runs the folder is whole, whatever becomes of the server. A note from before the machine was last started says
that it may not be.
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
    """The notes of one server's workspaces; `boot_id` names this start of the machine. Calls block."""

    def __init__(self, folder: Path, boot_id: str | None = None) -> None:
        self._folder = folder
        self._boot_id = _BOOT_ID.read_text().strip() if boot_id is None else boot_id

    def note(self, workspace_id: str) -> None:
        """The folder has just been written. Durable when this returns. Raises `OSError`."""
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
        """Whether the machine went down before the folder was surely on the disk."""
        try:
            return self._note(workspace_id).read_text() != self._boot_id
        except FileNotFoundError:
            return False

    def noted(self) -> list[str]:
        """The workspaces that have a note, also those in doubt."""
        return [path.stem for path in self._folder.glob("*.unsynced")]

    def forget(self, workspace_id: str) -> None:
        """The workspace is gone."""
        self._note(workspace_id).unlink(missing_ok=True)

    def sync(self, workspace_id: str, folder: Path) -> None:
        """Bring the folder to the disk, and remove its note. Raises `OSError`, and the note stays."""
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
