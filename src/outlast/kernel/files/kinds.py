"""Recognises the kind of an uploaded file by its bytes. Pure."""

import re
from pathlib import PurePosixPath
from typing import Final

from outlast.base.errors import MalformedInput
from outlast.base.image_formats import Image, recognise
from outlast.base.records import dataclass

PDF: Final = "application/pdf"
_TEXTS: Final = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".csv": "text/csv",
    ".html": "text/html",
    ".htm": "text/html",
}
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CONTROLS: Final = frozenset(range(32)) - {9, 10, 12, 13, 27}
_PAGE: Final = re.compile(r"\?page=(\d{1,9})(?:#[^?]*)?\Z")
_LOOKED_AT: Final = 65_536
NAME_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Kind:
    """A recognised file; `image` has its size in pixels, or is None for other files."""

    media_type: str
    image: Image | None = None


def kind_of(name: str, content: bytes) -> Kind:
    """The kind of a file. Raises `MalformedInput` unless it is text, PDF or one of four kinds of images; the declared
    type is not trusted, and the extension of the name only tells kinds of text apart. Takes at most
    `documents.artifact_bytes` (25 MB): call it in a thread."""
    image = recognise(content)
    if image is not None:
        return Kind(image.media_type, image)
    if b"%PDF-" in content[:1024]:
        return Kind(PDF)
    if content and is_text(content):
        return Kind(_TEXTS.get(PurePosixPath(name.lower()).suffix, "text/plain"))
    raise MalformedInput(
        "The file is empty." if not content else "The file is not text, a PDF or an image.",
        hint="Upload a text, Markdown or code file, a PDF, or a PNG, JPEG, GIF or WebP image.",
        field="file",
    )


def is_text(content: bytes) -> bool:
    """True if the bytes are text: UTF-8, or UTF-16 with a byte order mark, without control characters."""
    if any(content.startswith(mark) for mark, codec in _MARKS if codec == "utf-16"):
        return True
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not _CONTROLS.intersection(content[:_LOOKED_AT])


def decoded(content: bytes) -> str:
    """The text of a file that `is_text`; undecodable bytes become U+FFFD. Steps grow with the size of the file, which
    `limits` bound."""
    codec = next((codec for mark, codec in _MARKS if content.startswith(mark)), "utf-8")
    return content.decode(codec, "replace").replace("\r\n", "\n").replace("\x00", "")


def file_name(name: str, most_chars: int = NAME_CHARS, unnamed: str = "file") -> str:
    """An uploaded file's name: the last part of its path, without control characters, shortened before the
    extension."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(c for c in last if c.isprintable()).strip()
    if len(shown) > most_chars:
        ending = PurePosixPath(shown).suffix[:20]
        shown = shown[: most_chars - len(ending)] + ending
    return shown or unnamed


def paged(name: str, page: int) -> str:
    """The address of a page of a file, as stored with its passages."""
    return f"{name}?page={page}"


def page_of(url: str) -> int | None:
    """The page in a passage's address, or None if its file has no pages."""
    found = _PAGE.search(url)
    return None if found is None else int(found[1])
