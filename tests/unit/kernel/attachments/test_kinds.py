"""Kinds of files, found from their content."""

from __future__ import annotations

import struct

import pytest

from outlast.kernel.attachments.kinds import (
    DOCX,
    GZIP,
    LOOKED_AT,
    ODS,
    SVG,
    TAR,
    UNKNOWN,
    XLSX,
    ZIP,
    image_of,
    media_type_of,
)
from outlast.kernel.attachments.rules import MAX_PIXELS
from tests.office_files import docx, tarred, xlsx, zipped
from tests.pdfs import pdf
from tests.unit.base.test_image_formats import PNG


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.exe", pdf("Hello"), "application/pdf"),
        ("a.pdf", b"a,b\n1,2\n", "text/plain"),
        ("a.CSV", b"a,b\n1,2\n", "text/csv"),
        ("notes.md", "Grüße".encode(), "text/markdown"),
        ("a.txt", b"\xff\xfea\x00", "text/plain"),
        ("a.txt", PNG, "image/png"),
        ("a.zip", xlsx({"One": [["a"]]}), XLSX),
        ("a.zip", docx("Hello"), DOCX),
        ("a.xlsx", zipped({"readme.txt": "hi"}), ZIP),
        ("a.xlsx", zipped({"mimetype": ""}), ZIP),
        ("a.tgz", tarred(["a"]), GZIP),
        ("a.csv", b"\0" * 1000, UNKNOWN),
        ("a.csv", b"caf\xe9", UNKNOWN),
        ("a.csv", b"", UNKNOWN),
        ("a.png", b"\x89PNG\r\n\x1a\n", UNKNOWN),
        ("a.txt", b"<svg xmlns='http://www.w3.org/2000/svg'/>", SVG),
        ("a.svg", b'<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg PUBLIC "x" "y">\n<svg>', SVG),
        ("a.svg", b"<html><svg></svg></html>", "text/plain"),
        ("a.svg", b"<svgother>", "text/plain"),
    ],
)
def test_the_content_decides_and_the_name_only_tells_texts_apart(name: str, content: bytes, kind: str) -> None:
    assert media_type_of(name, content, content) == kind


def test_an_office_file_is_known_by_its_directory_if_it_begins_with_other_parts() -> None:
    content = zipped({"docProps/app.xml": "x", "xl/workbook.xml": "y"})
    assert media_type_of("a", b"PK\x03\x04" + b"\1" * LOOKED_AT, content) == XLSX


def test_an_opendocument_names_its_kind_itself() -> None:
    name, kind = b"mimetype", ODS.encode()
    head = b"PK\x03\x04" + bytes(14) + struct.pack("<IIHH", len(kind), len(kind), len(name), 0) + name + kind + b"PK"
    assert media_type_of("a", head, head) == ODS


def test_a_tar_archive_is_known_by_its_mark() -> None:
    assert media_type_of("a", b"a.txt".ljust(257, b"\0") + b"ustar", b"") == TAR


def test_a_text_that_is_cut_within_a_character_is_a_text() -> None:
    content = b"x" * (LOOKED_AT - 1) + "ü".encode() * 10
    assert media_type_of("a.csv", content, content) == "text/csv"


@pytest.mark.parametrize("size", [(60_000, 60_000), (2**32 - 1, 1)])
def test_a_small_file_that_unfolds_into_a_huge_image_is_not_shown_as_one(size: tuple[int, int]) -> None:
    bomb = PNG[:16] + struct.pack(">II", *size) + PNG[24:]
    assert image_of(PNG, MAX_PIXELS) is not None
    assert image_of(bomb, MAX_PIXELS) is None
