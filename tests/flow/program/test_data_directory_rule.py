"""Commands that open the database say which one, and never make one in a place that nobody named."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.kernel.cli.exits import Exit
from tests.flow.program.test_cli import outlast

READERS = (
    ("tokens", "create"),
    ("tokens", "create", "--new-user", "Grace", "--plan", "pro"),
    ("tokens", "list"),
    ("tokens", "revoke", "tok_none"),
    ("search", "rebuild"),
    ("snapshots", "list"),
)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_data_directory_that_does_not_exist_is_refused_and_not_made(
    words: tuple[str, ...], empty_folder: Path
) -> None:
    refused = outlast(*words)
    assert refused.returncode == Exit.REFUSED_TO_START
    assert f"There is no Outlast data directory at {empty_folder / 'outlast-data'}." in refused.stderr
    assert "Pass --data-dir or --config." in refused.stderr
    assert refused.stdout == ""
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize("words", READERS[2:5], ids=" ".join)
def test_a_folder_without_a_database_gets_none(words: tuple[str, ...], empty_folder: Path) -> None:
    (empty_folder / "here").mkdir()
    refused = outlast(*words, "--data-dir", "here")
    assert refused.returncode == Exit.REFUSED_TO_START
    assert "There is no Outlast database at" in refused.stderr
    assert list((empty_folder / "here").iterdir()) == []


def test_the_first_token_may_come_before_the_first_start_where_the_place_is_named(empty_folder: Path) -> None:
    made = outlast("tokens", "create", "--data-dir", "here")
    assert made.returncode == Exit.OK, made.stderr
    assert made.stdout.startswith("ol_")
    assert f"Database: {empty_folder / 'here' / 'outlast.db'}" in made.stderr


def test_the_database_that_was_opened_is_named_apart_from_the_result(empty_folder: Path) -> None:
    outlast("migrate", "--data-dir", "here")
    told = outlast("rebuild-search", "--data-dir", "here")
    assert "entries" in told.stdout
    assert "Database:" not in told.stdout
    assert f"Database: {empty_folder / 'here' / 'outlast.db'}" in told.stderr


def test_the_doctor_looks_and_makes_nothing(empty_folder: Path) -> None:
    told = outlast("doctor")
    assert "none yet" in told.stdout
    assert list(empty_folder.iterdir()) == []
