"""A fork is a copy of the messages up to a point, and its parent stays what it was."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.streams.tables import log
from outlast.kernel.threads import family, forks, store
from outlast.kernel.threads.forks import fork_thread
from outlast.kernel.threads.message_store import add_message, list_messages
from outlast.kernel.threads.rows import MessageRow
from outlast.kernel.threads.tables import messages, threads
from outlast.kernel.threads.thread_list import search_threads
from tests.factories import Team, make_project, make_thread, make_user, say, text_part


def state_of(tx: Tx, thread_id: str) -> list[dict[str, Any]]:
    """Everything stored about one thread."""
    of_thread = [
        sa.select(threads).where(threads.c.id == thread_id),
        sa.select(messages).where(messages.c.thread_id == thread_id).order_by(messages.c.position),
        sa.select(log).where(log.c.stream_id == thread_id).order_by(log.c.first_seq),
    ]
    return [row._asdict() for statement in of_thread for row in tx.execute(statement)]


def content(tx: Tx, thread_id: str) -> list[dict[str, Any]]:
    """The messages without what names the thread."""
    page = list_messages(tx, thread_id, limit=1000)[0]
    return [message.model_dump(exclude={"id", "thread_id"}) for message in page]


def conversation(tx: Tx, team: Team, turns: int) -> str:
    thread_id = make_thread(tx, team.project_id, team.owner, anchor={"type": "section", "id": "sec_1"})
    for n in range(turns):
        question = say(tx, thread_id, team.owner, f"question {n}")
        call = {
            "type": "tool_call",
            "id": f"prt_c{n}",
            "call_id": "c",
            "tool": "terminal",
            "status": "done",
            "result": "ok",
        }
        image = {"type": "image", "id": f"prt_i{n}", "attachment_id": "att_1", "media_type": "image/png"}
        parts = [text_part(f"answer {n}"), call, image]
        add_message(
            tx, thread_id, "assistant", None, "complete", parts, model="demo", reply_to=question, run_id=f"run_{n}"
        )
    return thread_id


async def test_at_every_point_the_copy_equals_the_beginning_and_the_parent_is_unchanged(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        parent_id = conversation(tx, team, 4)
        before, whole = state_of(tx, parent_id), content(tx, parent_id)
        parent = store.hold(tx, parent_id)
        for message in list_messages(tx, parent_id, limit=1000)[0]:
            fork_id = fork_thread(tx, parent, team.editor, message.id, "Fork")
            assert content(tx, fork_id) == whole[: message.position]
            data = store.thread_data(tx, fork_id)
            assert (data.parent_thread_id, data.parent_message_id) == (parent_id, message.id)
            assert (data.message_count, data.created_by, data.anchor) == (
                message.position,
                team.editor.user_id,
                {"type": "section", "id": "sec_1"},
            )
        assert state_of(tx, parent_id) == before

    await db.write(run)


async def test_a_fork_goes_its_own_way(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        parent_id = conversation(tx, team, 1)
        fork_id = fork_thread(tx, store.hold(tx, parent_id), team.editor, None, "Fork")
        before = state_of(tx, parent_id)
        say(tx, fork_id, team.editor, "only here")
        say(tx, fork_id, team.editor, "and this")
        store.delete_thread(tx, fork_id)
        assert state_of(tx, parent_id) == before

    await db.write(run)


async def test_answers_in_a_fork_answer_the_copied_questions(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        fork_id = fork_thread(tx, store.hold(tx, conversation(tx, team, 2)), team.editor, None, "Fork")
        rows = tx.rows(
            MessageRow, sa.select(messages).where(messages.c.thread_id == fork_id).order_by(messages.c.position)
        )
        assert [rows[1].reply_to, rows[3].reply_to] == [rows[0].id, rows[2].id]

    await db.write(run)


async def test_the_line_of_forks_is_kept_and_ends_where_a_thread_was_deleted(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        first = team.thread_id
        second = fork_thread(tx, store.hold(tx, first), team.owner, None, "Second")
        third = fork_thread(tx, store.hold(tx, second), team.owner, None, "Third")
        assert [one.title for one in family.list_line(tx, third)] == ["first message", "Second", "Third"]
        store.delete_thread(tx, first)
        assert [one.id for one in family.list_line(tx, third)] == [second, third]
        assert family.list_line(tx, first) == []

    await db.write(run)


async def test_a_forks_messages_are_found_by_search(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        fork_id = fork_thread(tx, store.hold(tx, conversation(tx, team, 2)), team.owner, None, "Fork")
        found = search_threads(tx, team.project_id, "answer", None, 10)
        assert fork_id in [item.id for item in found.items]

    await db.write(run)


async def test_only_a_message_of_the_thread_is_a_point_to_fork_from(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        ada = make_user(tx)
        foreign = make_thread(tx, make_project(tx, ada), ada)
        message_id = say(tx, foreign, ada, "elsewhere")
        with pytest.raises(NotFound):
            fork_thread(tx, store.hold(tx, team.thread_id), team.owner, message_id, "Fork")
        empty = make_thread(tx, team.project_id, team.owner)
        with pytest.raises(NotFound, match="no messages yet"):
            fork_thread(tx, store.hold(tx, empty), team.owner, None, "Fork")

    await db.write(run)


async def test_files_are_copied_as_they_were_at_the_message(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        asked: list[tuple[str, str, str]] = []
        message_id = list_messages(tx, team.thread_id, before=2)[0][0].id
        monkeypatch.setattr(forks, "fork_files", lambda _tx, parent, fork, at: asked.append((parent.id, fork, at)))
        fork_id = fork_thread(tx, store.hold(tx, team.thread_id), team.owner, None, "Fork", with_files=True)
        assert asked == [(team.thread_id, fork_id, message_id)]

    await db.write(run)
