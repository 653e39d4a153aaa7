"""Recognises the kind of an attached file by its bytes. Pure."""

import codecs
import re
from pathlib import PurePosixPath
from typing import Final

from outlast.base.image_formats import Image, recognise
from outlast.kernel.files.kinds import PDF, is_text

LOOKED_AT: Final = 65_536  # bytes at the beginning, and as many at the end
ZIP: Final = "application/zip"
GZIP: Final = "application/gzip"
TAR: Final = "application/x-tar"
UNKNOWN: Final = "application/octet-stream"
SVG: Final = "image/svg+xml"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
XLSX: Final = f"{_OFFICE}spreadsheetml.sheet"
DOCX: Final = f"{_OFFICE}wordprocessingml.document"
PPTX: Final = f"{_OFFICE}presentationml.presentation"
ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
ODT: Final = "application/vnd.oasis.opendocument.text"
XLS: Final = "application/vnd.ms-excel"
LABELS: Final = {
    PDF: "PDF",
    ZIP: "ZIP archive",
    GZIP: "gzip archive",
    TAR: "tar archive",
    XLSX: "Excel workbook",
    XLS: "Excel workbook",
    ODS: "OpenDocument spreadsheet",
    DOCX: "Word document",
    ODT: "OpenDocument text",
    PPTX: "PowerPoint presentation",
    "text/csv": "CSV text",
    "text/tab-separated-values": "text with tabs",
    "text/markdown": "Markdown text",
    "text/html": "HTML text",
    "application/json": "JSON text",
    "text/plain": "text",
    "image/png": "PNG image",
    "image/jpeg": "JPEG image",
    "image/gif": "GIF image",
    "image/webp": "WebP image",
    SVG: "SVG drawing",
    UNKNOWN: "binary file",
}
_TEXTS: Final = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".json": "application/json",
}
_PARTS: Final = {b"xl": XLSX, b"word": DOCX, b"ppt": PPTX}
_LOCAL: Final = re.compile(rb"PK\x03\x04.{26}(xl|word|ppt)/", re.DOTALL)
_CENTRAL: Final = re.compile(rb"PK\x01\x02.{42}(xl|word|ppt)/", re.DOTALL)
_OPEN_DOCUMENT: Final = re.compile(rb"PK\x03\x04.{26}mimetype.{0,64}?(application/vnd\.oasis\.[a-z.]+)", re.DOTALL)
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BOOK: Final = "Workbook".encode("utf-16-le")
_SVG_HEAD: Final = 2_000  # bytes
_SVG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]", re.DOTALL
)


def image_of(content: bytes, most_pixels: int) -> Image | None:
    """The image that these bytes are, or None if browsers and models cannot be given it."""
    image = recognise(content)
    return image if image is not None and image.width * image.height <= most_pixels else None


def media_type_of(name: str, head: bytes, tail: bytes) -> str:
    """The media type of a file by its first and last bytes; the extension of the name only tells kinds of text apart.
    Looks at the first and last 64 KB, and for images a little further."""
    image = recognise(head)
    if image is not None:
        return image.media_type
    head, tail = head[:LOOKED_AT], tail[-LOOKED_AT:]
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(head, tail)
    if head.startswith(_OLE) and _BOOK in head + tail:
        return XLS
    if head.startswith(b"\x1f\x8b"):
        return GZIP
    if head[257:262] == b"ustar":
        return TAR
    if not head or not is_text(_whole_characters(head)):
        return UNKNOWN
    return SVG if _SVG.match(head[:_SVG_HEAD]) else _text_kind(name)


def label_of(media_type: str) -> str:
    """The kind in words."""
    return LABELS.get(media_type, media_type)


def _zip_kind(head: bytes, tail: bytes) -> str:
    found = _OPEN_DOCUMENT.match(head)
    if found is not None:
        return found[1].decode()
    part = _LOCAL.search(head) or _CENTRAL.search(tail)
    return ZIP if part is None else _PARTS[part[1]]


def _text_kind(name: str) -> str:
    return _TEXTS.get(PurePosixPath(name.lower()).suffix, "text/plain")


def _whole_characters(head: bytes) -> bytes:
    """The bytes without a character that was cut at their end."""
    if len(head) < LOOKED_AT:
        return head
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        decoder.decode(head)
    except UnicodeDecodeError:
        return head
    return head[: len(head) - len(decoder.getstate()[0])]
