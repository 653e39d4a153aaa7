"""Texts are read as they are, PDFs page by page by a bounded program of their own, images have none."""

from __future__ import annotations

from outlast.kernel.files.kinds import PDF
from outlast.kernel.files.texts import LONGER, MAX_CHARS, PAGE_BREAK, _told, read_text
from tests.pdfs import pdf

MAX_S = 60.0


async def test_a_pdf_is_read_page_by_page() -> None:
    found = await read_text(PDF, pdf("The first page", "", "The third page"), MAX_S)
    assert found.pages == 3
    assert [text.strip() for text in found.texts] == ["The first page", "", "The third page"]
    assert found.whole.count(PAGE_BREAK) == 2
    assert found.trouble is None


async def test_a_pdf_of_pictures_says_that_it_holds_no_text() -> None:
    found = await read_text(PDF, pdf("", ""), MAX_S)
    assert (found.texts, found.pages, found.failed) == ((), 2, False)
    assert "scanned" in (found.trouble or "")


async def test_a_damaged_pdf_says_so_and_harms_nobody() -> None:
    found = await read_text(PDF, b"%PDF-1.7\n" + b"\x00garbage" * 500, MAX_S)
    assert found.failed
    assert "damaged" in (found.trouble or "")


async def test_a_pdf_that_takes_too_long_is_given_up() -> None:
    found = await read_text(PDF, pdf("The first page"), 0.001)
    assert found.failed
    assert "time limit" in (found.trouble or "")


async def test_a_text_is_taken_as_it_is() -> None:
    found = await read_text("text/markdown", b"# Title\r\n\x0cText", MAX_S)
    assert found.texts == ("# Title\n\nText",)
    assert (found.pages, found.trouble) == (None, None)


async def test_an_image_has_no_text() -> None:
    assert "image" in ((await read_text("image/png", b"", MAX_S)).trouble or "")


async def test_what_cannot_be_written_as_utf_8_does_not_hide_the_pages_after_it() -> None:
    found = _told(b'{"pages": 2}\n{"text": "\\ud800 first"}\n{"text": "second"}\n', finished=True)
    assert found.texts == ("\ufffd first", "second")


async def test_a_longer_text_than_is_kept_says_so() -> None:
    found = await read_text("text/plain", b"a" * (MAX_CHARS + 1), MAX_S)
    assert len(found.whole) == MAX_CHARS
    assert found.trouble == LONGER
