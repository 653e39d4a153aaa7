"""What runs ask of people is told to every inbox when it comes, and again when it goes; never more often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from outlast.base.errors import CursorUnknown
from outlast.db.database import Database
from outlast.kernel.inbox.actions import read_inbox
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, turn
from tests.factories import list_inbox, make_thread
from tests.flow.harness import Stage, stage

ASKING = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
QUESTION = {"questions": [{"id": "a", "question": "Which colour?"}]}


async def heard(it: Stage) -> list[tuple[str, Any]]:
    """The kind of each news of the project's inboxes, and what came (None: something went)."""
    lines = await it.services.db.read(read_all, it.project_id)
    events = [orjson.loads(line) for _, line in lines]
    news = [event["data"] for event in events if event["event"] == "inbox.changed"]
    assert all(one["user_id"] is None for one in news)
    return [(one["kind"], one["item"] and one["item"]["text"]) for one in news]


async def test_an_approval_comes_with_the_request_and_goes_with_the_decision(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("look", {"where": "here"})), turn("Fine.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        (item,) = await list_inbox(it.services, it.owner)
        assert (item.kind, item.id, item.run_id, item.tool) == ("approval", approval["id"], started.run_id, "look")
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        assert await it.ended(started.run_id) == "completed"
        assert await list_inbox(it.services, it.owner) == []
        assert await heard(it) == [("approval", item.text), ("approval", None)]


async def test_a_question_goes_with_its_answer_or_with_its_run(db: Database, tmp_path: Path) -> None:
    ask = FakeTool("ask_user", asks_person=True)
    turns = [turn(Call("ask_user", QUESTION)), turn("Fine."), turn(Call("ask_user", QUESTION)), turn("Never.")]
    async with stage(db, tmp_path, turns, ask) as it:
        first = await it.start()
        question = (await it.until(first.run_id, "question.asked"))["data"]["question"]
        await answer_question(it.services, it.owner, question["id"], {"a": "Red"})
        await it.ended(first.run_id)
        second = await it.start("Again")
        await it.until(second.run_id, "question.asked")
        await cancel_run(it.services, it.owner, second.run_id)
        assert await it.ended(second.run_id) == "cancelled"
        assert await list_inbox(it.services, it.owner) == []
        assert await heard(it) == [("question", "Which colour?"), ("question", None)] * 2


async def test_a_run_that_asks_nobody_leaves_inboxes_alone(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("look", {})), turn("Fine.")]
    async with stage(db, tmp_path, turns, FakeTool("look")) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        assert await heard(it) == []


async def test_an_inbox_is_read_page_by_page_and_nothing_is_missing_or_twice(db: Database, tmp_path: Path) -> None:
    """10,000 waiting runs made one answer of 5.3 MB."""
    turns = [turn(Call("look", {"where": str(number)})) for number in range(5)]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        for _ in range(5):
            thread = await it.services.db.write(make_thread, it.project_id, it.owner)
            started = await it.start(target=thread)
            await it.until(started.run_id, "approval.requested")
        whole = await list_inbox(it.services, it.owner)
        assert len(whole) == 5
        first = await read_inbox(it.services, it.owner, None, 2, None)
        second = await read_inbox(it.services, it.owner, it.project_id, 2, first.next)
        await decide_approval(it.services, it.owner, second.items[-1].id, "deny")
        last = await read_inbox(it.services, it.owner, None, 2, second.next)
        assert [*first.items, *second.items, *last.items] == whole
        assert last.next is None
        with pytest.raises(CursorUnknown):
            await read_inbox(it.services, it.owner, None, 2, "nowhere")
