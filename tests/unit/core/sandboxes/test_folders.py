"""A workspace's folder goes as a whole, and nothing else goes with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast.core.sandboxes.folders import remove_folder


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
