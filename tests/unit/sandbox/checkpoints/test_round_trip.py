"""From a folder into blobs and back: the same files, whatever they are."""

from __future__ import annotations

import os
import shutil
import socket
import string
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.db.blobs.folder import FolderBlobs
from outlast_sandbox.checkpoints import restore as placing
from outlast_sandbox.checkpoints import safe_open as beneath
from outlast_sandbox.checkpoints.folder_save import Saved, save_folder
from outlast_sandbox.checkpoints.folder_walk import read_content, walk_folder
from outlast_sandbox.checkpoints.packs import SMALL_BYTES
from outlast_sandbox.checkpoints.restore import place_tree
from outlast_sandbox.checkpoints.safe_open import open_beneath, open_folder, walk_beneath
from outlast_sandbox.checkpoints.tree import EMPTY, Tree, decode, encode
from outlast_sandbox.errors import InputTooLarge, SandboxUnavailable, StoredFileDamaged

ROOM = 1 << 40
NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=2)
CONTENTS = st.binary(max_size=40) | st.sampled_from([b"same", b"x" * (SMALL_BYTES + 1), b"y" * SMALL_BYTES])
FILES = st.dictionaries(st.tuples(NAMES, NAMES).map("/".join), CONTENTS, max_size=6)


class Shelf:
    """Folders and blobs of one test."""

    def __init__(self, folder: Path) -> None:
        self.blobs = FolderBlobs(folder / "blobs")
        self.root = folder / "workspace"
        self.root.mkdir(parents=True)
        self.packed: dict[str, tuple[str, int]] = {}
        self.manifests: set[str] = set()

    async def locate(self, hashes: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        return {one: self.packed[one] for one in hashes if one in self.packed}

    def save(self, before: Saved | None = None) -> Saved:
        known = before or Saved(EMPTY, {})

        async def run() -> Saved:
            return await save_folder(self.root, known.tree, known.memory, self.blobs, self.locate, ROOM)

        saved = anyio.run(run)
        self.manifests.add(saved.manifest)
        return saved

    def write(self, path: str, content: bytes | str = b"x") -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def stored(self) -> int:
        """How many blobs hold contents."""
        return len({blob.name for blob in self.blobs.stored()} - self.manifests)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def content_of(root: Path) -> dict[str, object]:
    """Everything in a folder: what a restored one must equal."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        what: object = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = (oct(facts.st_mode), what)
    return found


@given(FILES, FILES)
def test_any_folder_becomes_any_other_one_and_back(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, bytes], second: dict[str, bytes]
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    for path, content in first.items():
        shelf.write(path, content)
    one, was = shelf.save(), content_of(shelf.root)
    shutil.rmtree(shelf.root)
    shelf.root.mkdir()
    for path, content in second.items():
        shelf.write(path, content)
    two, then = shelf.save(one), content_of(shelf.root)
    place_tree(shelf.root, decode(encode(one.tree)[0]), shelf.blobs)
    assert content_of(shelf.root) == was
    place_tree(shelf.root, two.tree, shelf.blobs)
    assert content_of(shelf.root) == then
    assert shelf.save().tree.same_as(two.tree)


def test_links_modes_and_empty_folders_come_back_and_others_go(shelf: Shelf) -> None:
    shelf.write("bin/run", "#!/bin/sh").chmod(0o755)
    shelf.write("secret", "s").chmod(0o600)
    (shelf.root / "empty").mkdir(mode=0o700)
    (shelf.root / "link").symlink_to("bin/run")
    (shelf.root / "out").symlink_to("/etc/passwd")
    (shelf.root / "dangling").symlink_to("nowhere")
    saved, was = shelf.save(), content_of(shelf.root)
    shutil.rmtree(shelf.root)
    shelf.write("bin")  # a file where a folder belongs
    shelf.write("link/inner/deep")  # and a folder where a link belongs
    shelf.write("extra/file")
    place_tree(shelf.root, saved.tree, shelf.blobs)
    assert content_of(shelf.root) == was


def test_sockets_and_pipes_are_left_out_and_hold_nobody_up(shelf: Shelf) -> None:
    shelf.write("file")
    os.mkfifo(shelf.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(shelf.root / "socket"))
        assert [entry.path for entry in shelf.save().tree.entries] == ["file"]


def test_a_planted_link_is_kept_as_a_link_and_never_read_through(shelf: Shelf, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("the host's own")
    (shelf.root / "folder").symlink_to(secret)
    (shelf.root / "key").symlink_to(secret / "key")
    assert {entry.kind for entry in shelf.save().tree.entries} == {"symlink"}
    root = open_folder(shelf.root)
    try:
        for opened in (open_beneath, lambda at, path, flags: walk_beneath(at, path.split("/"), flags, 0)):
            for path in ("key", "folder/key"):
                with pytest.raises(OSError, match=r"."):
                    opened(root, path, os.O_RDONLY)
        assert read_content(root, "key", 100) is None
        assert read_content(root, "folder/key", 100) is None
        for path in ("../secret/key", "/etc/passwd", "a/../key", "", "./key"):
            with pytest.raises(ValueError, match="not a path"):
                open_beneath(root, path, os.O_RDONLY)
    finally:
        os.close(root)


def test_restoring_never_writes_through_a_link_planted_in_its_way(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("folder/file", "ours")
    saved = shelf.save()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("the host's own")
    shutil.rmtree(shelf.root / "folder")
    (shelf.root / "folder").symlink_to(outside)
    place_tree(shelf.root, saved.tree, shelf.blobs)
    assert (outside / "file").read_text() == "the host's own"
    assert (shelf.root / "folder/file").read_text() == "ours"
    assert not (shelf.root / "folder").is_symlink()


def test_the_walk_without_the_kernels_help_opens_what_the_kernel_does(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("a/b/c", "deep")
    monkeypatch.setattr(beneath, "_openat2", lambda *_: None)
    assert shelf.save().tree.by_path["a/b/c"].size == 4


def test_two_hundred_new_files_are_one_blob(shelf: Shelf) -> None:
    for number in range(200):
        shelf.write(f"src/{number}.ts", f"content {number}")
    saved = shelf.save()
    assert shelf.stored() == 1
    assert len(saved.packed) == 200


def test_content_that_is_stored_already_is_not_stored_again(shelf: Shelf) -> None:
    for number in range(3):
        shelf.write(str(number), f"content {number}")
    shelf.write("large", b"z" * (SMALL_BYTES + 1))
    first = shelf.save()
    shelf.packed = dict(first.packed)
    assert shelf.stored() == 2
    (shelf.root / "large").rename(shelf.root / "moved")
    shelf.write("copy", "content 1")
    shelf.save(first)
    other = shelf.save()  # as another workspace with the same files would
    assert shelf.stored() == 2
    assert other.packed == {}


def test_a_pack_that_is_gone_is_not_relied_upon(shelf: Shelf) -> None:
    shelf.write("a", "one")
    shelf.write("b", "two")
    shelf.packed = dict(shelf.save().packed)
    for blob in list(shelf.blobs.stored()):
        assert shelf.blobs.remove_unused(blob.name, blob.used_at + 1)
    again = shelf.save()
    (shelf.root / "a").unlink()
    place_tree(shelf.root, again.tree, shelf.blobs)
    assert (shelf.root / "a").read_text() == "one"


def test_a_file_changed_behind_an_unchanged_size_and_time_is_seen(shelf: Shelf) -> None:
    path = shelf.write("a", "one")
    os.utime(path, ns=(1_000, 1_000))
    first = shelf.save()
    path.write_text("two")
    os.utime(path, ns=(1_000, 1_000))
    assert not shelf.save(first).tree.same_as(first.tree)


def test_a_damaged_blob_is_told_and_its_file_not_written(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a", "right")
    saved = shelf.save()
    (blob,) = [blob for blob in shelf.blobs.stored() if blob.name != saved.manifest]
    (tmp_path / "blobs" / blob.name[:2] / blob.name[2:]).write_text("wrong")
    (shelf.root / "a").unlink()
    with pytest.raises(StoredFileDamaged, match="damaged"):
        place_tree(shelf.root, saved.tree, shelf.blobs)
    assert os.listdir(shelf.root) == []


def test_more_than_a_checkpoint_holds_is_refused_with_the_reason(shelf: Shelf) -> None:
    with shelf.write("holes").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(InputTooLarge, match="at most 1000"):
        walk_folder(shelf.root, 1000)


def test_an_empty_tree_empties_the_folder(shelf: Shelf) -> None:
    shelf.write("a/b/c")
    place_tree(shelf.root, Tree(), shelf.blobs)
    assert os.listdir(shelf.root) == []


@pytest.mark.parametrize("times", [1, placing.PASSES])
def test_a_folder_that_code_moves_away_while_it_is_restored_is_made_again_or_said_to_keep_changing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    shelf.write("real/key", "ours")
    saved = shelf.save()
    moves = iter(range(times))

    def moving(root: int, path: str, flags: int, mode: int = 0) -> int:
        if path == "real" and next(moves, None) is not None:
            shutil.rmtree(shelf.root / "real")
            (shelf.root / "real").symlink_to("/")
        return open_beneath(root, path, flags, mode)

    monkeypatch.setattr(placing, "open_beneath", moving)
    if times == 1:
        place_tree(shelf.root, saved.tree, shelf.blobs)
        assert (shelf.root / "real" / "key").read_text() == "ours"
    else:
        with pytest.raises(SandboxUnavailable, match="keep changing"):
            place_tree(shelf.root, saved.tree, shelf.blobs)
