"""Deleting a thread whose runs have called agents: their threads go with it, a few in each transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.errors import Forbidden, StorageUnavailable, ThreadBusy
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.threads import store
from outlast.kernel.threads.actions import delete_thread
from outlast.kernel.threads.called_threads import PORTION
from outlast.kernel.threads.tables import threads
from tests.factories import Team, make_run, make_services

CALLED = 220
NESTED = 60  # of the first of them


def call_agents(tx: Tx, team: Team, caller_id: str, count: int) -> list[str]:
    """The threads of agents that one run in a thread has called."""
    run_id = make_run(tx, caller_id, team.owner, status="completed", leg="ended")
    return [
        store.add_thread(tx, team.project_id, team.owner.user_id, first_message="Hi", caller_run_id=run_id)
        for _ in range(count)
    ]


def _furnish(tx: Tx) -> tuple[Team, list[str], list[str]]:
    """A thread that called many agents, the first of which called some more."""
    team = Team(tx)
    called = call_agents(tx, team, team.thread_id, CALLED)
    return team, called, call_agents(tx, team, called[0], NESTED)


def count_threads(tx: Tx) -> int:
    return int(tx.execute(sa.select(sa.func.count()).select_from(threads)).scalar_one())


def count_deleted(
    db: Database, monkeypatch: pytest.MonkeyPatch, after: Callable[[int], None] = lambda _: None
) -> list[int]:
    """How many threads each transaction from now on deletes; calls `after` with the number of transactions."""
    deleted: list[int] = []
    plain = db.write

    async def write(fn: Any, *args: Any, **named: Any) -> Any:
        def counted(tx: Tx) -> Any:
            before = count_threads(tx)
            result = fn(tx, *args, **named)
            deleted.append(before - count_threads(tx))
            return result

        result = await plain(counted)
        after(len(deleted))
        return result

    monkeypatch.setattr(db, "write", write)
    return deleted


async def test_no_transaction_deletes_more_than_a_portion_of_the_threads_of_called_agents(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team, _, _ = await db.write(_furnish)
    deleted = count_deleted(db, monkeypatch)
    await delete_thread(make_services(db, tmp_path), team.owner, team.thread_id)
    assert max(deleted) <= PORTION
    assert sum(deleted) == 1 + CALLED + NESTED
    assert await db.read(count_threads) == 0


async def test_a_delete_that_was_cut_off_is_finished_by_the_next_one(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team, _, _ = await db.write(_furnish)
    services = make_services(db, tmp_path)

    def die(transactions: int) -> None:
        if transactions == 3:
            raise StorageUnavailable("the process ended here")

    with monkeypatch.context() as patched:
        count_deleted(db, patched, die)
        with pytest.raises(StorageUnavailable):
            await delete_thread(services, team.owner, team.thread_id)
    assert 0 < await db.read(count_threads) < 1 + CALLED + NESTED
    assert await db.read(lambda tx: tx.exists(threads, {"id": team.thread_id}))
    await delete_thread(services, team.owner, team.thread_id)
    assert await db.read(count_threads) == 0


async def test_nothing_is_deleted_while_a_called_agent_is_at_work_or_without_permission(
    db: Database, tmp_path: Path
) -> None:
    team, _, nested = await db.write(_furnish)
    services = make_services(db, tmp_path)
    await db.write(lambda tx: store.set_run_state(tx, nested[-1], "generating", new_id("run")))
    with pytest.raises(Forbidden):
        await delete_thread(services, team.editor, team.thread_id)
    with pytest.raises(ThreadBusy) as caught:
        await delete_thread(services, team.owner, team.thread_id)
    assert caught.value.fields["thread_id"] == nested[-1]
    assert await db.read(count_threads) == 1 + CALLED + NESTED


async def test_a_called_agents_own_files_are_given_up_with_its_thread(db: Database, tmp_path: Path) -> None:
    def furnish(tx: Tx) -> Team:
        team = Team(tx)
        owner = {"owner_type": "thread", "owner_id": call_agents(tx, team, team.thread_id, 1)[0]}
        row = {"id": new_id("workspace"), "project_id": team.project_id, **owner}
        tx.insert(workspaces, **row, created_at=tx.now, last_used_at=tx.now)
        return team

    team = await db.write(furnish)
    await delete_thread(make_services(db, tmp_path), team.owner, team.thread_id)
    assert not await db.read(lambda tx: tx.exists(workspaces, {"owner_type": "thread"}))


async def test_a_thread_is_not_deleted_before_those_of_agents_that_its_runs_called(db: Database) -> None:
    team, _, _ = await db.write(_furnish)
    with pytest.raises(ThreadBusy):
        await db.write(store.delete_thread, team.thread_id)
