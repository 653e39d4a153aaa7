"""Files by content hash: written once, never changed, shared by whoever names the same bytes."""

import hashlib
import os
import tempfile
from pathlib import Path

from outlast.base.errors import DiskFull, NotFound


class FolderBlobs:
    """Blobs in a folder: `ab/cdef…` for SHA-256 `abcdef…`. Calls block; run them in a worker thread when large."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> str:
        """Store `content` (durably: synced, then renamed into place) and return its SHA-256 as 64 hex digits. Repeating
        is harmless. Raises `DiskFull`; then nothing is left behind."""
        name = hashlib.sha256(content).hexdigest()
        target = self._path(name)
        if target.exists():
            return name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
                temporary = Path(file.name)
                try:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                except BaseException:
                    temporary.unlink(missing_ok=True)
                    raise
            temporary.replace(target)
        except OSError as error:
            raise DiskFull(f"The file could not be stored: {error.strerror}.", retry_after_s=10) from error
        return name

    def get(self, name: str) -> bytes:
        """The content stored under `name`. Raises `NotFound`."""
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            raise NotFound("The stored file is missing from the blob folder.", blob=name) from None

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name[2:]
