"""Which images can be attached."""

from __future__ import annotations

import struct

import pytest

from outlast.base.errors import InputTooLarge, MalformedInput
from outlast.kernel.attachments.rules import checked_image
from outlast.kernel.files.kinds import file_name
from tests.unit.base.test_image_formats import PNG


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(MalformedInput, match="not a supported image"):
        checked_image(b"%PDF-1.7", 1000)


def test_a_large_image_is_refused_with_its_size() -> None:
    with pytest.raises(InputTooLarge, match="29 bytes; at most 10"):
        checked_image(PNG, 10)


@pytest.mark.parametrize("size", [(60_000, 60_000), (2**32 - 1, 1)])
def test_a_small_file_that_unfolds_into_a_huge_image_is_refused(size: tuple[int, int]) -> None:
    bomb = PNG[:16] + struct.pack(">II", *size) + PNG[24:]
    with pytest.raises(InputTooLarge):
        checked_image(bomb, 1000)


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\me\\cat.png", "cat.png"),
        ("a\nb\x00.png", "ab.png"),
        ("", "image"),
        ("x" * 300, "x" * 120),
    ],
)
def test_a_file_name_is_only_a_name(given_name: str, kept: str) -> None:
    assert file_name(given_name, 120, "image") == kept
