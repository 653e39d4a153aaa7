"""Both databases keep the same promises of `outlast.db.database`."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import anyio
import asyncpg
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import MalformedInput
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.testing.postgres import PostgresServer
from tests.databases import TEMPLATE, EmptyDatabases
from tests.factories import make_user

notes = sa.Table("test_notes", sa.MetaData(), sa.Column("text", sa.Text, nullable=False))


def make_table(tx: Tx) -> None:
    notes.create(tx.conn)


def add(tx: Tx, text: str) -> None:
    tx.execute(notes.insert().values(text=text))


def texts(tx: Tx) -> list[str]:
    return list(tx.execute(sa.select(notes.c.text).order_by(notes.c.text)).scalars())


async def test_what_a_transaction_wrote_is_read_back(db: Database) -> None:
    await db.write(make_table)
    await db.write(add, "kept")
    assert await db.read(texts) == ["kept"]


async def test_a_transaction_that_fails_leaves_nothing_and_tells_nobody(db: Database) -> None:
    told: list[str] = []

    def add_and_fail(tx: Tx) -> None:
        tx.after_commit(lambda: told.append("committed"))
        add(tx, "lost")
        raise ValueError("after the insert")

    await db.write(make_table)
    with pytest.raises(ValueError, match="after the insert"):
        await db.write(add_and_fail)
    assert await db.read(texts) == []
    assert told == []


async def test_a_key_that_is_taken_is_one_error_with_parameters_and_without(db: Database) -> None:
    keyed = sa.Table("test_keys", sa.MetaData(), sa.Column("key", sa.Text, primary_key=True))
    insert = sa.insert(keyed)
    await db.write(lambda tx: keyed.create(tx.conn))
    await db.write(lambda tx: tx.execute(insert, {"key": "taken"}))
    for statement, parameters in ((insert, {"key": "taken"}), (insert.values(key="taken"), None)):
        with pytest.raises(sa.exc.IntegrityError):
            await db.write(Tx.execute, statement, parameters)
    with pytest.raises(sa.exc.IntegrityError):
        await db.write(Tx.insert_many, keyed, [{"key": "new"}, {"key": "taken"}])
    assert await db.read(lambda tx: list(tx.execute(sa.select(keyed.c.key)).scalars())) == ["taken"]


async def test_a_prepared_statement_says_how_many_rows_it_changed(db: Database) -> None:
    await db.write(make_table)
    await db.write(Tx.insert_many, notes, [{"text": "a"}, {"text": "a"}, {"text": "b"}])
    assert await db.write(lambda tx: tx.update(notes, {"text": "a"}, text="c")) == 2
    assert await db.write(lambda tx: tx.update(notes, {"text": "a"}, text="d")) == 0
    assert await db.read(texts) == ["b", "c", "c"]


@pytest.mark.postgres
async def test_a_transaction_that_is_cancelled_leaves_nothing_and_its_connection_to_others(
    reused_postgres_url: str,
) -> None:
    db = open_database(reused_postgres_url, Path(), SystemClock())
    await db.write(make_table)
    scope = anyio.CancelScope()

    def add_and_hang(tx: Tx) -> None:
        tx.insert(notes, text="lost")
        asyncio.get_running_loop().call_soon(scope.cancel)
        tx.execute(sa.text("SELECT pg_sleep(600)"))

    for _ in range(25):  # more often than there are connections
        with scope:
            await db.write(add_and_hang)
        scope = anyio.CancelScope()
    await db.write(add, "kept")
    assert await db.read(texts) == ["kept"]
    await db.write(lambda tx: notes.drop(tx.conn))
    await db.aclose()


async def test_hooks_run_after_the_commit_and_bells_ring_in_this_process(db: Database) -> None:
    heard: list[str] = []
    db.on_notice(heard.append)

    def ring(tx: Tx) -> None:
        tx.after_commit(lambda: heard.append("hook"))
        tx.ring("thr_1")

    await db.write(ring)
    assert heard == ["hook", "thr_1"]


async def test_a_hook_or_a_bell_that_raises_holds_up_no_transaction_of_its_group(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """The hook ended the delivery of a whole group of transactions: whoever waited for the others waited for ever."""
    heard: list[str] = []
    gate = threading.Event()

    def fail(*_: str) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    def wait(_: Tx) -> None:  # until the rest has piled up behind it
        gate.wait(30)

    def write(tx: Tx, name: str) -> str:
        tx.after_commit(fail)
        tx.after_commit(lambda: heard.append(f"hook of {name}"))
        tx.ring(name)
        return name

    db.on_notice(fail)
    db.on_notice(heard.append)
    results: list[str] = []

    async def keep(name: str) -> None:
        results.append(await db.write(write, name))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            if db.dialect == "sqlite":
                group.start_soon(db.write, wait)
            for name in ("one", "two", "three"):
                group.start_soon(keep, name)
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert sorted(results) == ["one", "three", "two"]
    assert sorted(heard) == sorted([*results, *(f"hook of {name}" for name in results)])
    assert "a hook after a commit failed" in caplog.text


async def test_a_transaction_function_that_raises_stop_iteration_strands_nobody(db: Database) -> None:
    gate = threading.Event()

    def wait(_: Tx) -> None:
        gate.wait(30)

    def stop(_: Tx) -> None:
        next(iter(()))

    async def stopped() -> None:
        with pytest.raises(RuntimeError):
            await db.write(stop)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            if db.dialect == "sqlite":
                group.start_soon(db.write, wait)
            group.start_soon(stopped)
            group.start_soon(db.write, make_table)
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert await db.read(texts) == []


@pytest.mark.postgres
async def test_a_postgres_that_crashed_has_its_commits_after_the_restart(postgres: PostgresServer) -> None:
    connection = await asyncpg.connect(postgres.url("postgres"))
    await connection.execute("CREATE TABLE crash (n int); INSERT INTO crash VALUES (1)")
    postgres.crash()
    postgres.start()
    connection = await asyncpg.connect(postgres.url("postgres"))
    assert await connection.fetchval("SELECT n FROM crash") == 1
    await connection.execute("DROP TABLE crash")
    await connection.close()


async def test_text_that_one_database_cannot_hold_is_the_senders_mistake(db: Database) -> None:
    asked = sa.select(sa.literal("a\x00b"))
    try:
        await db.read(lambda tx: tx.execute(asked).scalar())
    except MalformedInput:
        assert db.dialect == "postgresql"


@pytest.mark.postgres
async def test_a_process_that_stops_in_a_transaction_loses_it_before_others_lose_patience(
    postgres_url: str, tmp_path: Path
) -> None:
    db = open_database(postgres_url, tmp_path, SystemClock())
    try:
        setting = sa.text("SELECT setting::int FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'")
        assert 0 < await db.read(lambda tx: tx.execute(setting).scalar_one()) <= 15_000
    finally:
        await db.aclose()


@pytest.mark.postgres
async def test_a_database_that_a_test_has_used_is_as_new_for_the_next_one(
    empty_databases: EmptyDatabases, migrated_postgres: PostgresServer, tmp_path: Path
) -> None:
    def rows(tx: Tx) -> dict[str, int]:
        names = sa.inspect(tx.conn).get_table_names()
        return {name: tx.execute(sa.text(f'SELECT count(*) FROM "{name}"')).scalar_one() for name in names}

    async def look(name: str) -> dict[str, int]:
        db = open_database(migrated_postgres.url(name), tmp_path, SystemClock())
        try:
            return await db.read(rows)
        finally:
            await db.aclose()

    name = empty_databases.take()
    used = open_database(migrated_postgres.url(name), tmp_path, SystemClock())
    await used.write(make_user)
    assert any(count for table, count in (await used.read(rows)).items() if table != "alembic_version")
    empty_databases.give_back(name)  # while somebody is still connected
    assert await look(empty_databases.take()) == await look(TEMPLATE)
    await used.aclose()
    empty_databases.give_back(name)


@pytest.mark.postgres
async def test_a_database_whose_tables_a_test_has_changed_is_not_used_again(
    empty_databases: EmptyDatabases, migrated_postgres: PostgresServer
) -> None:
    for change in (
        "ALTER TABLE threads DROP COLUMN title",
        "CREATE INDEX surplus ON threads (title)",
        "UPDATE alembic_version SET version_num = '9999'",
    ):
        name = empty_databases.take()
        connection = await asyncpg.connect(migrated_postgres.url(name))
        await connection.execute(change)
        await connection.close()
        empty_databases.give_back(name)
        assert empty_databases.take() != name


async def test_many_rows_are_added_in_one_go(db: Database) -> None:
    await db.write(make_table)
    await db.write(lambda tx: tx.insert_many(notes, [{"text": f"note {number}"} for number in range(300)]))
    await db.write(lambda tx: tx.insert_many(notes, []))
    assert await db.read(texts) == sorted(f"note {number}" for number in range(300))
    with pytest.raises(sa.exc.IntegrityError):
        await db.write(lambda tx: tx.insert_many(notes, [{"text": "kept?"}, {"text": None}]))
    assert len(await db.read(texts)) == 300


async def test_the_file_and_those_beside_it_are_the_own_users_alone(tmp_path: Path) -> None:
    # They were readable for everybody; only the mode of the folder kept others out.
    files = [tmp_path / name for name in ("outlast.db", "outlast.db-wal", "outlast.db-shm")]
    for _ in range(2):
        database = open_database("sqlite:///outlast.db", tmp_path, SystemClock())
        await database.write(lambda tx: tx.execute(sa.text("PRAGMA user_version=1")))
        assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * 3
        await database.aclose()
        files[0].chmod(0o644)  # as an earlier version left it


async def test_a_database_that_was_closed_is_one_file(tmp_path: Path) -> None:
    """Where its connections closed together, what had been written stayed in the file beside it."""
    for number in range(20):
        database = open_database("sqlite:///outlast.db", tmp_path, SystemClock())
        await database.write(Tx.execute, sa.text(f"PRAGMA user_version={number + 1}"))
        await database.aclose()
        assert not (tmp_path / "outlast.db-wal").exists()
