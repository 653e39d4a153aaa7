"""Blobs in a bucket: failures of the bucket, late messages, and copies on the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from outlast.base.errors import InvalidSetting, StorageUnavailable, StoredFileMissing
from outlast.base.settings.fields import SecretUrl
from outlast.db.blobs import index
from outlast.db.blobs.address import check_url, parse_address
from outlast.db.blobs.at_hand import BlobsAtHand
from outlast.db.blobs.bucket import Bucket
from outlast.db.blobs.cache import Cache
from outlast.db.blobs.index import Index
from outlast.db.blobs.s3 import S3Blobs
from outlast.db.database import Database
from outlast.db.tables import put_fact
from tests.buckets import SECRET, BucketServer

Open = Callable[..., S3Blobs]


@pytest.fixture
def open_s3(db: Database, tmp_path: Path, bucket_url: str) -> Iterator[Open]:
    opened: list[S3Blobs] = []

    def open_one(name: str = "cache", max_bytes: int = 4_000_000, retry_s: float = 20) -> S3Blobs:
        bucket = Bucket(parse_address(bucket_url), retry_s)
        opened.append(S3Blobs(bucket, Index(db), Cache(tmp_path / name, max_bytes)))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@contextmanager
def failing(server: BucketServer, status: int, times: int, method: str = "") -> Iterator[None]:
    left = [status] * times
    server.fail = lambda asked, _path: left.pop() if left and method in ("", asked) else None
    yield
    server.fail = lambda _method, _path: None


def objects(blobs: S3Blobs) -> list[str]:
    return [key for page in blobs.bucket.listed() for key in page]


async def test_a_bucket_that_fails_for_a_moment_is_asked_again(open_s3: Open, bucket_server: BucketServer) -> None:
    blobs = open_s3(max_bytes=0)
    with failing(bucket_server, 500, 2, "PUT"):
        name = blobs.put(b"hello")
    with failing(bucket_server, 503, 2, "GET"):
        assert blobs.get(name) == b"hello"


async def test_a_bucket_that_stays_away_is_an_error_to_retry_and_stores_nothing(
    open_s3: Open, bucket_server: BucketServer
) -> None:
    blobs = open_s3(max_bytes=0, retry_s=0.3)
    name = blobs.put(b"before")
    with failing(bucket_server, 500, 1000):
        for call in (lambda: blobs.put(b"hello"), lambda: blobs.get(name), lambda: blobs.put_pieces(iter([b"x"]))):
            with pytest.raises(StorageUnavailable) as refused:
                call()
            assert SECRET not in f"{refused.value!r} {refused.value.fields}"
            assert refused.value.retry_after_s
    assert [one.name for one in blobs.stored()] == [name]


async def test_the_event_loop_goes_on_while_a_bucket_hangs(open_s3: Open, bucket_server: BucketServer) -> None:
    blobs = open_s3(max_bytes=0)
    name = blobs.put(b"hello")
    reached, go_on = threading.Event(), threading.Event()

    def hang(_method: str, _path: str) -> None:
        reached.set()
        go_on.wait(30)

    bucket_server.fail = hang
    found: list[bytes] = []

    async def read() -> None:
        found.append(await anyio.to_thread.run_sync(blobs.get, name))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.to_thread.run_sync(reached.wait)
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        assert not found
        go_on.set()
    assert found == [b"hello"]


async def test_a_delete_that_arrives_late_does_not_hit_what_was_stored_meanwhile(open_s3: Open) -> None:
    one, other = open_s3("one"), open_s3("other", max_bytes=0)
    name = one.put(b"hello")
    (key,) = objects(one)
    # The first node decides to remove it, and stops before its delete reaches the bucket.
    released = one._rows.write(index.release, name, index.moment_of(one.now() + 60))
    assert released is not None
    assert key.endswith(released)
    assert not other.keep(name)
    assert other.put(b"hello") == name
    one.bucket.delete([key])  # late
    assert other.get(name) == b"hello"
    assert other.keep(name)


async def test_a_node_that_stores_something_too_late_gets_an_error_and_no_row(open_s3: Open) -> None:
    blobs = open_s3()
    _, since = blobs._rows.write(index.touch, ["0" * 64])
    placed = [index.BlobPlace("0" * 64, "0-0", 1)]
    with pytest.raises(StorageUnavailable):
        blobs._rows.write(index.record, placed, since - index.STALE - timedelta(seconds=1))
    assert list(blobs.stored()) == []


async def test_a_second_object_of_one_content_is_removed(open_s3: Open) -> None:
    one, other = open_s3("one"), open_s3("other")
    _, since = one._rows.write(index.touch, ["0" * 64])
    name = one.put(b"hello")
    placed = index.BlobPlace(name, "1-1", 5)
    other.bucket.put(f"{name[:2]}/{name[2:]}.1-1", b"hello")
    other._record([placed], since)
    assert len(objects(one)) == 1
    assert other.get(name) == b"hello"


async def test_objects_that_no_row_names_are_removed_once_they_are_old(open_s3: Open, db: Database) -> None:
    blobs = open_s3()
    name = blobs.put(b"hello")
    (kept,) = objects(blobs)
    now_ms = int(blobs.now() * 1000)
    old, young = (f"ab/{'c' * 62}.{now_ms - age_h * 3_600_000:x}-0" for age_h in (48, 1))
    for key in (old, young, "ab/something else", "deployment"):
        blobs.bucket.put(key, b"left")
    blobs.remove_unfinished(blobs.now())
    assert set(objects(blobs)) == {kept, young, "ab/something else", "deployment"}
    blobs.bucket.put(old, b"left")
    blobs.remove_unfinished(blobs.now())  # the bucket was listed today
    assert old in objects(blobs)
    await db.write(lambda tx: put_fact(tx, "blobs.listed", (tx.now - timedelta(days=2)).isoformat()))
    blobs.remove_unfinished(blobs.now())
    assert old not in objects(blobs)
    assert blobs.get(name) == b"hello"


async def test_collection_finds_what_is_old_without_a_list_of_the_bucket(
    open_s3: Open, bucket_server: BucketServer
) -> None:
    blobs = open_s3()
    blobs.put_all([b"%d" % number for number in range(20)])
    before = bucket_server.count("GET")
    assert len(list(blobs.unused_since(blobs.now() + 60))) == 20
    assert bucket_server.count("GET") == before


async def test_a_lost_object_is_missing_and_named(open_s3: Open) -> None:
    blobs = open_s3(max_bytes=0)
    name = blobs.put(b"hello")
    blobs.bucket.delete(objects(blobs))
    with pytest.raises(StoredFileMissing) as missing:
        blobs.get(name)
    assert missing.value.fields["blob"] == name


async def test_an_object_that_is_not_what_was_stored_is_refused(open_s3: Open) -> None:
    blobs = open_s3("one")
    name = blobs.put(b"hello")
    blobs.bucket.put(objects(blobs)[0], b"hullo")
    with pytest.raises(StoredFileMissing):
        open_s3("other").get(name)


async def test_transactions_read_blobs_that_were_fetched_before(open_s3: Open, db: Database) -> None:
    blobs = open_s3()
    first, second = blobs.put_all([b"one", b"two"])
    at_hand = BlobsAtHand(blobs)
    runs: list[int] = []

    def read(_tx: object) -> bytes:
        runs.append(1)
        return at_hand.get(first) + at_hand.get(second)

    assert await at_hand.repeated(lambda: db.read(read)) == b"onetwo"
    assert len(runs) == 3
    with pytest.raises(StoredFileMissing):
        await at_hand.repeated(lambda: db.read(lambda _tx: at_hand.get("0" * 64)))


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///prefix", "s3://bucket?password=1", "gs://bucket", "file:///tmp"], ids=str
)
def test_an_address_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting):
        check_url(url)


def test_the_secret_of_an_address_is_never_shown() -> None:
    url = f"s3://id:{SECRET}@Bucket.name/a/b?endpoint=http://localhost:1"
    parsed = parse_address(url)
    assert (parsed.bucket, parsed.prefix, parsed.keys["secret_access_key"]) == ("Bucket.name", "a/b", SECRET)
    assert SECRET not in f"{parsed!r} {parsed} {SecretUrl(url)}"
