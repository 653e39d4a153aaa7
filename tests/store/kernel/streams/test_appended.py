"""Facts wait for the end of their transaction, in their order, and go with a savepoint that is undone."""

from __future__ import annotations

import orjson
import pytest

from outlast.db.database import Database, Tx
from outlast.db.savepoints import savepoint
from outlast.kernel.streams.log_store import append, read_all
from outlast.kernel.threads.shapes import ThreadDeleted
from tests.factories import Team


def event(name: str) -> tuple[str, ThreadDeleted]:
    return "thread.deleted", ThreadDeleted(thread_id=name)


def fail(tx: Tx, thread_id: str) -> None:
    with savepoint(tx):
        append(tx, thread_id, [event("undone")])
        assert len(read_all(tx, thread_id)) >= 2
        raise ValueError("undo")


async def test_facts_of_an_undone_savepoint_are_dropped_also_if_it_read_its_log(db: Database) -> None:
    def run(tx: Tx) -> str:
        team = Team(tx)
        append(tx, team.thread_id, [event("before")])
        with pytest.raises(ValueError, match="undo"):
            fail(tx, team.thread_id)
        append(tx, team.thread_id, [event("after")])
        return team.thread_id

    thread_id = await db.write(run)
    lines = await db.read(read_all, thread_id)
    told = [orjson.loads(line) for _, line in lines]
    assert [one["data"]["thread_id"] for one in told if one["event"] == "thread.deleted"] == ["before", "after"]
    assert [seq for seq, _ in lines] == list(range(1, len(lines) + 1))
