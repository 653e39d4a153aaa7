"""The page runtime's two built files, cached in memory while unchanged on disk."""

import hashlib
from pathlib import Path
from typing import Final

from outlast.kernel.http.static_files import FOLDER

KINDS: Final = {"page.js": b"text/javascript; charset=utf-8", "page.css": b"text/css; charset=utf-8"}


class RuntimeFiles:
    """`folder` is the output of the build. A rebuilt file is read again."""

    def __init__(self, folder: Path = FOLDER / "page") -> None:
        self._folder = folder
        self._held: dict[str, tuple[tuple[int, int], bytes]] = {}

    def read(self, name: str) -> bytes | None:
        """A file's content, or None if the web app has not been built."""
        path = self._folder / name
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            held = self._held.get(name)
            if held is None or held[0] != stamp:
                held = self._held[name] = (stamp, path.read_bytes())
        except OSError:
            return None
        return held[1]

    def version(self) -> str | None:
        """A version that changes with their content, or None if one of them is missing."""
        contents = [self.read(name) for name in KINDS]
        if any(content is None for content in contents):
            return None
        return hashlib.sha256(b"\0".join(content or b"" for content in contents)).hexdigest()[:16]
