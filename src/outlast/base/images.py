"""What an uploaded file really is, found from its first bytes. Pure: no decoding, just the headers of four formats.

Bounds: any number of bytes. At most `_MAX_WALKED` of them are looked at, those between two headers are skipped, and a
header costs a few steps: below 30 ms for the oddest file.
"""

import re
from dataclasses import dataclass
from typing import Final

_MAX_WALKED: Final = 262_144  # bytes of headers and of fill between them
_SHORTEST_SEGMENT: Final = 16  # bytes that a header counts for at least; 16,384 headers, cameras write some dozens
_FILL: Final = re.compile(rb"\xff+")


@dataclass(frozen=True, slots=True)
class Image:
    """A recognised image: its media type, and its size in pixels."""

    media_type: str
    width: int
    height: int


def recognise(content: bytes) -> Image | None:
    """The PNG, JPEG, GIF or WebP image that these bytes begin; None for anything else, or a broken header."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            found = _png(content)
        elif content.startswith((b"GIF87a", b"GIF89a")):
            found = Image("image/gif", _little(content, 6, 2), _little(content, 8, 2))
        elif content.startswith(b"\xff\xd8\xff"):
            found = _jpeg(content)
        elif content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            found = _webp(content)
        else:
            return None
    except IndexError:
        return None
    return found if found is not None and found.width > 0 and found.height > 0 else None


def _png(content: bytes) -> Image | None:
    if content[12:16] != b"IHDR":
        return None
    return Image("image/png", _big(content, 16, 4), _big(content, 20, 4))


def _jpeg(content: bytes) -> Image | None:
    """Walk the segments to the first frame header (SOF), which holds the size. Any number of fill bytes may come
    before a marker."""
    at, left = 2, _MAX_WALKED
    while left > 0:
        fill = _FILL.match(content, at, at + left)
        if fill is None:
            return None
        at = fill.end() - 1
        left -= max(len(fill.group()), _SHORTEST_SEGMENT)
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            return Image("image/jpeg", _big(content, at + 7, 2), _big(content, at + 5, 2))
        if marker in {0x01, *range(0xD0, 0xD8)}:  # markers without a length
            at += 2
        elif marker in {0xD9, 0xDA}:  # end of image, or picture data before any frame header
            return None
        else:
            at += 2 + _big(content, at + 2, 2)
    return None


def _webp(content: bytes) -> Image | None:
    match content[12:16]:
        case b"VP8X":
            return Image("image/webp", _little(content, 24, 3) + 1, _little(content, 27, 3) + 1)
        case b"VP8L" if content[20] == 0x2F:
            bits = _little(content, 21, 4)
            return Image("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 " if content[23:26] == b"\x9d\x01\x2a":
            return Image("image/webp", _little(content, 26, 2) & 0x3FFF, _little(content, 28, 2) & 0x3FFF)
        case _:
            return None


def _big(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(_exactly(content, at, size), "big")


def _little(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(_exactly(content, at, size), "little")


def _exactly(content: bytes, at: int, size: int) -> bytes:
    if at + size > len(content):
        raise IndexError(at)
    return content[at : at + size]
