"""How much disk a workspace takes."""

from __future__ import annotations

from pathlib import Path

from outlast.testing.clock import ManualClock
from outlast_sandbox.recent_disk_usage import FRESH_S, DiskUsage, disk_bytes


def test_files_count_with_those_in_folders_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x" * 5_000_000)
    folder = tmp_path / "workspace"
    (folder / "deep").mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * 100_000)
    (folder / "deep" / "b").write_bytes(b"x" * 200_000)
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    used = disk_bytes(folder)
    assert used is not None
    assert 300_000 <= used < 1_000_000


def test_a_folder_that_is_not_there_takes_nothing_that_could_be_said(tmp_path: Path) -> None:
    assert disk_bytes(tmp_path / "none") is None


def test_only_so_many_files_are_looked_at(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").write_bytes(b"x" * 4096)
    assert (disk_bytes(tmp_path, most_entries=60) or 0) < (disk_bytes(tmp_path) or 0)


async def test_what_was_measured_is_shown_for_some_seconds(tmp_path: Path) -> None:
    clock = ManualClock()
    usage = DiskUsage(clock)
    first = await usage.of(tmp_path)
    (tmp_path / "more").write_bytes(b"x" * 100_000)
    assert await usage.of(tmp_path) == first
    clock.advance(FRESH_S + 1)
    assert (await usage.of(tmp_path) or 0) >= (first or 0) + 100_000
