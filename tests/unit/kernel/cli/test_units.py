"""Lengths of time and amounts of bytes in one unit each."""

from __future__ import annotations

import pytest

from outlast.kernel.cli.units import format_bytes, format_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (59, "59 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_a_span_is_told_in_its_largest_fitting_unit(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(None, None), (0, "0 B"), (1023, "1023 B"), (2048, "2 KiB"), (5 << 20, "5 MiB"), (3 << 29, "1.5 GiB")],
)
def test_an_amount_is_told_in_its_largest_fitting_unit(size_bytes: int | None, text: str | None) -> None:
    assert format_bytes(size_bytes) == text
