"""Hooks of an app that raise: what they did is undone, the run says so, and it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from outlast.base.errors import Conflict, StorageUnavailable, ThreadOfPage
from outlast.db.database import Database, Tx
from outlast.kernel.agents.hooks import Finished
from outlast.kernel.apps.app import App
from outlast.kernel.apps.registry import only
from outlast.kernel.runs.actions import cancel_run, retry_run
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.runs.worker import Worker
from outlast.kernel.subjects.subject import RunHooks, Subject
from outlast.kernel.threads.tables import threads
from outlast.testing.agents import FakeAgent
from outlast.testing.scripted_model import turn
from tests.flow.harness import Stage, stage
from tests.lined_agents import FakeLines

polls = sa.Table(
    "polls_of_tests",
    sa.MetaData(),
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("title", sa.Text),
    sa.Column("thread_id", sa.String(40)),
)
POLL = "pol_1"
"""The thread's subject: its profile is `chat`, so its noun is too."""


class Faults:
    """Raises in the hook of one name, after that has written something and rung a bell."""

    def __init__(self, failing: str, error: Exception) -> None:
        self.failing, self.error = failing, error
        self.called: list[str] = []
        self.after_commit: list[str] = []

    def pass_through(self, tx: Tx, name: str) -> None:
        self.called.append(name)
        if name == self.failing:
            tx.update(polls, {"id": POLL}, title=name)
            tx.after_commit(lambda: self.after_commit.append(name))
            raise self.error


class Hooks(RunHooks):
    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def on_start(self, tx: Tx, thread_id: str) -> None:
        self.faults.pass_through(tx, "on_start")

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        self.faults.pass_through(tx, "on_take_up")

    def on_end(self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool) -> None:
        self.faults.pass_through(tx, "on_end")

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        self.faults.pass_through(tx, "on_again")


class FaultyLines(FakeLines):
    """The end of an agent's lines is a hook of an app too."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self.faults = faults

    def end(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        self.faults.pass_through(tx, "run_ended")
        return []


class FaultyAgent(FakeAgent):
    """And so is its `finish`."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(lines=FaultyLines(faults))
        self.faults = faults

    def finish(self, tx: Tx, run: Run, parts: Any, facts: Any) -> Finished:
        self.faults.pass_through(tx, "finish")
        return Finished()


@asynccontextmanager
async def faulty(db: Database, folder: Path, faults: Faults, **options: Any) -> AsyncIterator[Stage]:
    """A stage whose thread is a poll's, with the hooks of that app."""
    app = App(
        name="polls",
        subjects=[
            Subject(
                noun="chat",
                table=polls,
                thread_does="asks",
                thread_error=ThreadOfPage,
                announce=lambda tx, *_: faults.pass_through(tx, "announce"),
                runs=Hooks(faults),
            )
        ],
    )
    with only(app):
        async with stage(db, folder, [turn("One."), turn("Two.")], agent=FaultyAgent(faults), **options) as it:
            await db.write(_make_poll, it.thread_id)
            yield it


def _make_poll(tx: Tx, thread_id: str) -> None:
    tx.execute(CreateTable(polls))
    tx.insert(polls, id=POLL, title="Lunch?", thread_id=thread_id)
    tx.update(threads, {"id": thread_id}, anchor={"type": "chat", "id": POLL})


@asynccontextmanager
async def at_work(it: Stage) -> AsyncIterator[None]:
    async with anyio.create_task_group() as group:
        group.start_soon(Worker(it.services.engine).run)
        yield
        group.cancel_scope.cancel()


async def ended_with(it: Stage, run_id: str) -> tuple[str, str, list[str]]:
    """(status, stop reason, problems) of a run that ends."""
    await it.ended(run_id)
    row = await it.services.db.read(lambda tx: tx.find(RunRow, runs, {"id": run_id}))
    assert row is not None
    assert row.stop_reason is not None
    return row.status, row.stop_reason, row.problems


async def title_of_poll(db: Database) -> str:
    return str(await db.read(lambda tx: tx.value(polls.c.title, {"id": POLL})))


@pytest.mark.parametrize("failing", ["on_start", "on_take_up", "on_end", "on_again", "announce", "finish", "run_ended"])
@pytest.mark.parametrize("error", [RuntimeError("secret"), Conflict("The poll is closed.")], ids=["bug", "refusal"])
async def test_whichever_hook_raises_every_run_ends(
    db: Database, tmp_path: Path, failing: str, error: Exception
) -> None:
    faults = Faults(failing, error)
    async with faulty(db, tmp_path, faults, working=False) as it:
        first, second = await it.start("One?"), await it.start("Two?", on_busy="queue")
        await cancel_run(it.services, it.owner, first.run_id)
        async with at_work(it):
            ends = [await ended_with(it, run.run_id) for run in (first, second)]
            again = await retry_run(it.services, it.owner, first.run_id)
            ends.append(await ended_with(it, again.run_id))
        noted = [problem for *_, problems in ends for problem in problems]
    assert failing in faults.called
    assert [status for status, *_ in ends] == ["cancelled", "completed", "completed"]
    assert [reason for _, reason, _ in ends] == [
        "user",
        *("problems" if problems else "end" for *_, problems in ends[1:]),
    ]
    assert bool(noted) is (failing != "announce")
    assert all(("The poll is closed." in problem) is isinstance(error, Conflict) for problem in noted)
    assert not any("secret" in problem for problem in noted)
    assert await title_of_poll(db) == "Lunch?"
    assert faults.after_commit == []


async def test_a_hook_that_breaks_the_database_is_undone_like_any_other(db: Database, tmp_path: Path) -> None:
    """PostgreSQL refuses every further statement of a transaction in which one failed, unless a savepoint ends it."""
    faults = Faults("", RuntimeError())
    faults.pass_through = lambda tx, _: tx.execute(sa.text("SELECT nothing FROM nowhere"))  # type: ignore[assignment,method-assign]
    async with faulty(db, tmp_path, faults) as it:
        status, reason, problems = await ended_with(it, (await it.start()).run_id)
    assert (status, reason) == ("completed", "problems")
    assert len(problems) == 4  # on_start, finish, run_ended, on_end


async def test_storage_that_is_away_is_no_problem_of_the_run(db: Database, tmp_path: Path) -> None:
    faults = Faults("on_start", StorageUnavailable("The database is away.", retry_after_s=0.1))
    async with faulty(db, tmp_path, faults) as it:
        with pytest.raises(StorageUnavailable):
            await it.start()


async def test_runs_of_a_profile_that_is_no_subjects_open_no_savepoint(db: Database, tmp_path: Path) -> None:
    with only():
        async with stage(db, tmp_path, [turn("Hello.")], agent=FakeAgent()) as it:
            assert (await ended_with(it, (await it.start()).run_id))[1:] == ("end", [])
