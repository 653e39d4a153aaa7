"""Conversations that an agent hands over to another one: one thread, two answers, and nothing lost in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from outlast import Agent, Context, flow, tool
from outlast.base.errors import RunFinished, RunNotContinuable
from outlast.db.database import Database
from outlast.kernel.accounts.tables import users
from outlast.kernel.agents.choice import choosable
from outlast.kernel.agents.registry import Agents
from outlast.kernel.credits import store as ledger
from outlast.kernel.credits.settings import CreditSettings
from outlast.kernel.models.protocol import ModelRequest, ModelSpec, TextPiece
from outlast.kernel.projects.store import ProjectAgents, set_agents
from outlast.kernel.runs.actions import cancel_run, continue_run, list_runs, read_run, retry_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.claims import Claimed, claim_ready
from outlast.kernel.runs.handoffs import MOST_IN_A_ROW
from outlast.kernel.runs.leg import Leg
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.steer_actions import steer_run
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.worker import Worker
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_thread
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.actions import fork_thread, list_messages
from outlast.kernel.threads.parts import TextPart
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import HANG, Call, ScriptedModel, WaitFor, turn
from tests.factories import make_thread, thread_row
from tests.flow.harness import Stage, frames, stage, told_last

REASON = "Wants 900 cents of order B-17 back."
TRANSFER = Call("transfer_to_billing", {"reason": REASON})
HANDS_OVER = turn("One moment.", TRANSFER)
ASKING = Settings(policy=(PolicyRule(tool="transfer_to_*", decision="ask"),))


def support(*tools: Any, **more: Any) -> Agent:
    return Agent("chat", title="Support", instructions="Help.", tools=tools, **{"handoffs": ["billing"], **more})


def billing(*tools: Any, **more: Any) -> Agent:
    return Agent("billing", instructions="Pay.", tools=tools, **more)


def playing(db: Database, folder: Path, turns: Any, *others: Agent, agent: Agent | None = None, **more: Any) -> Any:
    return stage(db, folder, turns, agent=agent or support(), others=others or [billing()], **more)


def read(request: ModelRequest) -> list[tuple[str, str]]:
    """What a model reads: roles and texts."""
    return [
        (message.role, "".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece)))
        for message in request.messages
    ]


async def successor_of(it: Stage, run_id: str) -> str:
    """The run that this one was handed over to."""
    events = await it.events(run_id)
    [part] = [one["data"]["part"] for one in events if is_handoff(one) and one["event"] == "part.completed"]
    return str(part["run_id"])


def is_handoff(event: Mapping[str, Any]) -> bool:
    return event["event"].startswith("part.") and event["data"]["part"]["type"] == "handoff"


async def handed_over(it: Stage, text: str = "My money, please.") -> tuple[str, str]:
    """A run that hands over, and its successor; both have ended."""
    first = (await it.start(text)).run_id
    second = await successor_of(it, first)
    assert await it.ended(second) == "completed"
    return first, second


async def runs_of(it: Stage) -> list[Any]:
    """The runs of the thread, oldest first."""
    return (await list_runs(it.services, it.owner, thread_id=it.thread_id)).items[::-1]


async def test_the_other_agent_answers_next_and_reads_why(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paid.")]) as it:
        first, second = await handed_over(it)
        ended, answering = [await read_run(it.services, it.owner, run_id) for run_id in (first, second)]
        assert (ended.status, ended.stop_reason, ended.problems) == ("completed", "handed_over", [])
        assert (answering.profile, answering.parent_run_id, answering.message_id, answering.stop_reason) == (
            "billing", first, ended.message_id, "end",
        )  # fmt: skip
        _, one, _ = await it.messages()
        assert [message.profile for message in await it.messages()] == [None, "chat", "billing"]
        assert [part.type for part in one.parts] == ["text", "tool_call", "handoff"]
        shown = one.parts[2]
        assert (shown.by, shown.title, shown.agent, shown.reason) == ("Support", "Billing", "billing", REASON)
        assert (one.parts[1].status, one.parts[1].result) == ("done", "The conversation was handed over to Billing.")
        assert (await db.read(thread_row, it.thread_id)).profile == "billing"

        assert [request.system for request in it.model.requests] == ["Help.", "Pay."]
        assert [spec.name for spec in it.model.requests[0].tools] == ["transfer_to_billing"]
        assert read(it.model.requests[1]) == [
            ("user", "My money, please."),
            ("assistant", "One moment."),
            (
                "user",
                f"[Outlast] You take this conversation over. Support hands it to you, Billing, and says:\n{REASON}",
            ),
        ]


async def test_the_next_message_goes_to_the_agent_that_took_over_and_it_reads_both_answers(
    db: Database, tmp_path: Path
) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paid."), turn("Welcome.")]) as it:
        await handed_over(it)
        assert await it.ended((await it.start("Thank you")).run_id) == "completed"
        assert (await it.messages())[-1].profile == "billing"
        assert read(it.model.requests[2]) == [
            ("user", "My money, please."),
            ("assistant", "One moment."),
            ("user", f"[Outlast] Support handed the conversation over to Billing, and said:\n{REASON}"),
            ("assistant", "Paid."),
            ("user", "Thank you"),
        ]


async def test_it_goes_before_messages_that_were_queued_meanwhile(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    turns = [turn(WaitFor(free), TRANSFER), turn("Paid."), turn("Two."), turn("Three.")]
    async with playing(db, tmp_path, turns) as it:
        first = (await it.start("one")).run_id
        await it.model.wait_requests(1)
        queued = [(await it.start(text, on_busy="enqueue")).run_id for text in ("two", "three")]
        free.set()
        for run_id in (await successor_of(it, first), *queued):
            assert await it.ended(run_id) == "completed"
        said = [
            next(part.text for part in message.parts if part.type == "text")
            for message in (await it.messages())
            if message.parts[0].type == "text"
        ]
        assert said == ["one", "Paid.", "two", "Two.", "three", "Three."]
        profiles = [message.profile for message in await it.messages() if message.role == "assistant"]
        assert profiles == ["chat", "billing", "chat", "chat"]  # they were sent to the first agent
        assert (await db.read(thread_row, it.thread_id)).profile == "billing"


async def test_followers_of_the_thread_see_both_runs_in_one_stream(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paid.")]) as it:
        first = await it.start()
        seen = []
        chunks = await follow_thread(it.services, it.owner, it.thread_id, "0")
        async for _, event in frames(chunks):
            seen.append((event["event"], event["data"].get("run_id")))
            if sum(name == "stream.ended" for name, _ in seen) == 2:
                break
        second = (await runs_of(it))[1].id
        told = [one for one in seen if one[0] in ("run.queued", "run.started", "run.completed", "stream.ended")]
        assert told == [
            (name, run_id)
            for run_id in (first.run_id, second)
            for name in ("run.queued", "run.started", "run.completed", "stream.ended")
        ]


# --- refused ----------------------------------------------------------------------------------------------------------


async def refused(it: Stage, text: str = "Help!") -> str:
    """What the model reads of a transfer that was refused; the run goes on, and no other has begun."""
    run_id = (await it.start(text)).run_id
    assert await it.ended(run_id) == "completed"
    run = await read_run(it.services, it.owner, run_id)
    assert run.stop_reason == "end"
    assert [part.status for part in run.parts if part.type == "tool_call"][-1] == "error"
    assert len(await runs_of(it)) == 1
    assert (await db_thread(it)).profile == "chat"
    return told_last(it.model.requests[-1])[-1]


async def db_thread(it: Stage) -> Any:
    return await it.services.db.read(thread_row, it.thread_id)


async def test_an_agent_that_the_project_does_not_allow_is_refused(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("I cannot.")]) as it:
        await db.write(set_agents, it.project_id, ProjectAgents(["chat"], ""))
        assert "Billing may not be used in this project." in await refused(it)


async def test_an_agent_that_people_cannot_choose_may_take_over(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paid.")], billing(listed=False)) as it:
        await db.write(set_agents, it.project_id, ProjectAgents(["chat"], ""))
        await handed_over(it)
        assert "billing" not in choosable(it.services.engine.agents)
        assert (await db_thread(it)).profile == "billing"


async def test_an_agent_that_was_removed_since_is_refused(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with playing(db, tmp_path, [turn(WaitFor(free), TRANSFER), turn("I cannot.")]) as it:
        agents = it.services.engine.agents

        async def remove() -> None:
            await it.model.wait_requests(1)
            known = {name: agents[name] for name in agents}
            agents._known = Agents({"tests": [replace(known["chat"], handoffs=[], tools=[])]})._known
            free.set()

        async with anyio.create_task_group() as group:
            group.start_soon(remove)
            assert "There is no agent 'billing' on this server any more." in await refused(it)


PLANS = Settings(credits=CreditSettings(plans={"free": 25}))


async def test_without_credits_for_the_other_run_the_model_reads_it(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("I cannot.")], settings=PLANS) as it:
        it.services.catalog.default = ModelSpec("scripted", "scripted", "scripted", credits=13)
        await db.write(lambda tx: tx.update(users, {"id": it.owner.user_id}, plan="free"))
        assert "This run costs 13 credits" in await refused(it)
        assert await db.read(ledger.balance, it.owner.user_id, PLANS.credits.plans) == 12


async def test_both_runs_are_charged_to_the_person_who_asked(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paid.")], settings=PLANS) as it:
        await db.write(lambda tx: tx.update(users, {"id": it.owner.user_id}, plan="free"))
        first, second = await handed_over(it)
        assert await db.read(ledger.balance, it.owner.user_id, PLANS.credits.plans) == 23
        assert [await db.read(ledger.payer_of, run_id) for run_id in (first, second)] == [it.owner.user_id] * 2


async def test_agents_hand_over_to_each_other_ten_times_and_then_have_to_answer(db: Database, tmp_path: Path) -> None:
    back = Call("transfer_to_chat", {"reason": "Not mine."})
    turns = [turn(back if number % 2 else TRANSFER) for number in range(MOST_IN_A_ROW + 1)]
    ping_pong = [*turns, turn("Then I answer."), HANDS_OVER, turn("Paid.")]
    async with playing(db, tmp_path, ping_pong, billing(handoffs=["chat"])) as it:
        run_id = (await it.start()).run_id
        for _ in range(MOST_IN_A_ROW):
            run_id = await successor_of(it, run_id)
        assert await it.ended(run_id) == "completed"
        assert len(await runs_of(it)) == MOST_IN_A_ROW + 1
        assert "handed over 10 times since a person wrote" in told_last(it.model.requests[-1])[-1]
        assert (await read_run(it.services, it.owner, run_id)).stop_reason == "end"
        await handed_over(it, "And now?")  # a person wrote


async def test_an_agent_that_a_function_has_called_is_not_offered_a_transfer_and_cannot_make_one(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def asks(ctx: Context) -> str:
        return str(await ctx.run("desk", "Please."))

    desk = Agent("desk", instructions="Help.", handoffs=["billing"])
    async with playing(db, tmp_path, [turn(TRANSFER), turn("Mine.")], desk, billing(), agent=asks) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert it.model.requests[0].tools == ()
        assert "waits for your answer" in told_last(it.model.requests[1])[-1]
        assert (await it.messages())[-1].parts[-1].text == "Mine."


@pytest.mark.apps("documents")
async def test_the_agent_of_a_document_stays_in_its_thread(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with playing(db, tmp_path, [turn(WaitFor(free), TRANSFER), turn("I cannot.")]) as it:
        run_id = (await it.start()).run_id
        await db.write(threads.set_agent, it.thread_id, "document")
        free.set()
        assert await it.ended(run_id) == "completed"
        assert "The agent of a document cannot be replaced." in told_last(it.model.requests[-1])[-1]
        assert (await db_thread(it)).profile == "document"


# --- beside other calls, decisions and messages -----------------------------------------------------------------------


async def test_other_calls_of_the_turn_are_made_first_and_their_results_are_read(db: Database, tmp_path: Path) -> None:
    order: list[str] = []

    async def body(_context: Context, _arguments: Mapping[str, Any]) -> str:
        await anyio.lowlevel.checkpoint()
        order.append("found")
        return "B-17: paid"

    turns = [turn(TRANSFER, Call("look", {}), Call("look", {})), turn("Paid.")]
    async with playing(db, tmp_path, turns, agent=support(FakeTool("look", body))) as it:
        first, _ = await handed_over(it)
        results = [event["data"] for event in await it.events(first) if event["event"] == "tool_call.result"]
        assert [one["result"] for one in results] == [
            "B-17: paid", "B-17: paid", "The conversation was handed over to Billing.",
        ]  # fmt: skip
        assert order == ["found"] * 2
        assert told_last(it.model.requests[1]) == ["B-17: paid"] * 2, "the note tells of the transfer itself"


async def test_the_first_of_two_transfers_counts_and_the_second_says_why_it_does_not(
    db: Database, tmp_path: Path
) -> None:
    other = Call("transfer_to_sales", {"reason": "Or sales."})
    agent = support(handoffs=["billing", "sales"])
    async with playing(
        db, tmp_path, [turn(TRANSFER, other), turn("Paid.")], billing(), Agent("sales"), agent=agent
    ) as it:
        await handed_over(it)
        assert [run.profile for run in await runs_of(it)] == ["chat", "billing"]
        first, second = [part.result for part in (await it.messages())[1].parts if part.type == "tool_call"]
        assert first == "The conversation was handed over to Billing."
        assert second == "Nothing was done: another call of this turn has handed the conversation over to Billing."
        assert told_last(it.model.requests[1]) == [second]


async def test_the_second_transfer_counts_if_the_first_is_refused(db: Database, tmp_path: Path) -> None:
    other = Call("transfer_to_sales", {"reason": "Or sales."})
    agent = support(handoffs=["billing", "sales"])
    async with playing(
        db, tmp_path, [turn(TRANSFER, other), turn("Sold.")], billing(), Agent("sales"), agent=agent
    ) as it:
        await db.write(set_agents, it.project_id, ProjectAgents(["chat", "sales"], ""))
        await handed_over(it)
        assert [run.profile for run in await runs_of(it)] == ["chat", "sales"]
        [refusal] = told_last(it.model.requests[1])
        assert "Billing may not be used" in refusal


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_a_policy_may_ask_a_person_first(db: Database, tmp_path: Path, decision: Any) -> None:
    turns = [turn(TRANSFER, Call("look", {})), turn("Paid.")]
    async with playing(db, tmp_path, turns, agent=support(FakeTool("look")), settings=ASKING) as it:
        run_id = (await it.start()).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        assert asked["tool"] == "transfer_to_billing"
        await it.until_status(run_id, "awaiting_approval")
        await decide_approval(
            it.services,
            it.owner,
            asked["id"],
            decision,
            arguments={"reason": "B-18!"} if decision == "approve" else None,
        )
        assert await it.ended(run_id) == "completed"
        run = await read_run(it.services, it.owner, run_id)
        assert run.stop_reason == ("handed_over" if decision == "approve" else "end")
        if decision == "approve":
            assert await it.ended(await successor_of(it, run_id)) == "completed"
            assert read(it.model.requests[1])[-1][1].endswith("B-18!")


async def test_it_waits_until_every_other_call_of_the_turn_is_decided(db: Database, tmp_path: Path) -> None:
    settings = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
    turns = [turn(TRANSFER, Call("look", {})), turn("Paid.")]
    async with playing(db, tmp_path, turns, agent=support(FakeTool("look")), settings=settings) as it:
        run_id = (await it.start()).run_id
        await it.until_status(run_id, "awaiting_approval")
        waiting = await read_run(it.services, it.owner, run_id)
        assert [run.profile for run in await runs_of(it)] == ["chat"]
        assert (await db.read(run_of, run_id)).leg == "parked"
        await decide_approval(it.services, it.owner, waiting.pending[0].id, "approve")
        assert await it.ended(await successor_of(it, run_id)) == "completed"


async def test_it_waits_for_a_function_that_sleeps(db: Database, tmp_path: Path) -> None:
    @tool
    async def look(ctx: Context) -> str:
        """Look it up."""
        await ctx.sleep(0.05)
        return "B-17: paid"

    async with playing(db, tmp_path, [turn(TRANSFER, Call("look", {})), turn("Paid.")], agent=support(look)) as it:
        await handed_over(it)
        assert "B-17: paid" in told_last(it.model.requests[1])


async def test_a_message_that_was_not_read_is_read_by_the_agent_that_takes_over(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with playing(db, tmp_path, [turn(WaitFor(free), TRANSFER), turn("Paid."), turn("Yes.")]) as it:
        first = (await it.start()).run_id
        await it.model.wait_requests(1)
        sent = await steer_run(it.services, it.owner, first, Draft("Quickly!"))
        free.set()
        second = await successor_of(it, first)
        assert await it.ended(second) == "completed"
        assert [text for role, text in read(it.model.requests[1]) if role == "user"][-1] == "Quickly!"
        _, one, again, other = await it.messages()
        assert (again.id, again.status, again.run_id) == (sent.id, "complete", second)
        assert [part.type for part in other.parts] == ["message", "text"]
        assert [part.type for part in one.parts] == ["tool_call", "handoff"]
        # A later run reads it between the note and the answer to both.
        assert await it.ended((await it.start("Thanks")).run_id) == "completed"
        assert [text[:9] for role, text in read(it.model.requests[2]) if role == "user"] == [
            "Hello", "[Outlast]", "Quickly!", "Thanks",
        ]  # fmt: skip


async def test_a_flow_takes_over_with_the_persons_message_and_leaves_unread_ones_in_the_thread(
    db: Database, tmp_path: Path
) -> None:
    @flow("billing")
    async def pays(ctx: Context) -> str:
        return f"paid: {ctx.message}"

    free = anyio.Event()
    async with playing(db, tmp_path, [turn(WaitFor(free), TRANSFER)], pays) as it:
        first = (await it.start("B-17")).run_id
        await it.model.wait_requests(1)
        await steer_run(it.services, it.owner, first, Draft("Quickly!"))
        free.set()
        assert await it.ended(await successor_of(it, first)) == "completed"
        said = [(message.role, message.status, message.parts[-1].type) for message in await it.messages()]
        assert said == [
            ("user", "complete", "text"), ("assistant", "complete", "handoff"), ("user", "cancelled", "text"),
            ("assistant", "complete", "text"),
        ]  # fmt: skip
        assert (await it.messages())[-1].parts[-1].text == "paid: B-17"


class Verdict(BaseModel):
    urgent: bool


ANSWER = Call("final_answer", {"urgent": True})


@pytest.mark.parametrize(
    ("calls", "stop_reason"), [([TRANSFER], "handed_over"), ([TRANSFER, ANSWER], "end"), ([ANSWER], "end")]
)
async def test_an_agent_with_an_output_answers_or_hands_over(
    db: Database, tmp_path: Path, calls: list[Call], stop_reason: str
) -> None:
    async with playing(db, tmp_path, [turn(*calls), turn("Paid.")], agent=support(output=Verdict)) as it:
        run_id = (await it.start()).run_id
        assert await it.ended(run_id) == "completed"
        run = await read_run(it.services, it.owner, run_id)
        assert (run.stop_reason, run.problems) == (stop_reason, [])
        if stop_reason == "handed_over":
            assert await it.ended(await successor_of(it, run_id)) == "completed"
        else:
            answer = run.parts[-1]
            assert isinstance(answer, TextPart)
            assert answer.text == '{"urgent":true}'


# --- cancelled, retried, continued, forked ----------------------------------------------------------------------------


async def test_a_run_that_is_cancelled_first_hands_nothing_over(db: Database, tmp_path: Path) -> None:
    settings = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
    agent = support(FakeTool("look"))
    async with playing(db, tmp_path, [turn(TRANSFER, Call("look", {}))], agent=agent, settings=settings) as it:
        run_id = (await it.start()).run_id
        await it.until_status(run_id, "awaiting_approval")
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        assert [run.profile for run in await runs_of(it)] == ["chat"]
        calls = [part for part in (await it.messages())[-1].parts if part.type == "tool_call"]
        assert [call.status for call in calls] == ["cancelled"] * 2
        assert (await db_thread(it)).profile == "chat"


async def test_a_cancel_that_comes_with_the_transfer_wins_or_finds_the_run_ended(db: Database, tmp_path: Path) -> None:
    turns = ScriptedModel(lambda request: turn(TRANSFER) if request.system == "Help." else turn("Paid."))
    async with playing(db, tmp_path, turns) as it:
        for delay in range(20):
            run_id = (await it.start()).run_id
            await it.until(run_id, "step.completed")
            for _ in range(delay):
                await anyio.lowlevel.checkpoint()
            try:
                await cancel_run(it.services, it.owner, run_id)
            except RunFinished:
                await it.events(run_id)
            status = await it.ended(run_id)
            all_runs = await runs_of(it)
            after = [run for run in all_runs if run.parent_run_id == run_id]
            assert len(after) == (1 if status == "completed" else 0)
            for run in after:
                await it.ended(run.id)
            await db.write(threads.set_agent, it.thread_id, "chat")


async def test_the_run_that_takes_over_is_cancelled_like_any_other(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paying", HANG), turn("Paid.")]) as it:
        first = (await it.start()).run_id
        second = await successor_of(it, first)
        await it.until(second, "text.delta")
        with pytest.raises(RunFinished):
            await cancel_run(it.services, it.owner, first)
        await cancel_run(it.services, it.owner, second)
        assert await it.ended(second) == "cancelled"
        third = (await continue_run(it.services, it.owner, second)).run_id
        assert await it.ended(third) == "completed"
        assert (await db.read(run_of, third)).profile == "billing"
        assert [text[:9] for _, text in read(it.model.requests[2])] == ["Hello", "One momen", "[Outlast]"]


async def test_a_retry_of_the_run_that_took_over_reads_the_same_again(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Bad."), turn("Paid."), turn("Welcome.")]) as it:
        _, second = await handed_over(it)
        third = (await retry_run(it.services, it.owner, second)).run_id
        assert await it.ended(third) == "completed"
        assert read(it.model.requests[2]) == read(it.model.requests[1])
        assert await it.ended((await it.start("Thanks")).run_id) == "completed"
        assert [text for role, text in read(it.model.requests[3]) if role == "assistant"] == ["One moment.", "Paid."]


async def test_a_retry_of_the_run_that_handed_over_replaces_what_came_of_it(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Paid."), turn("I can do it."), turn("Welcome.")]) as it:
        first, _ = await handed_over(it)
        with pytest.raises(RunNotContinuable):
            await continue_run(it.services, it.owner, first)
        again = (await retry_run(it.services, it.owner, first)).run_id
        assert await it.ended(again) == "completed"
        assert read(it.model.requests[2]) == [("user", "My money, please.")]
        assert await it.ended((await it.start("Thanks")).run_id) == "completed"
        assert [text for role, text in read(it.model.requests[3]) if role == "assistant"] == ["I can do it."]
        assert (await it.messages())[-1].profile == "billing", "the agent that people talk to stays"


async def test_a_fork_has_the_agent_and_reads_both_answers(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, [HANDS_OVER, turn("Bad."), turn("Paid."), turn("Welcome.")]) as it:
        _, second = await handed_over(it)
        assert await it.ended((await retry_run(it.services, it.owner, second)).run_id) == "completed"
        fork = await fork_thread(it.services, it.owner, it.thread_id)
        assert fork.profile == "billing"
        assert await it.ended((await it.start("Thanks", target=fork.id)).run_id) == "completed"
        assert [text for role, text in read(it.model.requests[3]) if role == "assistant"] == ["One moment.", "Paid."]
        copied = (await list_messages(it.services, it.owner, fork.id)).items
        assert [part.type for part in copied[1].parts] == ["text", "tool_call", "handoff"]


# --- fleets -----------------------------------------------------------------------------------------------------------


async def test_a_server_without_the_other_agent_leaves_its_run_to_one_that_has_it(db: Database, tmp_path: Path) -> None:
    others = [billing(), Agent("other")]
    async with playing(db, tmp_path, [HANDS_OVER, turn("Here."), turn("Paid.")], *others, working=False) as it:
        engine = it.services.engine
        older = Agents({"tests": [support(handoffs=[]), Agent("other")]})  # before the agent was added
        lacking = replace(engine, agents=older, node_id="nod_other")
        first = (await it.start()).run_id
        [(run, first_seq)] = await db.write(claim_ready, "nod_test", timedelta(seconds=60), 1)
        await Leg(engine, Claimed(run, first_seq)).work()  # and then this server stops
        second = await successor_of(it, first)
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(lacking).run)
            thread_id = await db.write(make_thread, it.project_id, it.owner, profile="other")
            assert (
                await it.ended((await it.start(target=thread_id)).run_id) == "completed"
            )  # it has passed the other by
            left = await db.read(run_of, second)
            assert (left.profile, left.leg, left.attempt) == ("billing", "ready", 0)
            group.start_soon(Worker(engine).run)
            assert await it.ended(second) == "completed"
            group.cancel_scope.cancel()
