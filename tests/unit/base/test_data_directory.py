"""The folder that one server owns."""

import os
import stat
from pathlib import Path

import pytest

from outlast.base.data_directory import data_directory, held, node_of
from outlast.base.errors import DataDirectoryInUse, StartRefused


def test_a_missing_folder_is_made_and_closed_to_others(tmp_path: Path):
    folder = data_directory(str(tmp_path / "a" / "b"))
    assert folder.is_dir()
    assert not stat.S_IMODE(folder.stat().st_mode) & 0o007


def test_a_file_in_the_way_is_refused_with_what_to_do(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StartRefused) as caught:
        data_directory(str(tmp_path / "file"))
    assert "--data-dir" in caught.value.hint


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path: Path):
    with held(tmp_path), pytest.raises(DataDirectoryInUse) as caught, held(tmp_path):
        pass
    assert caught.value.fields["pid"] == str(os.getpid())


def test_the_next_owner_learns_whether_the_last_one_let_go_in_good_order(tmp_path: Path):
    with held(tmp_path) as was_clean:
        assert was_clean
    (tmp_path / "lock").write_text("1\n")  # as a process that is killed leaves it
    with held(tmp_path) as was_clean:
        assert not was_clean


def test_the_folder_is_free_once_it_is_let_go(tmp_path: Path):
    for _ in range(2):
        with held(tmp_path):
            pass


def test_a_machine_keeps_its_id(tmp_path: Path):
    first = node_of(tmp_path)
    assert first.startswith("nod_")
    assert node_of(tmp_path) == first
