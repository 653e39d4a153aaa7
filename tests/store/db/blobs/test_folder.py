"""Files by what is in them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from outlast.base.errors import DiskFull, NotFound
from outlast.db.blobs.folder import FolderBlobs


def test_what_was_stored_is_given_back_under_its_hash(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    name = blobs.put(b"hello")
    assert name == hashlib.sha256(b"hello").hexdigest()
    assert blobs.put(b"hello") == name
    assert blobs.get(name) == b"hello"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_what_was_never_stored_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        FolderBlobs(tmp_path).get("0" * 64)


def test_a_folder_that_takes_nothing_is_told_as_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file where the folder should be")
    with pytest.raises(DiskFull):
        FolderBlobs(tmp_path / "blobs").put(b"hello")
    assert (tmp_path / "blobs").is_file()
