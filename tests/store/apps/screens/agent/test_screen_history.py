"""What a screen's agent is told of its thread comes in the order in which it was said; which sandbox it goes on in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.apps.screens import store as screens
from outlast.apps.screens.agent.conversation import format_messages_for_agent, records_of
from outlast.apps.screens.agent.project_files import FileLists, listed
from outlast.apps.screens.agent.start_stages import lost_since_last_run, should_create_new_sandbox
from outlast.apps.screens.placement import Box
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.agents.workspaces import workspace_of_run
from outlast.kernel.runs import store as runs
from outlast.kernel.runs.history import exchanges_before
from outlast.kernel.runs.tables import runs as run_rows
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes import store as sandboxes
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint, add
from outlast.kernel.sandboxes.rules import State, is_alive
from outlast.kernel.sandboxes.tables import sandboxes as sandbox_rows
from outlast.kernel.subjects.subject import NewSubject
from outlast.kernel.threads.message_store import list_messages
from outlast.kernel.threads.tables import messages
from outlast_sandbox.checkpoints.tree import Entry, Tree, encode
from tests.factories import make_project, make_run, make_thread, make_user, say

WITH_A_DATABASE = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _conversation(tx: Tx, answered: list[bool], limit: int) -> tuple[list[str], list[str], list[Any]]:
    """A thread of numbered messages, an answer behind those that got one: what was said, what is told, the messages."""
    owner = make_user(tx)
    thread_id = make_thread(tx, make_project(tx, owner), owner)
    said: list[str] = []
    own = ""
    for number, has_answer in enumerate(answered):
        own = say(tx, thread_id, owner, f"ask {number}")
        said.append(f"ask {number}")
        if has_answer and number < len(answered) - 1:
            answer = say(tx, thread_id, None, f"answer {number}")
            tx.execute(sa.update(messages).where(messages.c.id == answer).values(reply_to=own))
            said.append(f"answer {number}")
    run = runs.run_of(tx, make_run(tx, thread_id, owner, message_id=own, profile="screen"))
    told = [m.content for m in format_messages_for_agent(records_of(exchanges_before(tx, run, limit)))]
    return said, told, list_messages(tx, thread_id)[0]


@pytest.fixture
async def own_db(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """A hundred conversations in one SQLite: the order is a matter of numbers, not of the database."""
    db = open_database(sqlite_url, tmp_path, SystemClock())
    yield db
    await db.aclose()


@WITH_A_DATABASE
@given(answered=st.lists(st.booleans(), min_size=1, max_size=9), limit=st.integers(1, 12))
async def test_seed_000_property_1_messages_come_in_the_order_in_which_they_were_said(
    own_db: Database, answered: list[bool], limit: int
) -> None:
    """Feature: screen chat history, Property 1: message ordering preservation (requirement 1.1)."""
    said, told, rows = await own_db.write(_conversation, answered, limit)
    assert told == said[len(said) - len(told) :]
    assert told
    assert len(told) <= max(limit, 1) + 1
    moments = [row.created_at for row in rows]
    assert moments == sorted(moments)


@settings(max_examples=200)
@given(st.one_of(st.none(), st.just(""), st.text(min_size=1).map(lambda tail: f"sbx_{tail}")))
def test_seed_000_property_2_a_sandbox_is_reused_exactly_where_the_screen_has_one(sandbox_id: str | None) -> None:
    """Feature: screen chat history, Property 2: sandbox reuse decision (requirements 2.1, 2.4)."""
    assert should_create_new_sandbox(sandbox_id) is (sandbox_id is None or sandbox_id == "")


def _screen(tx: Tx) -> tuple[str, str, str]:
    """(its id, its workspace, its project)."""
    owner = make_user(tx)
    project_id = make_project(tx, owner)
    thread_id = make_thread(tx, project_id, owner, profile="screen")
    run = runs.run_of(tx, make_run(tx, thread_id, owner, profile="screen"))
    workspace_id, screen_id = workspace_of_run(tx, run), new_id("screen")
    new = NewSubject(
        id=screen_id,
        project_id=project_id,
        thread_id=thread_id,
        workspace_id=workspace_id,
        title="Mine",
        named=False,
        created_by=owner.user_id,
    )
    screens.add(tx, new, template="vite", theme="default", place=Box(0, 0, 800, 600))
    return screen_id, workspace_id, project_id


def _sandbox_ids(tx: Tx, actions: list[str]) -> list[tuple[str, str | None]]:
    """After each action on a screen's sandboxes: (the id of the newest, what the screen says)."""
    screen_id, workspace_id, project_id = _screen(tx)
    newest, seen = "", []
    for action in actions:
        row = sandboxes.newest(tx, workspace_id)
        if action == "make" and (row is None or not is_alive(row.life.state)):
            newest = sandboxes.add(tx, workspace_id, project_id, "memory", "node").id
        elif action == "start" and row is not None and row.life.state is State.CREATING:
            sandboxes.change(tx, row.id, State.READY, ref="ref")
        elif action in ("lost", "killed") and row is not None and is_alive(row.life.state):
            sandboxes.change(tx, row.id, State(action))
        seen.append((newest, screens.screen_data(tx, screen_id).sandbox_id))
    return seen


