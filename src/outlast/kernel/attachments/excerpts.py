"""Reads parts of attached files: texts directly, everything else in a separate program with limits."""

import json
import subprocess
import sys
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread

from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.kernel.attachments.kinds import SVG, label_of
from outlast.kernel.attachments.read_program import READERS, Place

READ_S: Final = 20  # of processor time; twice as long in all
_PROGRAM: Final = "outlast.kernel.attachments.read_program"
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8", 3), (b"\xff\xfe", "utf-16-le", 2), (b"\xfe\xff", "utf-16-be", 2))


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a file. `about` is its kind in words, `text` the part, `more` the place where the rest begins (None at
    the end), `trouble` the reason why text is missing, for people and models; empty if none is."""

    about: str
    text: str = ""
    more: dict[str, Any] | None = None
    trouble: str = ""


async def read_excerpt(blobs: Blobs, blob: str, media_type: str, place: Place, read_s: int = READ_S) -> Excerpt:
    """A part of a stored file. Never raises for its content. Raises `StoredFileMissing`. Takes at most about twice
    `read_s` seconds; cancelled, it leaves no process behind."""
    if media_type in READERS:
        return await _read_in_program(blobs, blob, media_type, place, read_s)
    if media_type.startswith("text/") or media_type in ("application/json", SVG):
        return await anyio.to_thread.run_sync(_read_text, blobs, blob, media_type, place)
    return Excerpt(label_of(media_type), trouble="It has no text that can be read here.")


def _read_text(blobs: Blobs, blob: str, media_type: str, place: Place) -> Excerpt:
    """Characters of a text; `after` counts bytes, so that no long text is read from its beginning."""
    start = blobs.read(blob, 0, 4)
    codec, skipped = next(((codec, size) for mark, codec, size in _MARKS if start.startswith(mark)), ("utf-8", 0))
    unit = 2 if codec.startswith("utf-16") else 1
    after = max(place.after - place.after % unit, skipped)
    content = blobs.read(blob, after, 4 * place.chars + 4)
    kept = content.decode(codec, "surrogateescape" if unit == 1 else "replace")[: place.chars]
    size = len(kept.encode(codec, "surrogateescape" if unit == 1 else "strict"))
    text = kept.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\x00", "")
    return Excerpt(label_of(media_type), text, {"after": after + size} if size < len(content) else None)


async def _read_in_program(blobs: Blobs, blob: str, media_type: str, place: Place, read_s: int) -> Excerpt:
    asked = [media_type, read_s, place.chars, place.page, place.sheet, place.after]
    command = [sys.executable, "-I", "-m", _PROGRAM, *map(str, asked)]
    with await anyio.to_thread.run_sync(blobs.lend, blob) as path, anyio.move_on_after(2 * read_s):
        async with await anyio.open_file(path, "rb") as file:
            done = await anyio.run_process(
                command, stdin=file.wrapped, check=False, stderr=subprocess.DEVNULL, env={"LANG": "C.UTF-8"}
            )
        finished = done.returncode == 0
        return await anyio.to_thread.run_sync(partial(_told, done.stdout, media_type, finished=finished))
    return _told(b"", media_type, finished=False)


def _told(printed: bytes, media_type: str, *, finished: bool) -> Excerpt:
    found: dict[str, Any] = {}
    for line in printed.splitlines():
        try:
            found |= json.loads(line)
        except ValueError:  # cut in the middle
            break
    error = found.get("error") or ("" if finished else "reading it exceeds the limits of time or memory")
    return Excerpt(
        _plain(found.get("about") or label_of(media_type)),
        _plain(found.get("text", "")),
        found.get("more"),
        f"It could not be read: {_plain(error)}." if error else "",
    )


def _plain(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "")
