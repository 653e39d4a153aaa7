"""Recognises an uploaded image by its first bytes. Pure: no decoding, just the headers of four formats.

Bounds: any number of bytes. At most `_MAX_WALKED` of them are read, those between two headers are skipped, and a header
costs a few steps: below 30 ms in the worst case.
"""

import re
import struct
from struct import unpack_from
from typing import Final

from outlast.base.records import dataclass

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
    """The PNG, JPEG, GIF or WebP image that begins with these bytes; None for anything else, or a broken header."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            found = Image("image/png", *unpack_from(">II", content, 16)) if content[12:16] == b"IHDR" else None
        elif content.startswith((b"GIF87a", b"GIF89a")):
            found = Image("image/gif", *unpack_from("<HH", content, 6))
        elif content.startswith(b"\xff\xd8\xff"):
            found = _jpeg(content)
        elif content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            found = _webp(content)
        else:
            return None
    except (IndexError, struct.error):  # it ends within its header
        return None
    return found if found is not None and found.width > 0 and found.height > 0 else None


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
            height, width = unpack_from(">HH", content, at + 5)
            return Image("image/jpeg", width, height)
        if marker in {0x01, *range(0xD0, 0xD8)}:  # markers without a length
            at += 2
        elif marker in {0xD9, 0xDA}:  # end of image, or picture data before any frame header
            return None
        else:
            at += 2 + unpack_from(">H", content, at + 2)[0]
    return None


def _webp(content: bytes) -> Image | None:
    match content[12:16]:
        case b"VP8X":
            return Image("image/webp", *(int.from_bytes(one, "little") + 1 for one in unpack_from("3s3s", content, 24)))
        case b"VP8L" if content[20] == 0x2F:
            (bits,) = unpack_from("<I", content, 21)
            return Image("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 " if content[23:26] == b"\x9d\x01\x2a":
            return Image("image/webp", *(side & 0x3FFF for side in unpack_from("<HH", content, 26)))
        case _:
            return None
