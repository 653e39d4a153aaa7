"""A workspace's folder goes as a whole, and nothing else goes with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast_sandbox.folders import discard_folder, each_folder, remove_folder, remove_tree

DEEP = 20_000


def closed_tree(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (folder / "out").symlink_to(tmp_path / "outside")
    for path in (inner, inner.parent, folder):
        path.chmod(0)
    return folder


def test_closed_folders_are_removed_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    folder = closed_tree(tmp_path)
    remove_folder(folder)
    remove_folder(folder)
    assert not folder.exists()
    assert (tmp_path / "outside" / "kept").read_text() == "kept"


def nested(folder: Path, depth: int) -> None:
    """Folders in each other, deeper than a path can name, with a file and a link in the deepest."""
    folder.mkdir(parents=True)
    current = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=current)
        below = os.open("d", os.O_RDONLY, dir_fd=current)
        os.close(current)
        current = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=current))
    os.symlink("/", "link", dir_fd=current)
    os.close(current)


def test_folders_nested_twenty_thousand_deep_are_removed(tmp_path: Path) -> None:
    """A sandbox needs a second to make them, and `shutil.rmtree` raised `RecursionError`, which ended the server."""
    nested(tmp_path / "workspace", DEEP)
    nested(tmp_path / "workspace" / "beside", 1_200)
    remove_folder(tmp_path / "workspace")
    assert list(tmp_path.iterdir()) == []


def test_folders_nested_twenty_thousand_deep_are_walked(tmp_path: Path) -> None:
    nested(tmp_path / "workspace", DEEP)
    top = os.open(tmp_path / "workspace", os.O_RDONLY)
    try:
        assert sum(1 for _ in each_folder(top)) == DEEP + 1
        names = [os.listdir(folder) for folder in each_folder(top)]
    finally:
        os.close(top)
    assert sorted(names[-1]) == ["file", "link"]
    discard_folder(tmp_path / "workspace")


def test_a_removal_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    """Folders were moved up under names that the next removal would give too."""
    folder = tmp_path / "workspace"
    (folder / ".removed-0" / "a" / "b").mkdir(parents=True)
    (folder / ".removed-1").mkdir()
    (folder / "c" / ".removed-0" / ".removed-1").mkdir(parents=True)
    remove_folder(folder)
    assert not folder.exists()


def test_names_that_are_no_text_are_removed(tmp_path: Path) -> None:
    os.makedirs(os.fsencode(tmp_path) + b"/workspace/\xff/\xfe\n")
    remove_folder(tmp_path / "workspace")
    assert list(tmp_path.iterdir()) == []


def test_a_tree_is_removed_below_an_open_folder_and_a_link_in_its_place_too(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "tree" / "a").mkdir(parents=True)
    top = os.open(tmp_path, os.O_RDONLY)
    try:
        for name in ("tree", "link", "nothing"):
            remove_tree(name, dir_fd=top)
    finally:
        os.close(top)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user to try it")
def test_a_server_that_is_not_root_can_do_it_too(tmp_path: Path) -> None:
    folder = closed_tree(tmp_path)
    for path in (tmp_path, *folder.rglob("*"), folder):
        if not path.is_symlink():
            os.chown(path, 65534, 65534)
    child = os.fork()
    if child == 0:
        try:
            os.chdir(tmp_path)
            os.setuid(65534)
            remove_folder(Path("workspace"))
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert not folder.exists()
