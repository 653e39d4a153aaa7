"""The demo model in an agent that somebody wrote: which tool it calls, with which arguments."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel

from outlast import tool
from outlast.kernel.agents.final_answer import answer_tool
from outlast.kernel.agents.tools.ask_user import ask_user
from outlast.kernel.models.protocol import ModelMessage, TextDelta, TextPiece, ToolResultPiece, ToolSpec
from outlast_demo.own_tools import arguments_from
from tests.unit.demo.test_model import TOOLS, calls_in, request_of, turn_of


class Topic(StrEnum):
    ORDER = "order"
    REPAIR = "repair"


class Verdict(BaseModel):
    urgent: bool
    topic: Topic
    summary: str


@tool
def refund(order_id: str, cents: int, note: str = "") -> str:
    """Pay money back to a buyer. At most the price."""
    return order_id


@tool
def find_order(order_id: str) -> str:
    """Find an order."""
    return order_id


OWN = (refund.spec, find_order.spec)


async def said_and_called(asked: str, tools: tuple[ToolSpec, ...], *results: ToolResultPiece) -> tuple[str, list[Any]]:
    messages = [ModelMessage("user", (TextPiece(asked),))]
    deltas = await turn_of(request_of([*messages, *([ModelMessage("tool", results)] if results else [])], tools))
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return said, [(call.name, call.arguments) for call in calls_in(deltas)]


@pytest.mark.parametrize(
    ("asked", "name", "arguments"),
    [
        ("Refund 4200 cents of order B-17", "refund", '{"order_id":"B-17","cents":4200}'),
        ("Find order B-17, please", "find_order", '{"order_id":"B-17"}'),
        ("a refund for 17, cents: 300", "refund", '{"order_id":"17","cents":300}'),
        ('/call refund {"order_id": "B-1", "cents": 5}', "refund", '{"order_id":"B-1","cents":5}'),
    ],
)
async def test_it_calls_the_tool_that_a_message_names(asked: str, name: str, arguments: str) -> None:
    assert (await said_and_called(asked, OWN))[1] == [(name, arguments)]


async def test_it_offers_the_tools_if_the_message_names_none() -> None:
    said, called = await said_and_called("Good morning", OWN)
    assert called == []
    assert "- `refund`: Pay money back to a buyer" in said


async def test_it_quotes_the_result_and_says_if_the_call_did_not_succeed() -> None:
    done, called = await said_and_called("refund", OWN, ToolResultPiece("c", "refund", "paid", is_error=False))
    assert called == []
    assert done.startswith("Done.")
    assert "paid" in done
    refused, _ = await said_and_called("refund", OWN, ToolResultPiece("c", "refund", "Denied", is_error=True))
    assert refused.startswith("The call did not succeed.")


async def test_an_agent_with_an_output_gets_an_object_that_fits() -> None:
    tools = (answer_tool(Verdict).spec,)
    _, called = await said_and_called("My repair is urgent!", tools)
    verdict = Verdict.model_validate_json(called[0][1])
    assert (verdict.urgent, verdict.topic, verdict.summary) == (True, Topic.REPAIR, "My repair is urgent!")


@pytest.mark.parametrize(("letter", "urgent"), [("My brakes do not work.", True), ("When does B-18 arrive?", False)])
async def test_a_letter_that_alarms_is_urgent(letter: str, urgent: bool) -> None:
    _, called = await said_and_called(letter, (answer_tool(Verdict).spec,))
    assert Verdict.model_validate_json(called[0][1]).urgent is urgent


async def test_beside_the_tools_of_a_sandbox_the_recorded_answers_stay() -> None:
    _, called = await said_and_called("please clean up", (*TOOLS, *OWN))
    assert [name for name, _ in called] == ["terminal"]
    _, called = await said_and_called("find order 9", (*TOOLS, *OWN))
    assert [name for name, _ in called] == ["find_order"]


def test_arguments_that_a_message_does_not_have_are_left_out_unless_they_are_a_required_text() -> None:
    assert arguments_from("hello", refund.spec.parameters) == {"order_id": "hello"}
    assert "questions" not in arguments_from("hello", ask_user.spec.parameters)


@pytest.mark.parametrize(("choice", "name"), [("find_order", "find_order"), ("required", "refund")])
async def test_a_call_that_the_agent_requires_is_made_whatever_the_message_says(choice: str, name: str) -> None:
    request = request_of([ModelMessage("user", (TextPiece("Hello there"),))], OWN)
    deltas = await turn_of(replace(request, tool_choice=choice))
    assert [call.name for call in calls_in(deltas)] == [name]
