"""The answer about a run's changes stays within its bounds."""

import hashlib
from pathlib import Path

import pytest

from outlast.apps.screens import file_actions
from outlast.apps.screens.file_actions import with_texts
from outlast.db.blobs.folder import FolderBlobs
from outlast_sandbox.checkpoints.tree import Entry
from outlast_sandbox.checkpoints.tree_diff import Change


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path)


def entry(blobs: FolderBlobs, path: str, text: str) -> Entry:
    content = text.encode()
    return Entry(
        path, "file", 0o644, size=len(content), sha256=hashlib.sha256(content).hexdigest(), blob=blobs.put(content)
    )


def test_the_texts_of_an_answer_take_no_more_bytes_than_it_may(
    blobs: FolderBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Characters were counted, which take up to four bytes, and both texts of a file had the same remainder."""
    monkeypatch.setattr(file_actions, "MAX_TEXT_BYTES", 1_000)
    old, new = entry(blobs, "a.txt", "ä" * 300), entry(blobs, "a.txt", "ö" * 300)
    changes = [Change("a.txt", old, new), Change("b.txt", None, entry(blobs, "b.txt", "b" * 300))]
    first, second = with_texts(blobs, changes)
    assert (first.before, first.after, second.after) == ("ä" * 300, None, "b" * 300)
    assert (first.before_bytes, first.after_bytes) == (600, 600)
