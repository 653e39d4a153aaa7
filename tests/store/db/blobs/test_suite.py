"""What every store of blobs does: one suite for the folder and the bucket."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from outlast.base.errors import NotFound
from outlast.db.blobs.port import Blobs
from outlast.db.blobs.stores import open_blobs
from outlast.db.database import Database

Open = Callable[[str], Blobs]  # of one node: each has a data directory, and all the same blobs
KINDS = ["folder", "bucket"]


@pytest.fixture(params=KINDS)
def open_node(request: pytest.FixtureRequest, db: Database, tmp_path: Path) -> Iterator[Open]:
    url = request.getfixturevalue("bucket_url") if request.param == "bucket" else str(tmp_path / "shared")
    opened: list[Blobs] = []

    def open_one(name: str) -> Blobs:
        (tmp_path / name).mkdir(exist_ok=True)
        opened.append(open_blobs(url, tmp_path / name, db, cache_mb=1))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
async def blobs(open_node: Open) -> Blobs:
    return open_node("one")


async def test_what_was_stored_is_given_back_under_its_hash(blobs: Blobs) -> None:
    name = blobs.put(b"hello")
    assert name == hashlib.sha256(b"hello").hexdigest()
    assert blobs.put(b"hello") == name
    assert blobs.get(name) == b"hello"
    assert [(one.name, one.size_bytes) for one in blobs.stored()] == [(name, 5)]


async def test_an_empty_content_is_stored_like_any_other(blobs: Blobs) -> None:
    assert blobs.get(blobs.put(b"")) == b""


async def test_what_was_never_stored_is_not_found(blobs: Blobs) -> None:
    for read in (blobs.get, lambda name: blobs.read(name, 3, 4), blobs.lend):
        with pytest.raises(NotFound):
            read("0" * 64)
    assert not blobs.keep("0" * 64)


async def test_several_contents_are_stored_at_once_and_named_in_order(blobs: Blobs) -> None:
    contents = [b"one", b"two", b"one", b"three"]
    names = blobs.put_all(contents)
    assert [blobs.get(name) for name in names] == contents
    assert len(list(blobs.stored())) == 3
    assert blobs.put_all([]) == []


@pytest.mark.parametrize("size", [10, 900_000], ids=["small", "larger than what is cached"])
async def test_a_range_of_the_content_is_read_and_ends_with_it(blobs: Blobs, size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    name = blobs.put(content)
    for _ in range(2):
        assert blobs.read(name, 2, 5) == content[2:7]
        assert blobs.read(name, size - 3, 100) == content[-3:]
        assert blobs.read(name, size, 100) == b""
        assert blobs.read(name, 4, None) == content[4:]
        assert blobs.read(name, 4, 0) == b""


async def test_pieces_are_one_content_and_an_error_between_them_leaves_nothing(blobs: Blobs) -> None:
    name, size = blobs.put_pieces(iter([b"one", b"", b"two"]))
    assert (blobs.get(name), size) == (b"onetwo", 6)

    def broken() -> Iterator[bytes]:
        yield b"never"
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        blobs.put_pieces(broken())
    assert len(list(blobs.stored())) == 1


async def test_a_lent_file_has_the_content_until_it_is_given_back(blobs: Blobs) -> None:
    for content in (b"small", b"large" * 200_000):
        name = blobs.put(content)
        with blobs.lend(name) as path:
            assert path.read_bytes() == content
        assert blobs.get(name) == content


async def test_only_what_was_not_used_since_is_removed(blobs: Blobs) -> None:
    old, kept = blobs.put_all([b"old", b"kept"])
    between = blobs.now() + 0.02  # the clock of files moves in steps
    while blobs.now() <= between + 0.02:
        pass
    assert blobs.keep(kept)
    assert {one.name for one in blobs.unused_since(between)} == {old}
    assert not blobs.remove_unused(kept, between)
    assert blobs.remove_unused(old, between)
    assert not blobs.remove_unused(old, between)
    assert not blobs.keep(old)
    assert [blobs.put(b"old"), blobs.get(old), blobs.get(kept)] == [old, b"old", b"kept"]


async def test_what_one_node_stored_another_reads_keeps_and_removes(open_node: Open) -> None:
    one, other = open_node("one"), open_node("other")
    name = one.put(b"shared")
    assert other.get(name) == b"shared"
    assert other.keep(name)
    assert other.remove_unused(name, other.now() + 60)
    assert not one.keep(name)
    assert one.put(b"shared") == name
    assert other.get(name) == b"shared"
    assert one.identity() == other.identity()


async def test_many_writers_of_one_content_store_it_once(open_node: Open) -> None:
    nodes = [open_node("one"), open_node("other")] * 3
    start = threading.Barrier(len(nodes))
    names: list[str] = []

    def store(blobs: Blobs) -> None:
        start.wait()
        names.append(blobs.put(b"the same"))

    threads = [threading.Thread(target=store, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 1
    assert len(names) == len(nodes)
    assert nodes[0].get(names[0]) == b"the same"
    assert len(list(nodes[0].stored())) == 1


async def test_unfinished_files_are_removed_and_finished_ones_stay(blobs: Blobs) -> None:
    name = blobs.put(b"finished")
    blobs.remove_unfinished(blobs.now() + 60)
    assert blobs.get(name) == b"finished"
