"""Fills Outlast's SQLite file in bulk with the data of years of use, while no server uses it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.ids import new_id
from outlast.kernel.projects.tables import projects
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.streams.log_store import encode
from outlast.kernel.streams.tables import log
from outlast.kernel.threads.tables import messages, search_entries, threads

EVENTS_A_RUN: Final = 2000
_EVENTS_A_BLOCK: Final = 100
_ROWS: Final = 2000


class Seeder:
    """Writes into `data/outlast.db` as the local owner's default project. Use it as a context manager."""

    def __init__(self, data_dir: Path) -> None:
        self._engine = sa.create_engine(f"sqlite:///{data_dir / 'outlast.db'}")
        self._now = datetime.now(UTC)

    def __enter__(self) -> Self:
        self._conn = self._engine.connect()
        self._conn.exec_driver_sql("PRAGMA synchronous=OFF")
        row = self._conn.execute(sa.select(projects.c.id, projects.c.default_for)).one()
        self._project_id, self._user_id = str(row[0]), str(row[1])
        return self

    def __exit__(self, *_error: object) -> None:
        self._conn.commit()
        self._conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self._conn.close()
        self._engine.dispose()

    def thread_with(self, events: int) -> str:
        """Adds a thread whose ended runs have left this many events; returns its id."""
        thread_id = new_id("thread")
        count = max(1, events // EVENTS_A_RUN)
        row = {**self._thread(thread_id), "message_count": 2 * count, "last_position": 2 * count, "log_seq": 2 * count}
        self._insert(threads, iter([row]))
        run_ids = [new_id("run") for _ in range(count)]
        self._insert(messages, self._messages(thread_id, run_ids))
        self._insert(runs, (self._run(thread_id, run_id, min(events, EVENTS_A_RUN)) for run_id in run_ids))
        self._insert(log, (row for run_id in run_ids for row in self._log(run_id, min(events, EVENTS_A_RUN))))
        return thread_id

    def threads(self, count: int) -> None:
        """Adds threads with a question and an answer each."""
        ids = [new_id("thread") for _ in range(count)]
        self._insert(threads, ({**self._thread(i), "message_count": 2, "last_position": 2, "log_seq": 2} for i in ids))
        self._insert(messages, (row for i in ids for row in self._messages(i, [new_id("run")])))
        words = f"{self._project_id} what was asked and answered"
        self._insert(search_entries, ({"thread_id": i, "position": n, "words": words} for i in ids for n in range(3)))

    def old_runs(self, count: int, events: int) -> None:
        """Adds ended runs of one thread, each with this many events, whose records are due for removal."""
        thread_id = new_id("thread")
        row = {**self._thread(thread_id), "message_count": 2 * count, "last_position": 2 * count, "log_seq": 2 * count}
        self._insert(threads, iter([row]))
        ids = [new_id("run") for _ in range(count)]
        self._insert(messages, self._messages(thread_id, ids))
        self._insert(runs, (self._run(thread_id, run_id, events) for run_id in ids))
        self._insert(log, (row for run_id in ids for row in self._log(run_id, events)))
        self._insert(timers, ({"kind": "clean_up", "subject_id": i, "due_at": self._now} for i in ids))

    def _insert(self, table: sa.Table, rows: Iterator[dict[str, Any]]) -> None:
        while page := list(islice(rows, _ROWS)):
            self._conn.execute(sa.insert(table), page)

    def _thread(self, thread_id: str) -> dict[str, Any]:
        return {
            "id": thread_id,
            "project_id": self._project_id,
            "title": "An old thread",
            "titled": True,
            "profile": "chat",
            "status": "open",
            "run_status": "complete",
            "created_by": self._user_id,
            "created_at": self._now,
            "updated_at": self._now,
        }

    def _messages(self, thread_id: str, run_ids: list[str]) -> Iterator[dict[str, Any]]:
        for number, run_id in enumerate(run_ids):
            for role, of_run in (("user", None), ("assistant", run_id)):
                yield {
                    "id": new_id("message"),
                    "thread_id": thread_id,
                    "position": 2 * number + (1 if role == "user" else 2),
                    "role": role,
                    "sender_id": self._user_id if role == "user" else None,
                    "status": "complete",
                    "parts": [{"type": "text", "id": new_id("part"), "step": 0, "text": "What was said."}],
                    "run_id": of_run,
                    "created_at": self._now,
                }

    def _run(self, thread_id: str, run_id: str, events: int) -> dict[str, Any]:
        return {
            "id": run_id,
            "project_id": self._project_id,
            "thread_id": thread_id,
            "profile": "chat",
            "model": "bench",
            "message_id": new_id("message"),
            "mode": "start",
            "started_by": self._user_id,
            "status": "completed",
            "leg": "ended",
            "problems": [],
            "attempt": 1,
            "seq_saved": events,
            "seq_reserved": events,
            "credits": 0,
            "created_at": self._now,
            "started_at": self._now,
            "ended_at": self._now,
        }

    def _log(self, run_id: str, events: int) -> Iterator[dict[str, Any]]:
        part_id, timestamp = new_id("part"), iso(self._now)
        data = {"part_id": part_id, "delta": "word "}
        for first in range(1, events + 1, _EVENTS_A_BLOCK):
            last = min(first + _EVENTS_A_BLOCK - 1, events)
            lines = [encode(run_id, seq, "text.delta", data, timestamp) for seq in range(first, last + 1)]
            yield {
                "stream_id": run_id,
                "first_seq": first,
                "last_seq": last,
                "body": b"\n".join(lines),
                "saved_at": self._now,
            }
