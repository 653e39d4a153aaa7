"""A photographer without a browser: it sees what the test says.

photographer = FakePhotographer([look(errors=("ReferenceError: x is not defined",)), look()])
"""

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import anyio.lowlevel

from outlast_sandbox.browser.interface import Look
from outlast_sandbox.interface import Sandbox


def png(width: int, height: int, grey: int = 40) -> bytes:
    """A picture of one grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([grey]) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def look(
    *,
    errors: tuple[str, ...] = (),
    console: tuple[str, ...] = (),
    status: int | None = 200,
    picture: bool = True,
    note: str = "",
) -> Look:
    """What is seen; with `picture` false there is none."""
    return Look(png(8, 6) if picture else None, errors, status, note, 0.01, console)


@dataclass(frozen=True, slots=True)
class Seen:
    """One time it was asked to look."""

    sandbox_id: str
    port: int
    path: str
    width: int
    height: int


class FakePhotographer:
    """Sees `looks` one after the other, the last of them again and again; `seen` is what it was asked to look at."""

    def __init__(self, looks: Iterable[Look] = ()) -> None:
        self._looks = list(looks) or [look()]
        self.seen: list[Seen] = []

    async def look(self, sandbox: Sandbox, port: int, path: str, width: int, height: int) -> Look:
        await anyio.lowlevel.checkpoint()
        self.seen.append(Seen(sandbox.sandbox_id, port, path, width, height))
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]
