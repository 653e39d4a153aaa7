"""What a folder takes on disk, however code inside has tried to hide it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from outlast_sandbox.disk_walk import DiskUse, measure

ANY = DiskUse(1 << 60, 1 << 60)


def deep(top: Path, levels: int) -> int:
    """Folders in folders, far beyond the longest path; a descriptor of the deepest."""
    fd = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


def remove_deep(top: Path) -> None:
    """`rm` handles any depth."""
    assert shutil.which("rm")
    os.spawnlp(os.P_WAIT, "rm", "rm", "-rf", str(top))


def test_bytes_and_entries_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b").write_bytes(b"x" * 50_000)
    used = measure([tmp_path], ANY)
    assert used.entries == 3
    assert 150_000 <= used.bytes <= 250_000


def test_files_below_five_thousand_folders_are_found_with_few_descriptors(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    fd = deep(top, 5_000)
    try:
        with os.fdopen(os.open("big", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "wb") as file:
            file.write(b"x" * 1_000_000)
        before = len(os.listdir("/proc/self/fd"))
        used = measure([top], ANY)
        assert used.entries == 5_001
        assert used.bytes >= 1_000_000
        assert len(os.listdir("/proc/self/fd")) <= before
    finally:
        os.close(fd)
        remove_deep(top)


def test_it_stops_soon_after_too_much_was_found(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / str(number)).touch()
    assert measure([tmp_path], DiskUse(1 << 60, 100)).entries == 101


def test_a_file_with_several_names_counts_once_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1_000_000)
    for number in range(10):
        os.link(tmp_path / "a", tmp_path / f"link{number}")
    used = measure([tmp_path], ANY)
    assert used.bytes < 1_100_000
    assert used.entries == 11


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "big").write_bytes(b"x" * 1_000_000)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "outside")
    assert measure([inside], ANY).bytes < 100_000


def test_what_was_deleted_but_is_held_open_counts(tmp_path: Path) -> None:
    with (tmp_path / "gone").open("wb") as file:
        file.write(b"x" * 1_000_000)
        file.flush()
        os.unlink(tmp_path / "gone")
        assert measure([tmp_path], ANY).bytes < 100_000
        assert measure([tmp_path], ANY, [os.getpid()]).bytes >= 1_000_000


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_folder_counts_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert measure([tmp_path / name], ANY) == DiskUse()
