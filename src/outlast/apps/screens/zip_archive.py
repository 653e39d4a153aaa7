"""The ZIP of an app's files: which files people see, which are left out, and how it is packed. Pure."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

LEVEL: Final = 6
MOMENT: Final = (2026, 1, 1, 0, 0, 0)  # the same files make the same archive
FILE_MODE: Final = 0o100644 << 16

_NOT_OURS: Final = frozenset(
    {
        "node_modules",
        ".next",
        ".vite",
        ".turbo",
        ".swc",
        ".cache",
        ".npm",
        ".pnpm-store",
        ".yarn",
        ".git",
        "__pycache__",
    }
)
_SECRET: Final = re.compile(
    r"\.env(?!\.(?:example|sample|template)$)(?:\..*)?|\.npmrc|\.yarnrc(?:\.yml)?|\.netrc|\.pypirc|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|.*\.(?:pem|key|p12|pfx|keystore)|\.(?:ssh|aws|gnupg)",
    re.IGNORECASE,
)
_LEFT_OVER: Final = re.compile(r".*\.(?:log|tsbuildinfo)|\.DS_Store", re.IGNORECASE)


def is_shown(path: str) -> bool:
    """True if a file is the app's own: not part of an installed package, a cache or a build."""
    return _NOT_OURS.isdisjoint(path.split("/"))


def is_packed(path: str) -> bool:
    """True if a file goes into an archive: shown, not left over by a tool, and not like a secret."""
    parts = path.split("/")
    return is_shown(path) and not _LEFT_OVER.fullmatch(parts[-1]) and not any(map(_SECRET.fullmatch, parts))


def archive_name(title: str) -> str:
    """The name of an archive, and of the folder in it: the title in lower-case letters, digits and hyphens."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return words[:60].rstrip("-") or "screen"


def packed(folder: str, files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """A ZIP of these files (path, content) below one folder, piece by piece, one file in memory at a time. The same
    files in the same order give the same bytes."""
    out = _Pieces()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for path, content in files:
            # A backslash is a folder separator to some unpackers, and could lead out of the folder.
            entry = zipfile.ZipInfo(str(PurePosixPath(folder, path.replace("\\", "_"))), MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = FILE_MODE
            archive.writestr(entry, content)
            if piece := out.take():
                yield piece
    yield out.take()


class _Pieces(io.RawIOBase):
    """A write-only target for a ZIP without seeking: pieces are taken away as it grows."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        self._held += data
        return len(data)

    def take(self) -> bytes:
        piece = bytes(self._held)
        self._held.clear()
        return piece
