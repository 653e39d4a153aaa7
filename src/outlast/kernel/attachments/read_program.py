"""Reads a part of a PDF, a spreadsheet, an office document or an archive. A separate program, because files are
untrusted: it bounds its own time and memory, writes nothing but its answer, and unpacks nothing to disk.

    python -I -m outlast.kernel.attachments.read_program MEDIA_TYPE CPU_SECONDS CHARS PAGE SHEET AFTER < FILE

Its first line is `{"about": "…"}`, the second `{"text": "…", "more": {…}}`, or `{"error": "…"}` where it had to stop.
`more` is the place where reading continues, or null at the end.
"""

import csv
import json
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from typing import Any, BinaryIO, Final

from outlast.base.records import dataclass
from outlast.kernel.attachments.kinds import DOCX, GZIP, ODS, ODT, PPTX, TAR, XLS, XLSX, ZIP, label_of
from outlast.kernel.files.bounded_process import bound_process
from outlast.kernel.files.kinds import PDF

CELL_CHARS: Final = 500
Line = dict[str, Any]


class Unreadable(Exception):
    """The file cannot be read; the reason is for people."""


@dataclass(frozen=True)
class Place:
    """Where to read, and at most how many characters. `page` counts from 1; `sheet` is empty for the first one;
    `after` is a number of rows, entries, or characters of the page."""

    chars: int
    page: int = 1
    sheet: str = ""
    after: int = 0


def main() -> None:
    media_type, cpu_s, chars, page, sheet, after = sys.argv[1:]
    bound_process(int(cpu_s))
    place = Place(int(chars), int(page), sheet, int(after))
    for line in _lines(sys.stdin.buffer, media_type, place):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _lines(file: BinaryIO, media_type: str, place: Place) -> Iterator[Line]:
    try:
        yield from READERS[media_type](file, place, label_of(media_type))
    except Unreadable as error:
        yield {"error": str(error)}
    except MemoryError:
        yield {"error": "it takes too much memory to read"}
    except Exception as error:  # a broken file can make a reader raise anything
        yield {"error": f"it is damaged ({type(error).__name__})"}


def _pdf(file: BinaryIO, place: Place, label: str) -> Iterator[Line]:
    import logging

    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = pypdf.PdfReader(file)
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("it is protected by a password")
    pages = len(reader.pages)
    yield {"about": f"{label}, {pages} {'page' if pages == 1 else 'pages'}"}
    if place.page > pages:
        raise Unreadable(f"it has {pages} pages")
    yield _filled(_pages(reader.pages, place), place.chars)


def _pages(pages: Any, place: Place) -> Iterator[tuple[str, str, Line]]:
    for number in range(place.page, len(pages) + 1):
        try:
            text = str(pages[number - 1].extract_text())
        except MemoryError:
            raise
        except Exception:  # one page that cannot be read does not hide the others
            text = ""
        yield f"[page {number}]\n", text[place.after if number == place.page else 0 :], {"page": number}


def _slides(file: BinaryIO, place: Place, label: str) -> Iterator[Line]:
    with zipfile.ZipFile(file) as archive:
        names = {
            int(name[16:-4]): name
            for name in archive.namelist()
            if name.startswith("ppt/slides/slide") and name.endswith(".xml") and name[16:-4].isdigit()
        }
        yield {"about": f"{label}, {len(names)} slides"}
        chosen = [(number, names[number]) for number in sorted(names) if number >= place.page]
        texts = (
            (
                f"[slide {number}]\n",
                _paragraphs(archive, name, place.after + place.chars)[place.after if number == place.page else 0 :],
                {"page": number},
            )
            for number, name in chosen
        )
        yield _filled(texts, place.chars)


def _document(file: BinaryIO, place: Place, label: str) -> Iterator[Line]:
    yield {"about": label}
    with zipfile.ZipFile(file) as archive:
        member = "word/document.xml" if "word/document.xml" in archive.NameToInfo else "content.xml"
        text = _paragraphs(archive, member, place.after + place.chars + 1)
    yield _filled([("", text[place.after :], {"page": 1})], place.chars, place.after)


def _paragraphs(archive: zipfile.ZipFile, member: str, chars: int) -> str:
    """The paragraphs of an XML file, one a line; stops after so many characters. Entities are not resolved."""
    from lxml import etree

    lines: list[str] = []
    with archive.open(member) as content:
        for _, element in etree.iterparse(content, events=("end",), resolve_entities=False, no_network=True):
            if isinstance(element.tag, str) and element.tag.rpartition("}")[2] in ("p", "h"):
                lines.append("".join(text for text in element.itertext()))
                chars -= len(lines[-1]) + 1
                element.clear()
                if chars < 0:
                    break
    return "\n".join(lines)


