"""Rules for attached files. Pure."""

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Final

from outlast.base.errors import Conflict, InputTooLarge, MalformedInput
from outlast.kernel.files.kinds import file_name
from outlast.kernel.limits.rules import clean

MAX_PIXELS: Final = 100_000_000
MIN_PIECE_BYTES: Final = 65_536  # of all pieces but the last, so that their number is bounded
MAX_PIECE_BYTES: Final = 8_000_000
NAME_CHARS: Final = 120
NAME_BYTES: Final = 180
FOLDER: Final = "uploads"
_PLAIN: Final = frozenset(" .-_()+,=@")


def check_piece(size_bytes: int, received: int, offset: int, count: int) -> None:
    """Raise unless `count` bytes at `offset` continue an upload of `size_bytes`, of which `received` are stored."""
    if offset != received:
        raise Conflict(
            f"The upload continues at byte {received:,}.", hint="Send the bytes from `offset` on.", offset=received
        )
    left = size_bytes - received
    most = min(left, MAX_PIECE_BYTES)
    if count > most:
        raise InputTooLarge(
            f"The piece has {count:,} bytes; at most {most:,} are accepted.",
            hint="Send a smaller piece, and no more bytes than you announced.",
            size_bytes=count,
            limit_bytes=most,
        )
    least = max(min(left, MIN_PIECE_BYTES), 1)
    if count < least:
        raise MalformedInput(
            f"The piece has {count:,} bytes; at least {least:,} are needed.",
            hint="Send larger pieces; the last piece may be small.",
            field="body",
        )


def shown_name(name: str, unnamed: str = "file") -> str:
    """The name of an uploaded file, as people see it."""
    return file_name(clean(name), NAME_CHARS, unnamed)


def name_in_workspace(name: str, taken: Collection[str]) -> str:
    """A file name for the folder of uploads: letters, digits and a few marks, at most 180 bytes, no leading dot, and
    none of those taken (compared without case)."""
    plain = "".join(c if c.isalnum() or c in _PLAIN else "_" for c in name).strip(" .") or "file"
    ending = PurePosixPath(plain).suffix[:20]
    stem = plain.removesuffix(ending)
    used = {one.casefold() for one in taken}
    number, made = 1, _cut(stem, NAME_BYTES - len(ending.encode())) + ending
    while made.casefold() in used:
        number += 1
        more = f"-{number}{ending}"
        made = _cut(stem, NAME_BYTES - len(more.encode())) + more
    return made


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode("utf-8", "ignore")
