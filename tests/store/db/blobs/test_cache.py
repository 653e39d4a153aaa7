"""Copies of blobs on the disk: the latest used, whole or none, fetched once."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from outlast.base.errors import StoredFileMissing
from outlast.db.blobs.cache import Cache

CONTENTS = [bytes([number]) * 1000 for number in range(8)]
NAMES = [hashlib.sha256(content).hexdigest() for content in CONTENTS]


def never() -> Iterator[bytes]:
    pytest.fail("it is in the cache")


def content_of(cache: Cache, number: int, read: Callable[[], Iterator[bytes]] | None = None) -> bytes:
    with cache.fetch(NAMES[number], read or (lambda: iter([CONTENTS[number][:400], CONTENTS[number][400:]]))) as file:
        return file.read()


def test_a_copy_is_fetched_once_and_read_from_the_disk_then(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100_000)
    assert content_of(cache, 0) == CONTENTS[0]
    assert content_of(cache, 0, never) == CONTENTS[0]
    assert content_of(Cache(tmp_path, 100_000), 0, never) == CONTENTS[0]


def test_the_copy_that_was_not_used_for_longest_makes_room(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 4000)
    for number in range(4):
        content_of(cache, number)
    content_of(cache, 0, never)
    content_of(cache, 4)
    assert cache.open(NAMES[1]) is None
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 4000
    assert content_of(cache, 0, never) == CONTENTS[0]


def test_a_content_larger_than_a_quarter_of_the_cache_is_read_and_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 3999)
    assert content_of(cache, 0) == CONTENTS[0]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_open_copy_is_read_to_its_end_after_it_made_room(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 4000)
    with cache.fetch(NAMES[0], lambda: iter([CONTENTS[0]])) as file:
        for number in range(1, 6):
            content_of(cache, number)
        assert file.read() == CONTENTS[0]


def test_a_killed_server_leaves_no_part_of_a_copy_and_a_damaged_one_is_fetched_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100_000)
    for number in range(2):
        content_of(cache, number)
    (tmp_path / "half.new").write_bytes(b"half")
    damaged = tmp_path / NAMES[0][:2] / NAMES[0][2:]
    damaged.write_bytes(bytes(1000))  # a machine without power kept its name and size
    after = Cache(tmp_path, 100_000)
    assert content_of(after, 0) == CONTENTS[0]
    assert content_of(after, 1, never) == CONTENTS[1]
    assert not (tmp_path / "half.new").exists()


def test_another_content_than_the_name_says_is_refused_and_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100_000)
    with pytest.raises(StoredFileMissing):
        content_of(cache, 0, lambda: iter([CONTENTS[1]]))
    assert content_of(cache, 0) == CONTENTS[0]


def test_readers_of_one_blob_wait_for_one_fetch(tmp_path: Path) -> None:
    cache, fetched, begun, go_on = Cache(tmp_path, 100_000), [], threading.Event(), threading.Event()

    def read() -> Iterator[bytes]:
        fetched.append(1)
        begun.set()
        go_on.wait(30)
        yield CONTENTS[0]

    results: list[bytes] = []
    threads = [threading.Thread(target=lambda: results.append(content_of(cache, 0, read))) for _ in range(8)]
    for thread in threads:
        thread.start()
    begun.wait(30)
    assert content_of(cache, 1) == CONTENTS[1]  # others do not wait
    go_on.set()
    for thread in threads:
        thread.join()
    assert results == [CONTENTS[0]] * 8
    assert fetched == [1]


def test_a_fetch_that_fails_is_tried_by_the_next_reader(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 100_000)

    def fail() -> Iterator[bytes]:
        yield CONTENTS[0][:10]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        content_of(cache, 0, fail)
    assert content_of(cache, 0) == CONTENTS[0]
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_lent_file_stays_until_it_is_given_back_and_is_removed_if_it_never_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 4000)
    lent = cache.lend(NAMES[0], lambda: iter([CONTENTS[0]]))
    for number in range(1, 6):
        content_of(cache, number)
    assert lent.path.read_bytes() == CONTENTS[0]
    lent.give_back()
    assert not lent.path.exists()
    left = cache.lend(NAMES[0], lambda: iter([CONTENTS[0]])).path
    cache.remove_left()
    assert left.exists()
    Cache(tmp_path, 4000).open(NAMES[0])
    assert not left.exists()
    assert os.listdir(tmp_path / "lent") == []
