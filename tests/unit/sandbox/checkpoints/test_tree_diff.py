"""What changed between two trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.checkpoints.tree import EMPTY, Entry, Tree
from outlast_sandbox.checkpoints.tree_diff import below, changes, text_difference


def file(path: str, content: str = "a", mode: int = 0o644) -> Entry:
    return Entry(path, "file", mode, 1, 0, content * 64, content * 64)


def folder(path: str) -> Entry:
    return Entry(path, "directory", 0o755)


FLAT = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("0123"), max_size=6).map(
    lambda content: Tree.of(file(path, one) for path, one in content.items())
)


@given(FLAT, FLAT)
def test_applying_the_changes_to_the_one_gives_the_other(before: Tree, after: Tree) -> None:
    result = dict(before.by_path)
    for change in changes(before, after):
        if change.after is None:
            del result[change.path]
        else:
            result[change.path] = change.after
    assert Tree.of(result.values()) == after


@given(FLAT, FLAT)
def test_looking_the_other_way_turns_added_and_removed_round(before: Tree, after: Tree) -> None:
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    there = [(change.path, turned[change.kind]) for change in changes(before, after)]
    assert there == [(change.path, change.kind) for change in changes(after, before)]


def test_a_folder_that_came_with_its_files_is_not_told_apart_from_them() -> None:
    after = Tree.of([folder("src"), file("src/a"), folder("empty")])
    assert [change.path for change in changes(EMPTY, after)] == ["empty", "src/a"]


def test_a_changed_mode_is_a_change() -> None:
    before, after = Tree.of([file("run.sh")]), Tree.of([file("run.sh", mode=0o755)])
    assert [change.kind for change in changes(before, after)] == ["changed"]


def test_the_difference_of_two_texts_names_both_sides() -> None:
    difference = text_difference("a.txt", b"one\ntwo\n", b"one\n2\n")
    assert difference is not None
    assert difference.splitlines() == ["--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+2"]
    added = text_difference("a.txt", None, b"one\n")
    assert added is not None
    assert added.startswith("--- /dev/null\n+++ b/a.txt")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b", b"x" * 300_000, b"\n" * 6_000])
def test_what_nobody_can_read_has_no_written_out_difference(content: bytes) -> None:
    assert text_difference("a", b"", content) is None


def test_what_lies_below_a_folder_is_found_without_its_namesakes() -> None:
    tree = Tree.of([folder("src"), file("src/a"), file("src-b"), file("srcs")])
    assert [entry.path for entry in below(tree, "src")] == ["src/a"]
    assert [entry.path for entry in below(tree, "src/")] == ["src/a"]
    assert len(below(tree, "")) == 4
