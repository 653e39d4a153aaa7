"""The keeper of sources survives a database that refuses, and never reads one source twice at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.apps.knowledge import source_store, store
from outlast.apps.knowledge.passage_changes import Contents
from outlast.apps.knowledge.passages import Cut
from outlast.apps.knowledge.refresh_schedule import RETRY
from outlast.apps.knowledge.settings import KnowledgeSettings
from outlast.apps.knowledge.source_documents import Document, Reading
from outlast.apps.knowledge.source_keeper import LEASE, SourceKeeper
from outlast.apps.knowledge.source_store import NewSource
from outlast.apps.knowledge.sources import Configured
from outlast.base.errors import StorageUnavailable
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.testing.clock import ManualClock

PLACE = "https://docs.example/sdk.md"
NAMES = ("claim", "next_due", "announce", "fill", "want_now", "keep_only_configured")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def db(database_url: str, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Database]:
    """As everywhere, but by the test's clock."""
    database = open_database(database_url, tmp_path, clock)
    try:
        yield database
    finally:
        await database.aclose()


class Held:
    """Reads any source at once; once `hold` is set, only after `go`."""

    def __init__(self) -> None:
        self.count, self.hold = 0, False
        self.began, self.go = anyio.Event(), anyio.Event()

    async def read(self, *_source: Any, **_how: Any) -> Reading:
        self.count += 1
        self.began.set()
        if self.hold:
            await self.go.wait()
        return Reading(documents=[Document(url=PLACE, text="# Tracker\n\ntext")])


def keeper_of(db: Database, clock: ManualClock, reader: Any, **more: Any) -> SourceKeeper:
    places = [Configured("tracker", "markdown", PLACE, installed="npm:tracker")]
    return SourceKeeper(db, clock, KnowledgeSettings(), reader, places, **more)


async def row_of(db: Database) -> Any:
    return await db.read(store.find, source_store.configured_id("tracker", PLACE))


@pytest.mark.parametrize("name", NAMES)
async def test_a_database_that_refuses_once_does_not_end_the_keeper(
    db: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    right = getattr(source_store, name)
    failures = [StorageUnavailable("no")]

    def once(*args: Any, **more: Any) -> Any:
        if failures:
            raise failures.pop()
        return right(*args, **more)

    monkeypatch.setattr(source_store, name, once)
    one = keeper_of(db, clock, Held())
    one.packages_changed()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        tasks.start_soon(one.run)
        with anyio.fail_after(60):
            while True:
                await clock.wait_sleepers()
                row = await row_of(db)
                if row is not None and row.state == "ready":
                    break
                clock.advance(LEASE.total_seconds())
        assert not failures
        tasks.cancel_scope.cancel()


async def test_a_source_that_outlasts_its_lease_is_not_read_twice_by_the_same_keeper(
    db: Database, clock: ManualClock
) -> None:
    reader = Held()
    reader.hold = True
    one = keeper_of(db, clock, reader)
    await one.synchronise()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.read_due)
        with anyio.fail_after(30):
            await reader.began.wait()
        clock.advance(LEASE.total_seconds() + 1)
        assert await one.read_due() == 0
        reader.go.set()
    assert reader.count == 1
    assert (await row_of(db)).state == "ready"


async def test_reading_ends_below_the_lease_and_says_so(db: Database, clock: ManualClock) -> None:
    reader = Held()
    reader.hold = True
    one = keeper_of(db, clock, reader, read_s=0.01)
    await one.synchronise()
    assert await one.read_due() == 1
    row = await row_of(db)
    assert row.state == "failed"
    assert "longer than" in row.error
    assert row.due_at <= clock.now() + RETRY


async def test_what_is_being_read_stays_so_when_it_is_added_again_and_when_another_server_starts(
    db: Database, clock: ManualClock
) -> None:
    one = keeper_of(db, clock, Held())
    await one.synchronise()
    lease = clock.now() + LEASE
    assert await db.write(source_store.claim, lease) is not None
    await db.write(source_store.add, NewSource("tracker", "markdown", PLACE), clock.now())
    await db.write(source_store.cut_anew, "other rules")
    row = await row_of(db)
    assert (row.state, row.due_at) == ("fetching", lease)
    if db.dialect == "postgresql":  # where another server may be reading it
        await one.synchronise()
        assert await one.read_due() == 0


async def test_a_large_source_is_stored_at_once_but_in_statements_that_let_others_in_between(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, sizes, insert_many = 2 * store.SLICE + 1, [], Tx.insert_many

    def noted(tx: Tx, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
        sizes.append(len(rows))
        insert_many(tx, table, rows)

    monkeypatch.setattr(Tx, "insert_many", noted)
    document = Document(url=PLACE, text="")
    cuts = {PLACE: [Cut(f"Heading {number}", "text", f"{PLACE}#{number}") for number in range(count)]}
    source_id = await db.write(source_store.add, NewSource("tracker", "markdown", PLACE), None)
    await db.write(source_store.fill, source_id, Contents(Reading(documents=[document]), cuts, "1:1600"), None)
    assert max(sizes) <= store.SLICE
    for read_at_once in (store.READ_SLICE, count, count - 1, 7):
        monkeypatch.setattr(store, "READ_SLICE", read_at_once)
        stored = await db.read(store.passages_of, source_id)
        assert [passage.url for passage in stored] == [cut.url for cut in cuts[PLACE]]
