"""What a run costs the database: each statement of its start and of its end is paid by every run."""

from itertools import groupby
from pathlib import Path

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.db.sqlite import driver_of
from outlast.kernel.runs.actions import NewThread
from outlast.testing.scripted_model import turn
from tests.flow.harness import stage

MOST = 48  # as it was measured; it only shrinks


async def test_a_short_run_in_a_new_thread_writes_few_times(sqlite_url: str, tmp_path: Path) -> None:
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
    # The index over words runs statements of its own below some of these, reported under the same text.
    written = [text for text, _ in groupby(statements) if text.startswith(("INSERT", "UPDATE", "DELETE"))]
    print(len(written))
    assert len(written) <= MOST, "\n".join(written)
