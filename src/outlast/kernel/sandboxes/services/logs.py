"""The end of a service's output, in a file of the server, so that it outlives server and sandbox."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

KEPT_BYTES: Final = 64 * 1024
MAX_BYTES: Final = 3 * KEPT_BYTES  # then the file is cut to its end
SHOWN_BYTES: Final = 2_000  # with the error of a service that failed


class ServiceLogs:
    """`folder` holds one folder per workspace, one file per service. Calls block, for microseconds."""

    def __init__(self, folder: Path, hide: Callable[[bytes], bytes] = bytes) -> None:
        """`hide` removes secrets from a text."""
        self._folder, self.hide = folder, hide

    def append(self, workspace_id: str, name: str, data: bytes) -> None:
        """Add output of the service. A full disk loses the line, not the service."""
        path = self._path(workspace_id, name)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(data[-MAX_BYTES:])  # data beyond the limit would be cut off again
                too_long = file.tell() > MAX_BYTES
            if too_long:
                self._cut(path)
        except OSError:
            return

    def tail(self, workspace_id: str, name: str, max_bytes: int = KEPT_BYTES) -> str:
        """The end of the log, as text; empty if there is none yet."""
        try:
            with self._path(workspace_id, name).open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - min(max_bytes, KEPT_BYTES)))
                return self.hide(file.read()).decode("utf-8", "replace")
        except OSError:
            return ""

    def knows(self, workspace_id: str) -> bool:
        """True if a service of the workspace ever ran."""
        return (self._folder / workspace_id).is_dir()

    def forget(self, workspace_id: str, name: str) -> None:
        """Remove the log of a service. Does nothing if there is none."""
        self._path(workspace_id, name).unlink(missing_ok=True)

    def _cut(self, path: Path) -> None:
        fresh = path.with_suffix(".new")
        fresh.write_bytes(path.read_bytes()[-KEPT_BYTES:])
        fresh.replace(path)  # atomic: a killed server leaves the long log or the short one

    def _path(self, workspace_id: str, name: str) -> Path:
        return self._folder / workspace_id / f"{name}.log"
