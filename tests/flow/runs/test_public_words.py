"""Runs of agents that are written with the public words, as a person writes theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from pydantic import BaseModel

from outlast import Agent, Context, tool
from outlast.base.agent_errors import ToolChanged
from outlast.base.errors import ModelCut
from outlast.db.database import Database, Tx
from outlast.kernel.models.protocol import TextPiece
from outlast.kernel.runs.actions import continue_run, retry_run
from outlast.kernel.runs.approval_actions import decide_approval, read_decision
from outlast.kernel.runs.settings import PolicyRule, RetrySettings
from outlast.kernel.runs.transcript import Run
from outlast.kernel.settings import Settings
from outlast.testing.scripted_model import Call, Fail, turn
from tests.flow.harness import Stage, stage, told


class Verdict(BaseModel):
    urgent: bool
    topic: str


@tool
def order_of(order_id: str) -> dict[str, Any]:
    """Find an order."""
    return {"id": order_id, "cents": 500}


@tool(ask="Refunds need a person")
async def refund(ctx: Context, order_id: str, cents: int) -> str:
    """Pay money back to a buyer."""
    ctx.show(f"{cents / 100:.2f} €")
    return f"paid {order_id}"


SUPPORT = Agent("chat", instructions="You answer buyers. Be short.", tools=[order_of, refund])
REFUND = Call("refund", {"order_id": "77", "cents": 500})


async def test_the_model_gets_the_instructions_the_conversation_and_what_the_tools_return(
    db: Database, tmp_path: Path
) -> None:
    turns = [turn(Call("order_of", {"order_id": "77"})), turn("It cost 5 €.")]
    async with stage(db, tmp_path, turns, agent=SUPPORT) as it:
        assert await it.ended((await it.start("What did order 77 cost?")).run_id) == "completed"
        first, second = it.model.requests
        assert first.system == "You answer buyers. Be short."
        assert [spec.name for spec in first.tools] == ["order_of", "refund"]
        assert first.messages[0].pieces == (TextPiece("What did order 77 cost?"),)
        assert told(second.messages[-1]) == ['{"id":"77","cents":500}']


async def test_a_person_decides_about_a_call_of_a_tool_that_asks_and_is_shown_why(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn(REFUND), turn("Done.")], agent=SUPPORT) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        assert approval["reason"] == "Refunds need a person"
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        assert await it.ended(started.run_id) == "completed"
        assert told(it.model.requests[1].messages[-1]) == ["paid 77"]


def choices(it: Stage) -> list[str]:
    return [request.tool_choice for request in it.model.requests]


@pytest.mark.parametrize("choice", ["required", "order_of"])
async def test_a_required_call_is_required_in_the_first_turn_only(db: Database, tmp_path: Path, choice: str) -> None:
    agent = Agent("chat", tools=[order_of, refund], tool_choice=choice)
    turns = [turn(Call("order_of", {"order_id": "77"})), turn("It cost 5 €."), turn("Yes."), turn("No.")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert choices(it) == [choice, "auto"]
        started = await it.start("Sure?")
        assert await it.ended(started.run_id) == "completed", "a model that ignores it ends its run like any other"
        assert choices(it)[2:] == [choice]
        again = await retry_run(it.services, it.owner, started.run_id)
        assert await it.ended(again.run_id) == "completed"
        assert choices(it)[3:] == [choice]


async def test_a_run_that_continues_another_one_requires_nothing_again(db: Database, tmp_path: Path) -> None:
    agent = Agent("chat", tools=[order_of], tool_choice="order_of")
    turns = [turn(Call("order_of", {"order_id": "77"})), turn(Fail(ModelCut("cut"))), turn("It cost 5 €.")]
    async with stage(db, tmp_path, turns, agent=agent, settings=Settings(retry=RetrySettings(attempts=0))) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "error"
        continued = await continue_run(it.services, it.owner, started.run_id)
        assert await it.ended(continued.run_id) == "completed"
        assert choices(it) == ["order_of", "auto", "auto"]


async def test_a_turn_that_is_asked_again_requires_the_call_again(db: Database, tmp_path: Path) -> None:
    agent = Agent("chat", tools=[order_of], tool_choice="required")
    turns = [turn("It", Fail(ModelCut("cut"))), turn(Call("order_of", {"order_id": "77"})), turn("5 €.")]
    settings = Settings(retry=RetrySettings(attempts=2, base_s=0.01))
    async with stage(db, tmp_path, turns, agent=agent, settings=settings) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert choices(it) == ["required", "required", "auto"]


async def test_a_required_answer_ends_the_run_with_its_object(db: Database, tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    answer = {"urgent": True, "topic": "brakes"}
    agent = triage(seen, tool_choice="final_answer")
    async with stage(db, tmp_path, [turn(Call("final_answer", answer))], agent=agent) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert choices(it) == ["final_answer"]
        assert seen == [{"output": answer}]


def _refunding(answer: str) -> Agent:
    @tool(ask="Refunds need a person")
    async def refund(order_id: str, cents: int) -> str:
        """Pay money back to a buyer."""
        return f"{answer} {order_id} {cents}"

    @tool(ask="Refunds need a person", name="refund")
    async def changed(order_id: str, cents: int) -> str:
        """Pay money back to a buyer."""
        return f"{answer} {order_id}, {cents} cents"

    @tool(ask="Refunds need a person", name="refund")
    async def with_reason(order_id: str, cents: int, reason: str) -> str:
        """Pay money back to a buyer."""
        return f"{answer} {order_id} {cents} {reason}"

    return Agent("chat", tools=[{"paid": refund, "sent": changed}.get(answer, with_reason)])


async def test_a_tool_that_was_changed_while_its_call_waits_is_shown_to_the_approver_and_runs_as_it_is_now(
    db: Database, tmp_path: Path
) -> None:
    async with stage(db, tmp_path, [turn(REFUND), turn("Done.")], agent=_refunding("paid")) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(started.run_id, "awaiting_approval")
        agents = cast("dict[str, Agent]", it.services.engine.agents._known.by_name)
        assert (await read_decision(it.services, it.owner, approval["id"])).tool_change is None
        agents["chat"] = _refunding("asks for a reason")  # as a reload does
        change = (await read_decision(it.services, it.owner, approval["id"])).tool_change
        assert change is not None
        assert "reason" in (change.problem or "")
        agents["chat"] = _refunding("sent")
        change = (await read_decision(it.services, it.owner, approval["id"])).tool_change
        assert change is not None
        assert change.problem is None
        with pytest.raises(ToolChanged) as refused:
            await decide_approval(it.services, it.owner, approval["id"], "approve")
        version = refused.value.fields["tool_version"]
        assert version == change.tool_version
        await decide_approval(it.services, it.owner, approval["id"], "approve", tool_version=version)
        assert await it.ended(started.run_id) == "completed"
        assert told(it.model.requests[1].messages[-1]) == ["sent 77, 500 cents"]


def test_the_version_of_a_tool_is_the_same_for_the_same_code() -> None:
    assert _refunding("paid").tools[0].version == _refunding("paid").tools[0].version
    assert _refunding("paid").tools[0].version != _refunding("sent").tools[0].version


async def test_a_policy_of_the_configuration_wins_over_the_word_of_the_tool(db: Database, tmp_path: Path) -> None:
    settings = Settings(policy=(PolicyRule(tool="refund", decision="allow"),))
    async with stage(db, tmp_path, [turn(REFUND), turn("Done.")], agent=SUPPORT, settings=settings) as it:
        events = await it.events((await it.start()).run_id)
        assert "approval.requested" not in {event["event"] for event in events}


def triage(seen: list[Mapping[str, Any]], **more: Any) -> Agent:
    """An agent whose answer is an object; what `finish` is given goes to `seen`."""

    def finish(_tx: Tx, _run: Run, _parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
        seen.append(facts)

    return Agent("chat", instructions="Sort this letter.", output=Verdict, finish=finish, **more)


async def test_an_answer_that_is_an_object_ends_the_run_and_is_its_text(db: Database, tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    answer = {"urgent": True, "topic": "brakes"}
    async with stage(db, tmp_path, [turn(Call("final_answer", answer))], agent=triage(seen)) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        text = next(part.text for part in (await it.messages())[-1].parts if part.type == "text")
        assert orjson.loads(text) == answer
        assert seen == [{"output": answer}]


async def test_a_model_that_gives_no_object_or_a_wrong_one_is_told_and_goes_on(db: Database, tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    answer = {"urgent": False, "topic": "bells"}
    turns = [
        turn("It is about bells."),
        turn(Call("final_answer", {"urgent": "perhaps"})),
        turn(Call("final_answer", answer)),
    ]
    async with stage(db, tmp_path, turns, agent=triage(seen)) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert "final_answer" in str(it.model.requests[1].messages[-1])
        assert "not valid" in told(it.model.requests[2].messages[-1])[0]
        assert seen == [{"output": answer}]


async def test_a_run_ends_at_the_agents_own_limit_of_turns_unless_the_configuration_has_another(
    db: Database, tmp_path: Path
) -> None:
    seen: list[Mapping[str, Any]] = []
    async with stage(db, tmp_path, [turn("Hm.")] * 9, agent=triage(seen, max_steps=2)) as it:
        events = await it.events((await it.start()).run_id)
        ended = next(event["data"] for event in events if event["event"] == "run.completed")
        assert (ended["stop_reason"], len(it.model.requests)) == ("problems", 2)
