"""Servers of tools that ask a person in the middle of a call: the run waits, and the answer goes back to the server."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from outlast.base.errors import MalformedInput
from outlast.db.database import Database
from outlast.kernel.mcp.connection import without_deadline
from outlast.kernel.mcp.live_calls import Answer
from outlast.kernel.mcp.outcomes import Request
from outlast.kernel.runs.approval_actions import answer_question
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings
from outlast.testing.scripted_model import Call, Turn, turn
from tests.flow.harness import Stage, stage, told_last
from tests.flow.mcp.asking_server import asking_server
from tests.flow.mcp.test_runs import allow_all, connect, settings_for
from tests.flow.mcp.tool_server import ToolServer

BOOK = Call("tracker__book", {"train": "EC 7"})
LIVE = Call("tracker__book_live", {})
PAY = Call("tracker__pay", {})


@asynccontextmanager
async def asked_by(
    db: Database, folder: Path, *turns: Turn, modern: bool = True, **more: Any
) -> AsyncIterator[tuple[Stage, ToolServer, str, dict[str, Any]]]:
    """A run that waits for the answer to a server's question: the stage, the server, the run and the question."""
    async with asking_server(modern=modern) as server:
        rules = (PolicyRule(name="all", tool="tracker__*", decision="allow"),)
        settings: Settings = replace(settings_for(server, **more), policy=rules)
        async with stage(db, folder, list(turns), settings=settings) as it:
            await allow_all(it, await connect(it, server))
            run_id = (await it.start()).run_id
            asked = await it.until(run_id, "question.asked")
            yield it, server, run_id, asked["data"]["question"]


async def answer(it: Stage, question: dict[str, Any], **answers: Any) -> None:
    await answer_question(it.services, it.owner, question["id"], answers)


async def parked(it: Stage, run_id: str) -> None:
    status = await it.until(run_id, "run.status")
    while status["data"].get("waiting_for") != "answer":
        status = await it.until(run_id, "run.status")


async def test_the_fields_of_a_servers_form_are_asked_in_one_question_and_go_back_in_their_types(
    db: Database, tmp_path: Path
) -> None:
    async with asked_by(db, tmp_path, turn(BOOK), turn("Booked.")) as (it, server, run_id, question):
        decision, seats, side, insured = question["questions"]
        assert decision["question"] == "tracker asks: Which seats?"
        assert (decision["options"], decision["closed"]) == (["Accept", "Decline", "Cancel"], True)
        assert (seats["question"], seats["placeholder"], seats["optional"]) == ("Seats", "A whole number", True)
        assert (side["options"], side["closed"]) == (["window", "aisle"], True)
        assert insured["question"] == "insured (optional): Insurance for 5 €"
        await answer(it, question, decision="Accept", seats="2", side="aisle", insured="Yes")
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == ['["accept",{"seats":2,"side":"aisle","insured":true}]']
        first, second = [arguments for name, arguments in server.calls if name == "book"]
        assert (first["given"], second["given"], second["state"]) == (False, True, "EC 7")


@pytest.mark.parametrize(
    ("answers", "field", "message"),
    [
        ({"decision": "Accept", "side": "aisle"}, "answers.seats", "Seats needs an answer."),
        ({"decision": "Accept", "seats": "12", "side": "aisle"}, "answers.seats", "Seats is at least 1 and at most 9."),
        ({"decision": "Accept", "seats": "two", "side": "aisle"}, "answers.seats", "Seats is a whole number."),
        ({"decision": "Maybe"}, "answers.decision", "The question 'decision' takes only its options."),
    ],
)
async def test_answers_that_do_not_fit_the_form_are_refused_and_can_be_given_again(
    db: Database, tmp_path: Path, answers: dict[str, str], field: str, message: str
) -> None:
    async with asked_by(db, tmp_path, turn(BOOK), turn("Booked.")) as (it, _, run_id, question):
        with pytest.raises(MalformedInput) as refused:
            await answer(it, question, **answers)
        assert (refused.value.message, refused.value.fields["field"]) == (message, field)
        await answer(it, question, decision="Accept", seats="2", side="aisle")
        assert await it.ended(run_id) == "completed"


@pytest.mark.parametrize(("choice", "action"), [("Decline", "decline"), ("Cancel", "cancel")])
async def test_a_server_reads_that_the_person_declined(db: Database, tmp_path: Path, choice: str, action: str) -> None:
    async with asked_by(db, tmp_path, turn(BOOK), turn("Hm.")) as (it, _, run_id, question):
        await answer(it, question, decision=choice)
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == [f'["{action}",null]']


async def test_a_question_over_the_connection_parks_the_run_and_the_same_call_gets_the_answer(
    db: Database, tmp_path: Path
) -> None:
    async with asked_by(db, tmp_path, turn(LIVE), turn("Booked."), modern=False) as (it, server, run_id, question):
        assert question["questions"][0]["question"] == "tracker asks: How many seats?"
        await parked(it, run_id)
        await answer(it, question, decision="Accept", seats="3")
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == ["accept: 3"]
        assert server.calls == [("book_live", {}), ("answered", {"action": "accept"})]


async def test_the_time_of_a_person_is_not_the_time_of_the_server() -> None:
    async def ask(_request: Request) -> Answer:
        assert scope.deadline == math.inf
        return {"action": "decline"}

    with anyio.fail_after(0.5) as scope:
        assert await without_deadline(scope, 7, ask)(Request("Why?", {})) == {"action": "decline"}
        assert 6 < scope.deadline - anyio.current_time() <= 7


async def test_a_page_that_the_server_needs_is_shown_as_a_link_and_the_call_is_made_again_after_it(
    db: Database, tmp_path: Path
) -> None:
    async with asked_by(db, tmp_path, turn(PAY), turn("Paid."), modern=False) as (it, server, run_id, question):
        [item] = question["questions"]
        assert item["question"] == "tracker asks you to open a page of pay.example.com: Pay here"
        assert (item["url"], item["options"][0]) == ("https://pay.example.com/7", "I opened the page")
        server.stuck.set()
        await answer(it, question, decision="I opened the page")
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == ["paid"]
