"""Shows that a server is running, by a lock that the kernel releases when the server's process ends.

The shim of each sandbox, or the agent in a container, tests the lock without taking it, so sandboxes and servers never
wait for each other.
"""

import fcntl
import struct
from contextlib import suppress
from pathlib import Path
from typing import IO

_SHARED_LOCK = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)


class Presence:
    """The lock next to the folder of the sandboxes' state; several providers may hold it at once."""

    def __init__(self, state_dir: Path) -> None:
        self.path = state_dir.with_name(f"{state_dir.name}.lock")
        self._held: IO[bytes] | None = None

    def hold(self) -> None:
        """Hold the lock until this object is deleted or the process ends. Idempotent. If the file system has no locks,
        sandboxes cannot detect that their server is gone."""
        if self._held is not None:
            return
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+b")
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _SHARED_LOCK)
            self._held = file
