"""What a file is, its bytes say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import MalformedInput
from outlast.kernel.files.kinds import NAME_CHARS, decoded, file_name, kind_of
from tests.pdfs import pdf

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (3).to_bytes(4, "big") + (2).to_bytes(4, "big") + b"\x08\x06\x00\x00\x00"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", b"# Title", "text/markdown"),
        ("a.txt", b"plain", "text/plain"),
        ("a.py", b"print(1)", "text/plain"),
        ("a.csv", b"a,b", "text/csv"),
        ("a.svg", b"<svg onload='alert(1)'/>", "text/plain"),
        ("a.html", b"<p>Hello", "text/html"),
        ("a.png", b"no image at all", "text/plain"),
        ("a.txt", pdf("Hello"), "application/pdf"),
        ("a.pdf", PNG, "image/png"),
        ("a.txt", "grüße".encode("utf-16"), "text/plain"),
    ],
)
def test_the_content_decides_and_the_name_only_tells_texts_apart(name: str, content: bytes, expected: str) -> None:
    assert kind_of(name, content).media_type == expected


def test_an_image_comes_with_its_size() -> None:
    image = kind_of("a.png", PNG).image
    assert image is not None
    assert (image.width, image.height) == (3, 2)


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"MZ\x90\x00", b"PK\x03\x04\x14\x00", b"\xff\xfe\xfd"[1:]])
def test_what_is_none_of_them_is_refused_with_what_would_do(content: bytes) -> None:
    with pytest.raises(MalformedInput) as refused:
        kind_of("a.bin", content)
    assert "Upload" in refused.value.hint


@given(st.text())
def test_every_text_is_read_back(text: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\x00", "")
    assert decoded(text.encode("utf-8", "replace")) == plain.encode("utf-8", "replace").decode()


@given(st.text(max_size=400))
def test_a_file_name_is_one_printable_line_without_folders(name: str) -> None:
    shown = file_name(name)
    assert 0 < len(shown) <= NAME_CHARS
    assert "/" not in shown
    assert "\\" not in shown
    assert shown.isprintable()


def test_a_long_name_keeps_its_ending() -> None:
    assert file_name("a" * 500 + ".pdf").endswith("a.pdf")
