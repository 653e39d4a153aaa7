"""Parts of files, read with limits."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from outlast.base.errors import StoredFileMissing
from outlast.db.blobs.folder import FolderBlobs
from outlast.kernel.attachments.excerpts import Excerpt, read_excerpt
from outlast.kernel.attachments.kinds import GZIP, XLSX, ZIP, media_type_of
from outlast.kernel.attachments.read_program import Place
from tests.office_files import docx, tarred, xlsx, zipped
from tests.pdfs import pdf

Read = Callable[..., Coroutine[Any, Any, Excerpt]]
BOOK = xlsx({"Sales": [["month", "cents"], ["May", 5], ["June", 7.5]], "Notes": [["Hello, you"]]})
BOMB_BYTES = 200_000_000


@pytest.fixture
def read(tmp_path: Path) -> Read:
    blobs = FolderBlobs(tmp_path)

    async def read(name: str, content: bytes, chars: int = 500, kind: str = "", **place: Any) -> Excerpt:
        media_type = kind or media_type_of(name, content, content)
        return await read_excerpt(blobs, blobs.put(content), media_type, Place(chars, **place), 10)

    return read


async def test_a_pdf_is_read_page_by_page(read: Read) -> None:
    content = pdf("First page", "Second page", "Third page")
    whole = await read("a.pdf", content)
    assert whole == Excerpt("PDF, 3 pages", "[page 1]\nFirst page\n[page 2]\nSecond page\n[page 3]\nThird page")
    cut = await read("a.pdf", content, chars=5)
    assert (cut.text, cut.more) == ("[page 1]\nFirst", {"page": 1, "after": 5})
    rest = await read("a.pdf", content, chars=20, **(cut.more or {}))
    assert rest.text.startswith("[page 1]\n page\n[page 2]\n")
    assert (await read("a.pdf", content, page=4)).trouble == "It could not be read: it has 3 pages."


async def test_a_workbook_is_read_sheet_by_sheet(read: Read) -> None:
    first = await read("a.xlsx", BOOK)
    assert first.about == "Excel workbook, 2 sheets: Sales, Notes"
    assert first.text == "[sheet 'Sales': 3 rows, 2 columns]\nmonth,cents\nMay,5.0\nJune,7.5"
    assert first.more == {"sheet": "Notes", "after": 0}
    assert (await read("a.xlsx", BOOK, **first.more)).text.endswith('columns]\n"Hello, you"')
    cut = await read("a.xlsx", BOOK, chars=12)
    assert cut.more == {"sheet": "Sales", "after": 1}
    assert (await read("a.xlsx", BOOK, **cut.more)).text.endswith("\nMay,5.0\nJune,7.5")
    assert "its sheets are Sales, Notes" in (await read("a.xlsx", BOOK, sheet="None")).trouble


async def test_a_text_is_read_on_from_where_it_was_cut(read: Read) -> None:
    content = b"\xef\xbb\xbf" + "größe,x\r\n".encode() * 50
    shown, after = "", 0
    while True:
        part = await read("a.csv", content, chars=7, after=after)
        shown += part.text
        if part.more is None:
            break
        after = part.more["after"]
    assert shown.replace("\r\n", "\n").replace("\r", "") == "größe,x\n" * 50


async def test_a_text_with_wide_characters_is_read_too(read: Read) -> None:
    content = "Grüße\n".encode("utf-16")
    first = await read("a.txt", content, chars=3)
    assert first.text == "Grü"
    assert (await read("a.txt", content, **(first.more or {}))).text == "ße\n"


async def test_an_archive_is_listed_and_not_unpacked(read: Read) -> None:
    content = zipped({"../../etc/passwd": "root", "b.txt": "x" * 10})
    found = await read("a.zip", content)
    assert (found.about, [line.split()[-1] for line in found.text.splitlines()]) == (
        "ZIP archive, 2 entries",
        ["../../etc/passwd", "b.txt"],
    )
    assert "../x" in (await read("a.tgz", tarred(["../x"]))).text


async def test_a_document_is_read_by_paragraphs(read: Read) -> None:
    content = docx("Hello", "World")
    assert (await read("a.docx", content)).text == "Hello\nWorld"
    cut = await read("a.docx", content, chars=7)
    assert (cut.text, cut.more) == ("Hello\nW", {"page": 1, "after": 7})
    assert (await read("a.docx", content, after=7)).text == "orld"


async def test_a_document_cannot_multiply_itself_with_entities(read: Read) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    laughs = docx("Hello &e9;", before=f'<!DOCTYPE d [<!ENTITY e0 "ha">{entities}]>')
    assert len((await read("a.docx", laughs)).text) < 100


async def test_a_zip_bomb_ends_at_a_limit(read: Read) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("xl/_rels/workbook.xml.rels", "<Relationships/>")
        with archive.open("xl/workbook.xml", "w", force_zip64=True) as file:
            file.write(b"<workbook><sheets>")
            for _ in range(BOMB_BYTES // 10_000_000):
                file.write(b"<a>" * 3_333_333)
    found = await read("a.xlsx", out.getvalue(), kind=XLSX)
    assert found.trouble.startswith("It could not be read: ")
    assert found.text == ""


@pytest.mark.parametrize("kind", [XLSX, ZIP, GZIP, "application/pdf"])
async def test_a_damaged_file_is_told_as_one(read: Read, kind: str) -> None:
    found = await read("a", b"PK\x03\x04 this is nothing" * 50, kind=kind)
    assert found.trouble.startswith("It could not be read: it is")


async def test_a_file_of_no_known_kind_has_no_text(read: Read) -> None:
    found = await read("a.bin", b"\0" * 1000)
    assert (found.about, found.text, found.trouble) == ("binary file", "", "It has no text that can be read here.")


async def test_a_missing_file_is_told_as_one(tmp_path: Path) -> None:
    for kind in ("text/plain", "application/pdf"):
        with pytest.raises(StoredFileMissing):
            await read_excerpt(FolderBlobs(tmp_path), "0" * 64, kind, Place(10))
