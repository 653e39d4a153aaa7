"""Comments given to members and to the agent."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from outlast.apps.documents.rows import CommentRow
from outlast.apps.documents.tables import comments
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.rules import text_of
from outlast.kernel.threads.tables import messages
from tests.document_changes import delete_section
from tests.flow.documents.talk import *  # noqa: F403  # fixtures
from tests.flow.documents.talk import Talk


def said(tx: Tx, thread_id: str) -> list[tuple[str, str]]:
    """The thread's messages: who, what."""
    mine = sa.select(messages).where(messages.c.thread_id == thread_id).order_by(messages.c.position)
    return [(row.sender_id, text_of(row.parts)) for row in tx.execute(mine)]


def runs_of(tx: Tx, thread_id: str) -> list[RunRow]:
    return tx.rows(RunRow, sa.select(runs).where(runs.c.thread_id == thread_id).order_by(runs.c.id))


async def test_the_agent_gets_a_comment_with_a_conversation_about_it_and_a_run(talk: Talk) -> None:
    db = talk.services.db
    made = await talk.comment("emil", "Make this shorter.", block_id=talk.blocks[0])
    given = (await talk.call("emil", "POST", f"/comments/{made['id']}/assign", {"to": "agent"})).json()
    comment, thread_id = given["comment"], given["thread_id"]
    assert (comment["assigned_to"], comment["thread_id"]) == ("agent", thread_id)
    thread = await talk.get("vera", f"/threads/{thread_id}")
    assert thread["anchor"] == {"type": "comment", "id": made["id"], "document_id": talk.document_id}
    assert (thread["profile"], thread["title"]) == ("document", "Make this shorter.")
    assert (thread["lock"]["holder_name"], thread["active_run_id"]) == ("Emil", given["run_id"])
    emil = talk.team.editor.user_id
    assert await db.read(said, thread_id) == [(emil, "Make this shorter.")]
    (run,) = await db.read(runs_of, thread_id)
    assert (run.profile, run.started_by, run.status) == ("document", emil, "queued")
    told = (await talk.news("comment.updated"))[-1]["data"]["comment"]
    assert told == comment


async def test_asking_again_goes_on_in_the_same_conversation_behind_the_run_at_work(talk: Talk) -> None:
    made = await talk.comment("emil", "@agent make this shorter", assign=None)
    assert made["assigned_to"] == "agent"
    path = f"/comments/{made['id']}/assign"
    again = (await talk.call("emil", "POST", path, {"to": "agent", "message": "And friendlier."})).json()
    assert again["thread_id"] == made["thread_id"]
    answer = await talk.comment("emil", "@Agent: in German, please", parent_id=made["id"])
    assert (answer["parent_id"], answer["assigned_to"]) == (made["id"], None)
    texts = [text for _, text in await talk.services.db.read(said, made["thread_id"])]
    assert texts == ["make this shorter", "And friendlier.", "in German, please"]
    rows = await talk.services.db.read(runs_of, made["thread_id"])
    assert [row.leg for row in rows] == ["ready", "blocked", "blocked"]


