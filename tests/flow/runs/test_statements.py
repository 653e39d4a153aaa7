"""What a run costs the database: each statement of its start and of its end is paid by every run."""

from itertools import groupby
from pathlib import Path

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.db.sqlite import driver_of
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.runs.actions import NewThread
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, turn
from tests.flow.harness import stage

UNLIMITED = Settings(limits=LimitSettings(runs_per_minute_per_user=0, runs_per_minute_per_project=0))
MOST = 36  # as it was measured; it only shrinks


async def test_a_short_run_in_a_new_thread_writes_few_times(sqlite_url: str, tmp_path: Path) -> None:
    statements = await _of_a_short_run(sqlite_url, tmp_path)
    # The index over words runs statements of its own below some of these, reported under the same text.
    written = [text for text, _ in groupby(statements) if text.startswith(("INSERT", "UPDATE", "DELETE"))]
    print(len(written))
    assert len(written) <= MOST, "\n".join(written)


async def test_no_statement_of_a_short_run_reads_a_whole_table(sqlite_url: str, tmp_path: Path) -> None:
    # The end of a run removed its timers by a part of their key alone: each end read the timers of all runs before it.
    statements = await _of_a_short_run(sqlite_url, tmp_path)
    db = open_database(sqlite_url, tmp_path, SystemClock())

    def scans(tx: Tx) -> list[str]:
        plans = driver_of(tx.conn)
        return [
            f"{step[3]}: {text}"
            for text in sorted(set(statements))
            if text.startswith(("SELECT", "UPDATE", "DELETE"))
            for step in plans.execute(f"EXPLAIN QUERY PLAN {text}")
            if step[3].startswith("SCAN ")
        ]

    try:
        assert await db.read(scans) == []
    finally:
        await db.aclose()


async def test_a_short_run_costs_the_same_beside_many_ended_and_waiting_ones(sqlite_url: str, tmp_path: Path) -> None:
    # A start read every ended run of its thread, and the end of a run every approval that waits anywhere.
    db = open_database(sqlite_url, tmp_path, SystemClock())
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    try:
        turns = [
            turn(Call("ask", {"questions": [{"id": "which", "question": "Which?"}]})),
            *(turn("Short.") for _ in range(4)),
        ]
        async with stage(db, tmp_path, turns, FakeTool("ask", asks_person=True), settings=UNLIMITED) as it:
            await it.until_status((await it.start(target=NewThread(it.project_id))).run_id, "awaiting_approval")

            async def short() -> int:
                before = steps[0]
                assert await it.ended((await it.start()).run_id) == "completed"
                return steps[0] - before

            await short()
            await db.write(lambda tx: driver_of(tx.conn).set_progress_handler(count, 10))
            alone = await short()
            await db.write(_multiply)
            beside = await short()
    finally:
        await db.aclose()
    print(alone, beside)
    assert beside < 1.5 * alone


def _multiply(tx: Tx) -> None:
    """The runs that have ended and the approval that waits, a thousand times."""
    driver = driver_of(tx.conn)
    for table, rows in (("runs", "status = 'completed'"), ("approvals", "status = 'open'")):
        names = [row[1] for row in driver.execute(f"PRAGMA table_info({table})") if row[1] != "id"]
        columns, copied = ", ".join(names), f"SELECT * FROM {table} WHERE {rows} LIMIT 1"
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        driver.execute(
            f"{numbers} INSERT INTO {table} (id, {columns}) SELECT one.id || '_' || i, {columns} FROM n, ({copied}) one"
        )


async def _of_a_short_run(sqlite_url: str, tmp_path: Path) -> list[str]:
    """The statements that the database's writer runs for a start in a new thread, its answer and its end."""
    statements: list[str] = []

    def listen(tx: Tx) -> None:
        driver_of(tx.conn).set_trace_callback(statements.append)

    db = open_database(sqlite_url, tmp_path, SystemClock())
    try:
        async with stage(db, tmp_path, [turn("Warm."), turn("Short.")]) as it:
            assert await it.ended((await it.start(target=NewThread(it.project_id))).run_id) == "completed"
            await db.write(listen)
            assert await it.ended((await it.start(target=NewThread(it.project_id))).run_id) == "completed"
    finally:
        await db.aclose()
    return statements
