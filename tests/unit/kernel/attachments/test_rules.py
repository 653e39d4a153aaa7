"""Pieces of uploads, and names of files."""

from __future__ import annotations

import pytest

from outlast.base.errors import Conflict, InputTooLarge, MalformedInput, OutlastError
from outlast.kernel.attachments.rules import MAX_PIECE_BYTES, NAME_BYTES, check_piece, name_in_workspace
from outlast.kernel.files.kinds import file_name


@pytest.mark.parametrize(
    ("size", "received", "offset", "count"),
    [(10, 0, 0, 10), (200_000, 0, 0, 65_536), (200_000, 65_536, 65_536, 134_464), (200_000, 199_999, 199_999, 1)],
)
def test_a_piece_continues_where_the_last_one_ended(size: int, received: int, offset: int, count: int) -> None:
    check_piece(size, received, offset, count)


@pytest.mark.parametrize(
    ("size", "received", "offset", "count", "error"),
    [
        (200_000, 65_536, 0, 65_536, Conflict),
        (200_000, 0, 65_536, 65_536, Conflict),
        (10, 0, 0, 11, InputTooLarge),
        (10**9, 0, 0, MAX_PIECE_BYTES + 1, InputTooLarge),
        (200_000, 0, 0, 65_535, MalformedInput),
        (10, 0, 0, 0, MalformedInput),
        (10, 10, 10, 0, MalformedInput),
        (10, 10, 10, 1, InputTooLarge),
    ],
)
def test_other_pieces_are_refused(size: int, received: int, offset: int, count: int, error: type[OutlastError]) -> None:
    with pytest.raises(error):
        check_piece(size, received, offset, count)


def test_a_wrong_offset_is_answered_with_the_right_one() -> None:
    with pytest.raises(Conflict) as refused:
        check_piece(200_000, 65_536, 0, 65_536)
    assert refused.value.fields["offset"] == 65_536


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("sales 2026.csv", "sales 2026.csv"),
        ("Umsätze.xlsx", "Umsätze.xlsx"),
        ("..", "file"),
        (".bashrc", "bashrc"),
        ("$(rm -rf x);`y`.txt", "_(rm -rf x)__y_.txt"),
        ("a/b\\c", "a_b_c"),
        ("", "file"),
    ],
)
def test_a_name_in_a_workspace_is_harmless(name: str, made: str) -> None:
    assert name_in_workspace(name, ()) == made


def test_names_in_a_workspace_differ_also_in_upper_and_lower_case() -> None:
    assert name_in_workspace("Report.csv", {"report.csv", "report-2.csv"}) == "Report-3.csv"


def test_a_long_name_fits_into_a_file_system() -> None:
    made = name_in_workspace("ü" * 300 + ".csv", {"ü" * 88 + ".csv"})
    assert made.endswith("-2.csv")
    assert len(made.encode()) <= NAME_BYTES


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
