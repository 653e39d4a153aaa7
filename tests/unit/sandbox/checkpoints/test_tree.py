"""What a checkpoint holds, written down and read back."""

from __future__ import annotations

import json
import os
import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.checkpoints.tree import FEW, MANY, Entry, Tree, decode, encode, header
from outlast_sandbox.errors import StoredFileDamaged

NAMES = st.text(string.ascii_letters + " é☃\n\"'\\", min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
) | st.binary(min_size=1, max_size=4).map(lambda raw: os.fsdecode(raw.replace(b"\0", b"a").replace(b"/", b"b")))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)


@st.composite
def entries(draw: st.DrawFn, path: str) -> Entry:
    mode, moment = draw(st.integers(0, 0o777)), draw(st.integers(0, 2**41))
    kind = draw(st.sampled_from(["file", "directory", "symlink"]))
    if kind == "directory":
        return Entry(path, "directory", mode, 0, moment)
    if kind == "symlink":
        target = draw(NAMES)
        return Entry(path, "symlink", mode, len(target), moment, target=target)
    size = draw(st.integers(0, 2**40))
    place = (draw(HASHES), draw(st.integers(0, 2**40))) if size else ("", 0)
    return Entry(path, "file", mode, size, moment, draw(HASHES), *place)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    return Tree.of([draw(entries(path)) for path in draw(st.sets(PATHS, max_size=8))])


def whole(tree: Tree) -> bytes:
    manifest, base = encode(tree)
    assert base is None
    return manifest


@given(trees())
def test_a_tree_is_read_back_as_it_was_written(tree: Tree) -> None:
    manifest = whole(tree)
    assert decode(manifest) == tree
    assert whole(decode(manifest)) == manifest


@given(trees())
def test_the_first_line_alone_tells_the_sums_and_what_is_needed(tree: Tree) -> None:
    first = header(whole(tree).split(b"\n", 1)[0])
    assert (first.files, first.size_bytes) == (tree.files, tree.size_bytes)
    assert set(first.blobs) == {entry.blob for entry in tree.entries if entry.blob}


@given(trees(), st.data())
def test_a_manifest_that_was_cut_is_never_read_as_a_whole_one(tree: Tree, data: st.DataObject) -> None:
    manifest = whole(tree)
    cut = manifest[: data.draw(st.integers(0, len(manifest) - 2))]
    with pytest.raises(StoredFileDamaged):
        decode(cut)


@given(st.integers(0, MANY), st.integers(0, MANY), st.integers(0, MANY))
def test_of_many_entries_only_those_that_differ_are_written(changed: int, removed: int, added: int) -> None:
    files = [Entry(f"{number:04}", "file", 0o644, 1, 0, "a" * 64, "b" * 64) for number in range(2 * MANY)]
    base = replace(Tree.of(files), name="e" * 64)
    others = [entry._replace(mtime_ms=5, blob="c" * 64) for entry in files[removed : removed + changed]]
    news = [entry._replace(path=f"new/{entry.path}") for entry in files[:added]]
    tree = Tree.of([*others, *files[removed + changed :], *news])
    manifest, against = encode(tree, base)
    few = (removed + len(others) + added) * FEW <= len(tree.entries) and len(tree.entries) >= MANY
    assert (against is base) == few
    again = decode(manifest, {base.name: base}.__getitem__)
    assert again == tree
    assert again.base is against
    head = header(manifest)
    assert (head.files, head.base) == (len(tree.entries), base.name if few else "")
    if few:
        assert len(json.loads(manifest.split(b"\n")[1])) == len(others) + added


def test_a_manifest_without_its_base_is_never_read_as_a_whole_one() -> None:
    files = [Entry(f"{number:04}", "file", 0o644) for number in range(MANY)]
    base = replace(Tree.of(files), name="e" * 64)
    manifest, _ = encode(Tree.of([*files[1:], Entry("new", "file", 0o644)]), base)
    with pytest.raises(StoredFileDamaged):
        decode(manifest)


def test_the_time_of_a_file_and_where_it_is_stored_are_no_difference() -> None:
    one = Entry("a", "file", 0o644, 1, 5, "f" * 64, "0" * 64, 7)
    assert one.same_as(one._replace(mtime_ms=9, blob="1" * 64, offset=0))
    assert not one.same_as(one._replace(mode=0o755))
    assert not one.same_as(one._replace(sha256="e" * 64))
