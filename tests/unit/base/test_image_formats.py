"""Images are recognised by their bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.image_formats import Image, recognise
from tests.steps import steps_of

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\x00\x00\x00"
GIF = b"GIF89a" + struct.pack("<HH", 320, 200) + b"\x00\x00\x00"
_JFIF = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\x00" + bytes(9)
_TABLE_AFTER_A_FILL_BYTE = b"\xff\xff\xdb" + struct.pack(">H", 5) + bytes(3)
_FRAME = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, 600, 800) + bytes(10)
JPEG = b"\xff\xd8" + _JFIF + _TABLE_AFTER_A_FILL_BYTE + _FRAME
WEBP_LOSSY = b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 100, 50)
WEBP_LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", 99 | 49 << 14)
WEBP_EXTENDED = (
    b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"
    + (1999).to_bytes(3, "little")
    + (999).to_bytes(3, "little")
)
SAMPLES = [PNG, GIF, JPEG, WEBP_LOSSY, WEBP_LOSSLESS, WEBP_EXTENDED]


@pytest.mark.parametrize(
    ("content", "image"),
    [
        (PNG, Image("image/png", 640, 480)),
        (GIF, Image("image/gif", 320, 200)),
        (JPEG, Image("image/jpeg", 800, 600)),
        (WEBP_LOSSY, Image("image/webp", 100, 50)),
        (WEBP_LOSSLESS, Image("image/webp", 100, 50)),
        (WEBP_EXTENDED, Image("image/webp", 2000, 1000)),
    ],
)
def test_the_four_formats_are_recognised_with_their_size(content: bytes, image: Image) -> None:
    assert recognise(content) == image


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xffx",
    ],
)
def test_anything_else_is_none(content: bytes) -> None:
    assert recognise(content) is None


@given(st.sampled_from(SAMPLES), st.integers(0, 60), st.binary(max_size=40))
def test_broken_headers_are_survived(sample: bytes, cut: int, rest: bytes) -> None:
    recognise(sample[:cut] + rest)


def test_a_picture_without_area_is_none() -> None:
    assert recognise(b"GIF89a" + struct.pack("<HH", 0, 200)) is None


@pytest.mark.parametrize(
    "motif",
    [b"\xff", b"\xff\x01", b"\xff\xd0", b"\xff\xe0\x00\x02", b"\xff\xff\xff\xff\xff\xfe\x00\x02",
     b"\xff\xe1\x00\x09abcdefg"],
)  # fmt: skip
def test_the_headers_of_a_large_jpeg_take_a_bounded_number_of_steps(motif: bytes) -> None:
    """Eight megabytes of fill bytes, uploaded as a JPEG, were walked one by one: the server stood still for seconds."""
    content = b"\xff\xd8\xff\xe0\x00\x10" + bytes(14) + (motif * 2_000_000)[:8_000_000]
    assert steps_of(lambda: recognise(content)) < 16 * 16_384 + 200


def test_a_jpeg_with_large_segments_before_its_frame_is_recognised() -> None:
    colours = b"\xff\xe2\xff\xff" + bytes(65_533)
    assert recognise(b"\xff\xd8" + colours * 100 + _FRAME) == Image("image/jpeg", 800, 600)


@given(
    st.lists(st.sampled_from([b"\xff", b"\x00", b"\xe0", b"\x01", b"\xd0", b"\x02", b"\xda"]), max_size=8).map(b"".join)
)
def test_the_steps_for_any_repeated_bytes_stay_bounded(motif: bytes) -> None:
    content = b"\xff\xd8\xff" + motif * 20_000
    assert steps_of(lambda: recognise(content)) < 16 * 16_384 + 200
