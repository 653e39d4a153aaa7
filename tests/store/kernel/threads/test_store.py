"""Threads and messages, on both databases."""

from __future__ import annotations

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.base.errors import CursorUnknown, NotFound
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.locks.tables import locks
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.streams.tables import log
from outlast.kernel.threads import store
from outlast.kernel.threads import thread_list as lists
from outlast.kernel.threads.message_store import add_message, list_messages, message_data
from outlast.kernel.threads.tables import messages, threads
from tests.factories import Team, make_project, make_run, make_thread, make_user, say, text_part


def logged(tx: Tx, stream_id: str) -> list[str]:
    return [orjson.loads(line)["event"] for _, line in read_all(tx, stream_id)]


async def test_messages_are_numbered_and_paged_by_position(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        thread_id = make_thread(tx, make_project(tx, ada), ada, *(f"number {n}" for n in range(1, 121)))
        newest, older = list_messages(tx, thread_id)
        assert ([newest[0].position, newest[-1].position], older) == ([71, 120], 71)
        middle, older = list_messages(tx, thread_id, older)
        assert ([middle[0].position, middle[-1].position], older) == ([21, 70], 21)
        oldest, older = list_messages(tx, thread_id, older)
        assert ([oldest[0].position, oldest[-1].position], older) == ([1, 20], None)
        assert store.thread_data(tx, thread_id).message_count == 120

    await db.write(run)


async def test_messages_added_at_once_get_a_position_each(db: Database) -> None:
    def prepare(tx: Tx) -> tuple[Team, str]:
        team = Team(tx)
        return team, make_thread(tx, team.project_id, team.owner)

    team, thread_id = await db.write(prepare)
    async with anyio.create_task_group() as tasks:
        for n in range(20):
            tasks.start_soon(db.write, say, thread_id, team.owner, f"at once {n}")
    page, _ = await db.read(list_messages, thread_id)
    assert [message.position for message in page] == list(range(1, 21))


async def test_a_message_is_told_whole_with_its_senders_name(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        thread_id = make_thread(tx, make_project(tx, ada), ada)
        part = text_part("an answer")
        made = add_message(
            tx,
            thread_id,
            "assistant",
            None,
            "error",
            [part],
            model="demo",
            run_id="run_1",
            credits=2,
            error={"code": "model_timeout", "message": "It took too long.", "hint": "", "retry_after_s": None},
            stop_reason="provider",
        )
        say(tx, thread_id, ada, "hello")
        assert made == message_data(tx, made.id)
        assert made.parts[0].model_dump() == part
        assert made.error is not None
        assert made.error.code == "model_timeout"
        _, line = read_all(tx, thread_id)[0]
        assert orjson.loads(line)["data"]["message"] == made.model_dump()
        assert [m.sender_name for m in list_messages(tx, thread_id)[0]] == [None, "Ada"]
        assert logged(tx, thread_id) == ["message.created", "message.created"]

    await db.write(run)


async def test_the_first_message_titles_a_thread_until_a_person_does(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        project_id = make_project(tx, ada)
        untitled = make_thread(tx, project_id, ada, "# Plan the trip\nand more", "second")
        titled = make_thread(tx, project_id, ada, "hello", title="Chosen")
        assert store.thread_data(tx, untitled).title == "Plan the trip"
        assert store.thread_data(tx, titled).title == "Chosen"
        store.rename(tx, untitled, project_id, "Renamed")
        assert store.thread_data(tx, untitled).title == "Renamed"

    await db.write(run)


async def test_a_thread_is_announced_on_its_own_and_on_the_projects_log(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        project_id = make_project(tx, ada)
        thread_id = make_thread(tx, project_id, ada, anchor={"type": "section", "id": "sec_1"})
        store.set_run_state(tx, thread_id, "generating", "run_1")
        data = store.announce(tx, thread_id)
        assert (data.run_status, data.active_run_id, data.anchor) == (
            "generating",
            "run_1",
            {"type": "section", "id": "sec_1"},
        )
        assert logged(tx, thread_id) == logged(tx, project_id) == ["thread.updated"]
        assert tx.notices == {thread_id, project_id}

    await db.write(run)


async def test_a_list_is_paged_by_last_change(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        project_id = make_project(tx, ada)
        made = [make_thread(tx, project_id, ada, f"thread {n}") for n in range(7)]  # all at the same moment
        store.set_status(tx, made[0], "archived")
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = lists.list_threads(tx, project_id, "open", cursor, 2)
            seen += [item.id for item in page.items]
            cursor = page.next
            if cursor is None:
                break
        assert sorted(seen) == sorted(made[1:])
        assert len(seen) == 6
        archived = lists.list_threads(tx, project_id, "archived", None, 10)
        assert [item.id for item in archived.items] == [made[0]]
        assert len(lists.list_threads(tx, project_id, None, None, 10).items) == 7

    await db.write(run)


@pytest.mark.parametrize("cursor", ["", "nonsense", "x:thr_1", "99999999999999999999999999:thr_1"])
async def test_a_foreign_cursor_is_refused(db: Database, cursor: str) -> None:
    def run(tx: Tx) -> None:
        with pytest.raises(CursorUnknown):
            lists.list_threads(tx, "prj_1", "open", cursor, 10)

    await db.read(run)


async def test_a_deleted_thread_leaves_nothing_behind(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        run_id = make_run(tx, team.thread_id, team.owner, status="completed", leg="ended")
        store.announce(tx, team.thread_id)
        store.delete_thread(tx, team.thread_id)
        tx.end()
        for table in (messages, threads, locks):
            assert tx.execute(sa.select(table)).all() == []
        left = set(tx.execute(sa.select(log.c.stream_id)).scalars())
        assert left == {team.project_id}
        assert run_id not in left
        with pytest.raises(NotFound):
            store.thread_data(tx, team.thread_id)

    await db.write(run)


async def test_the_thread_names_the_sandbox_that_lives(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        workspace_id = new_id("workspace")
        common = {"project_id": team.project_id, "created_at": tx.now, "last_used_at": tx.now}
        tx.execute(
            sa.insert(workspaces).values(id=workspace_id, owner_type="thread", owner_id=team.thread_id, **common)
        )
        tx.execute(sa.update(threads).values(workspace_id=workspace_id))
        ended, alive = (make_sandbox(tx, workspace_id, team.project_id) for _ in range(2))
        end_sandbox(tx, ended)
        assert store.thread_data(tx, team.thread_id).sandbox_id == alive
        end_sandbox(tx, alive)
        assert store.thread_data(tx, team.thread_id).sandbox_id is None

    await db.write(run)


def make_sandbox(tx: Tx, workspace_id: str, project_id: str) -> str:
    sandbox_id = new_id("sandbox")
    tx.execute(
        sa.insert(sandboxes).values(
            id=sandbox_id,
            workspace_id=workspace_id,
            project_id=project_id,
            provider="local",
            state="ready",
            created_at=tx.now,
            last_used_at=tx.now,
        )
    )
    return sandbox_id


def end_sandbox(tx: Tx, sandbox_id: str) -> None:
    tx.execute(sa.update(sandboxes).where(sandboxes.c.id == sandbox_id).values(state="killed", ended_at=tx.now))