def _filled(pieces: Iterable[tuple[str, str, Line]], chars: int, before: int = 0) -> Line:
    """The pieces (heading, text, place) up to so many characters, and the place where the rest begins. `before`:
    characters of the first piece's page that were read earlier."""
    shown: list[str] = []
    for heading, text, at in pieces:
        if chars <= 0:
            return {"text": "\n".join(shown), "more": {**at, "after": 0}}
        shown.append(heading + text[:chars])
        if len(text) > chars:
            return {"text": "\n".join(shown), "more": {**at, "after": before + chars}}
        chars -= len(text) + len(heading)
        before = 0
    return {"text": "\n".join(shown), "more": None}


def _sheets(file: BinaryIO, place: Place, label: str) -> Iterator[Line]:
    from python_calamine import CalamineWorkbook, PasswordError

    try:
        book = CalamineWorkbook.from_filelike(file)
    except PasswordError:
        raise Unreadable("it is protected by a password") from None
    names = book.sheet_names
    listed = ", ".join(names[:50]) + (", …" if len(names) > 50 else "")
    yield {"about": f"{label}, {len(names)} {'sheet' if len(names) == 1 else 'sheets'}: {listed}"}
    if not names:
        raise Unreadable("it has no sheets")
    name = place.sheet or names[0]
    if name not in names:
        raise Unreadable(f"it has no sheet {name!r}; its sheets are {listed}")
    sheet = book.get_sheet_by_name(name)
    heading = f"[sheet {name!r}: {sheet.height} rows, {sheet.width} columns]\n"
    text, read = _within(map(_row, islice(sheet.iter_rows(), place.after, None)), place.chars)
    follows = names[names.index(name) + 1 :]
    rest = {"sheet": name, "after": place.after + read} if place.after + read < sheet.height else None
    yield {"text": heading + text, "more": rest or ({"sheet": follows[0], "after": 0} if follows else None)}


def _row(values: Iterable[Any]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="").writerow([str(value)[:CELL_CHARS] for value in values])
    return line.getvalue()


def _within(lines: Iterable[str], chars: int) -> tuple[str, int]:
    """(as many lines as fit, at least one, their number)."""
    shown: list[str] = []
    for line in lines:
        if shown and len(line) + 1 > chars:
            break
        shown.append(line[: max(chars, 1)])
        chars -= len(line) + 1
    return "\n".join(shown), len(shown)


def _zip(file: BinaryIO, place: Place, label: str) -> Iterator[Line]:
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        yield {"about": f"{label}, {len(entries)} entries"}
        lines = (
            f"{one.file_size:>12,}  {_stamp(*one.date_time[:5])}  {one.filename}" for one in entries[place.after :]
        )
        text, read = _within(lines, place.chars)
        yield {"text": text, "more": {"after": place.after + read} if place.after + read < len(entries) else None}


def _tar(file: BinaryIO, place: Place, label: str) -> Iterator[Line]:
    try:
        with tarfile.open(fileobj=file, mode="r|*") as archive:
            yield {"about": label}
            lines = (_entry(one.size, _time(one.mtime), one.name) for one in islice(archive, place.after, None))
            text, read = _within(lines, place.chars)
    except tarfile.ReadError:
        raise Unreadable("it is not an archive of files, or it is damaged") from None
    full = len(text) > place.chars // 2
    yield {"text": text, "more": {"after": place.after + read} if full else None}


def _entry(size_bytes: int, time: str, name: str) -> str:
    return f"{size_bytes:>12,}  {time}  {name}"


def _time(seconds: float) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return "-" * 16
    return _stamp(moment.year, moment.month, moment.day, moment.hour, moment.minute)


def _stamp(year: int, month: int, day: int, hour: int, minute: int) -> str:
    return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"


READERS: Final[dict[str, Callable[[BinaryIO, Place, str], Iterator[Line]]]] = {
    PDF: _pdf,
    XLSX: _sheets,
    XLS: _sheets,
    ODS: _sheets,
    DOCX: _document,
    ODT: _document,
    PPTX: _slides,
    ZIP: _zip,
    TAR: _tar,
    GZIP: _tar,
}


if __name__ == "__main__":
    main()