@WITH_A_DATABASE
@given(actions=st.lists(st.sampled_from(["make", "start", "lost", "killed"]), min_size=1, max_size=8))
async def test_seed_000_property_5_a_screen_names_its_new_sandbox_as_soon_as_it_is_recorded(
    own_db: Database, actions: list[str]
) -> None:
    """Feature: screen chat history, Property 5: sandbox ID persistence (requirements 5.1, 5.4)."""
    for newest, said in await own_db.write(_sandbox_ids, actions):
        assert (said or "") == newest


@pytest.mark.parametrize(
    ("sandbox_id", "anew"),
    [
        pytest.param(None, True, id="a new screen"),
        pytest.param("", True, id="a screen whose sandbox is gone"),
        pytest.param("sbx_1", False, id="a screen with one"),
    ],
)
def test_should_create_new_sandbox_with_various_screen_states(sandbox_id: str | None, anew: bool) -> None:
    assert should_create_new_sandbox(sandbox_id) is anew


def _run_after(tx: Tx, ended: bool) -> tuple[Run, str]:
    """A run, after one that has ended (or none); with its workspace."""
    owner = make_user(tx)
    project_id = make_project(tx, owner)
    thread_id = make_thread(tx, project_id, owner)
    if ended:
        before = make_run(tx, thread_id, owner, status="completed", leg="ended")
        tx.execute(sa.update(run_rows).where(run_rows.c.id == before).values(ended_at=tx.now))
    run = runs.run_of(tx, make_run(tx, thread_id, owner, profile="screen"))
    return run, workspace_of_run(tx, run)


def _sandbox(tx: Tx, run: Run, workspace_id: str, minutes: int, *, alive: bool, ref: str = "ref") -> str:
    """One made so many minutes after now (before: negative)."""
    row = sandboxes.add(tx, workspace_id, run.project_id, "memory", "node")
    if ref:
        sandboxes.change(tx, row.id, State.READY, ref=ref)
    if not alive:
        sandboxes.change(tx, row.id, State.LOST)
    at = tx.now + timedelta(minutes=minutes)
    tx.execute(sa.update(sandbox_rows).where(sandbox_rows.c.id == row.id).values(created_at=at))
    return row.id


async def test_context_is_lost_only_with_a_sandbox_that_an_earlier_run_had_worked_in(db: Database) -> None:
    def lost(tx: Tx, *, ended: bool, before: str | None, made: int) -> bool:
        run, workspace_id = _run_after(tx, ended)
        if before is not None:
            _sandbox(tx, run, workspace_id, -9, alive=False, ref=before)
        now = _sandbox(tx, run, workspace_id, made, alive=True)
        return lost_since_last_run(tx, run, workspace_id, now) is not None

    assert await db.write(lambda tx: lost(tx, ended=True, before="ref", made=1))
    assert not await db.write(lambda tx: lost(tx, ended=False, before="ref", made=1))  # nobody had worked in it
    assert not await db.write(lambda tx: lost(tx, ended=True, before=None, made=1))  # there was none
    assert not await db.write(lambda tx: lost(tx, ended=True, before="", made=1))  # it never was ready
    assert not await db.write(lambda tx: lost(tx, ended=True, before="ref", made=-1))  # it is the last run's own


async def test_the_files_that_are_listed_are_those_of_before_the_run(db: Database, tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    lists = FileLists(blobs)

    def tree(*paths: str) -> str:
        entries = [Entry("app", "directory", 0o755), *(Entry(path, "file", 0o644) for path in paths)]
        manifest, _ = encode(Tree.of(entries))
        return blobs.put(manifest)

    def prepare(tx: Tx) -> tuple[Run, str]:
        run, workspace_id = _run_after(tx, ended=False)
        assert lists.before_run(tx, workspace_id, run.id) is None
        add(tx, NewCheckpoint(workspace_id, "template", tree("app/page.tsx"), 1, 0), tx.now)
        add(tx, NewCheckpoint(workspace_id, "tool", tree("app/page.tsx", "b.tsx"), 2, 0, run.id), tx.now)
        return run, workspace_id

    run, workspace_id = await db.write(prepare)
    assert await db.read(lists.before_run, workspace_id, run.id) == ("app/page.tsx",)
    assert await db.read(lists.before_run, workspace_id, "run_next") == ("app/page.tsx", "b.tsx")


def test_a_list_of_files_is_bounded_and_shows_the_kit_on_one_line() -> None:
    kit = ["components/ui/button.tsx", "components/ui/card.tsx"]
    assert listed(["app/page.tsx", *kit, "outlast/bridge.js", "package-lock.json"]) == (
        "app/page.tsx\ncomponents/ui/: button, card"
    )
    many = listed([f"components/part{number}.tsx" for number in range(1_000)])
    assert many.endswith("… and 700 more")
    assert len(many) < 13_000