async def test_nothing_is_written_where_the_run_cannot_be_started(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await talk.comment("emil", "@agent shorten this")
    path = f"/comments/{made['id']}/assign"
    locked = await talk.call("cora", "POST", path, {"to": "agent", "message": "No, longer."})
    assert (locked.status, locked.code) == (409, "thread_locked")
    assert locked.json()["fields"]["holder_name"] == "Emil"
    answer = await talk.call(
        "cora",
        "POST",
        f"/documents/{talk.document_id}/comments",
        {"body": "@agent no, longer", "parent_id": made["id"]},
    )
    assert answer.code == "thread_locked"
    unknown = await talk.call("emil", "POST", path, {"to": "agent", "model": "gpt-none"})
    assert unknown.code == "unknown_model"
    await talk.services.db.write(lambda tx: tx.update(users, {"id": talk.team.editor.user_id}, plan="starter"))
    dear = replace(talk.services.catalog.default, credits=26)
    monkeypatch.setattr(talk.services.catalog, "default", dear)
    poor = await talk.call("emil", "POST", path, {"to": "agent"})
    assert poor.code == "credits_needed"
    listed = await talk.get("vera", f"/documents/{talk.document_id}/comments")
    assert [one["body"] for one in listed["items"]] == ["@agent shorten this"]
    assert len(await talk.services.db.read(said, made["thread_id"])) == 1


async def test_a_member_gets_a_comment_until_it_is_resolved_or_given_on(talk: Talk) -> None:
    made = await talk.comment("emil", "Check the numbers.", section_id=talk.sections[0])
    path = f"/comments/{made['id']}/assign"
    given = (await talk.call("emil", "POST", path, {"to": talk.cora.user_id})).json()
    assert (given["comment"]["assigned_name"], given["thread_id"], given["run_id"]) == ("Cora", None, None)
    (item,) = await talk.inbox("cora")
    shown = {name: item[name] for name in ("kind", "text", "by_name", "document_title", "comment_id", "section_id")}
    assert shown == {
        "kind": "assigned",
        "text": "Check the numbers.",
        "by_name": "Emil",
        "document_title": "Rice",
        "comment_id": made["id"],
        "section_id": talk.sections[0],
    }
    await talk.get("cora", f"/comments/{made['id']}")
    assert len(await talk.inbox("cora")) == 1  # seen is not done
    await talk.call("emil", "POST", path, {"to": talk.team.owner.user_id})
    assert (await talk.inbox("cora"), len(await talk.inbox("olga"))) == ([], 1)
    await talk.call("olga", "PATCH", f"/comments/{made['id']}", {"status": "resolved"})
    assert await talk.inbox("olga") == []
    await talk.call("cora", "PATCH", f"/comments/{made['id']}", {"status": "open"})
    assert [one["by_name"] for one in await talk.inbox("olga")] == ["Cora"]
    await talk.call("emil", "POST", path, {"to": None})
    assert await talk.inbox("olga") == []


async def test_only_members_who_may_edit_can_be_given_a_comment(talk: Talk) -> None:
    made = await talk.comment("emil", "Check this.")
    answer = await talk.comment("emil", "Please.", parent_id=made["id"])
    path = f"/comments/{made['id']}/assign"
    assert (await talk.call("emil", "POST", path, {"to": talk.team.viewer.user_id})).code == "forbidden"
    assert (await talk.call("emil", "POST", path, {"to": talk.team.stranger.user_id})).code == "not_found"
    assert (await talk.call("vera", "POST", path, {"to": "agent"})).code == "forbidden"
    below = await talk.call("emil", "POST", f"/comments/{answer['id']}/assign", {"to": "agent"})
    assert below.code == "malformed_input"


async def test_giving_a_resolved_comment_to_somebody_opens_it_again(talk: Talk) -> None:
    made = await talk.comment("emil", "Check this.")
    await talk.call("emil", "PATCH", f"/comments/{made['id']}", {"status": "resolved"})
    given = await talk.call("cora", "POST", f"/comments/{made['id']}/assign", {"to": "agent"})
    assert given.json()["comment"]["status"] == "open"


async def test_a_conversation_that_was_archived_is_brought_back_and_one_that_is_gone_replaced(talk: Talk) -> None:
    made = await talk.comment("emil", "@agent go")
    db = talk.services.db

    def rest(tx: Tx) -> None:
        tx.execute(sa.update(runs).values(leg="ended", status="completed"))
        threads.set_run_state(tx, made["thread_id"], "complete", None)
        threads.set_status(tx, made["thread_id"], "archived")

    await db.write(rest)
    path = f"/comments/{made['id']}/assign"
    again = (await talk.call("emil", "POST", path, {"to": "agent"})).json()
    assert again["thread_id"] == made["thread_id"]
    assert (await talk.get("vera", f"/threads/{made['thread_id']}"))["status"] == "open"
    await db.write(rest)
    assert (await talk.call("olga", "DELETE", f"/threads/{made['thread_id']}")).status == 204
    at = await talk.get("vera", f"/comments/{made['id']}")
    assert (at["thread_id"], at["assigned_to"]) == (None, None)
    other = (await talk.call("emil", "POST", path, {"to": "agent"})).json()
    assert other["thread_id"] not in (None, made["thread_id"])


async def test_a_repeated_key_starts_one_run(talk: Talk) -> None:
    made = await talk.comment("emil", "Shorter.")
    path, body = f"/comments/{made['id']}/assign", {"to": "agent"}
    first = await talk.call("emil", "POST", path, body, Idempotency_Key="a1")
    again = await talk.call("emil", "POST", path, body, Idempotency_Key="a1")
    assert first.json() == again.json()
    rows = await talk.services.db.read(runs_of, first.json()["thread_id"])
    assert len(rows) == 1
    found = await talk.services.db.read(lambda tx: tx.find(CommentRow, comments, {"id": made["id"]}))
    assert found is not None
    assert found.thread_id == first.json()["thread_id"]


async def test_a_thread_says_what_it_hangs_on_in_the_document(talk: Talk) -> None:
    made = await talk.comment("emil", "@agent shorten\nthis", block_id=talk.blocks[0])
    section, block = talk.sections[0], talk.blocks[0]

    async def about(thread_id: str) -> dict[str, object]:
        shown = (await talk.get("vera", f"/threads/{thread_id}"))["about"]
        return {name: value for name, value in shown.items() if value}

    async def begin(**anchor: str) -> str:
        body = {"profile": "document", "anchor": anchor}
        answer = await talk.call("emil", "POST", f"/projects/{talk.team.project_id}/threads", body)
        assert answer.status == 201, answer.body
        return str(answer.json()["id"])

    whole = {"document_id": talk.document_id, "document_title": "Rice"}
    here = {**whole, "section_id": section, "heading": "Introduction"}
    assert await about(talk.thread_id) == whole
    assert await about(made["thread_id"]) == {**here, "comment_id": made["id"], "text": "@agent shorten this"}
    of_section = await begin(type="section", id=section)
    selected = await begin(type="selection", block_id=block, text="new\nway")
    assert await about(of_section) == here
    assert await about(selected) == {**here, "block_id": block, "text": "new way"}
    await talk.write(delete_section(section))
    assert await about(of_section) == {**whole, "gone": True}
    assert await about(selected) == {**whole, "text": "new way", "gone": True}
    await talk.call("emil", "DELETE", f"/comments/{made['id']}")
    assert await about(made["thread_id"]) == {**whole, "gone": True}
