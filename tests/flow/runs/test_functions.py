"""Functions of flows and tools: each step is done once, and a function that waits is only a row."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from outlast import Agent, Context, flow, tool
from outlast.base.agent_errors import StepFailed
from outlast.db.database import Database
from outlast.kernel.models.protocol import TextPiece
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.runs.store import run_of
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.actions import list_threads
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from tests.crash.server import until
from tests.flow.harness import Stage, stage, told


@dataclass
class Charge:
    buyer: str
    cents: int


@dataclass
class Shop:
    """The world that steps change."""

    calls: list[str] = field(default_factory=list)

    def charge_of(self, order: str) -> Charge:
        self.calls.append(f"charge_of {order}")
        return Charge("Ada", 500)

    async def pay(self, charge: Charge) -> str:
        self.calls.append(f"pay {charge.buyer}")
        return f"paid {charge.cents}"

    def fail(self) -> None:
        self.calls.append("fail")
        raise ValueError("no such order")


@asynccontextmanager
async def playing(
    db: Database,
    folder: Path,
    agent: Agent,
    *others: Agent,
    turns: list[Turn] | ScriptedModel | None = None,
    settings: Settings | None = None,
    patience_s: float = 60,
) -> AsyncIterator[Stage]:
    playing = stage(db, folder, turns or [], agent=agent, others=others, settings=settings, patience_s=patience_s)
    async with playing as it:
        yield it


def texts(events: list[dict[str, Any]]) -> list[str]:
    """The whole texts of an answer."""
    parts = [event["data"]["part"] for event in events if event["event"] == "part.completed"]
    return [part["text"] for part in parts if part["type"] == "text"]


async def test_a_flow_is_its_function_and_its_answer_is_what_it_returns(db: Database, tmp_path: Path) -> None:
    shop = Shop()

    @flow("chat")
    async def refund(ctx: Context) -> str:
        charge = await ctx.step("find", shop.charge_of, ctx.message)
        return await ctx.step("pay", shop.pay, charge)

    async with playing(db, tmp_path, refund) as it:
        events = await it.events((await it.start("order 7")).run_id)
        assert texts(events) == ["paid 500"]
        assert shop.calls == ["charge_of order 7", "pay Ada"]
        steps = [event["data"]["name"] for event in events if event["event"] == "workflow.step"]
        assert steps[:2] == ["find", "pay"]
        assert events[-2]["event"] == "run.completed"
        assert (await it.messages())[-1].parts[-1].text == "paid 500"


async def test_a_flow_that_asks_waits_as_a_row_and_goes_on_with_the_answer_without_repeating_steps(
    db: Database, tmp_path: Path
) -> None:
    shop, called = Shop(), []

    @flow("chat")
    async def refund(ctx: Context) -> str:
        called.append(1)
        charge = await ctx.step("find", shop.charge_of, "7")
        answer = await ctx.ask("Pay it back?", ["yes", "no"])
        return await ctx.step("pay", shop.pay, charge) if answer == "yes" else "kept"

    async with playing(db, tmp_path, refund) as it:
        run_id = (await it.start()).run_id
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        await it.until_status(run_id, "awaiting_approval")
        assert (await db.read(run_of, run_id)).leg == "parked"
        assert [item["question"] for item in question["questions"]] == ["Pay it back?"]
        await answer_question(it.services, it.owner, question["id"], {"answer": "yes"})
        assert texts(await it.events(run_id)) == ["paid 500"]
        assert shop.calls == ["charge_of 7", "pay Ada"]
        assert len(called) == 2


async def test_a_flow_waits_for_a_time_and_sees_the_same_clock_and_numbers_again(db: Database, tmp_path: Path) -> None:
    seen: list[Any] = []

    @flow("chat")
    async def later(ctx: Context) -> str:
        seen.append((ctx.now(), ctx.random().random()))
        await ctx.sleep(0.05)
        return "awake"

    async with playing(db, tmp_path, later) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["awake"]
        assert len(seen) == 2
        assert seen[0] == seen[1]


async def test_a_step_that_fails_is_recorded_and_fails_again_without_being_done_again(
    db: Database, tmp_path: Path
) -> None:
    shop, caught = Shop(), []

    @flow("chat")
    async def brave(ctx: Context) -> str:
        try:
            await ctx.step("fail", shop.fail)
        except StepFailed as error:
            caught.append((error.message, error.fields["kind"]))
        await ctx.sleep(0.01)
        return "went on"

    async with playing(db, tmp_path, brave) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["went on"]
        assert caught == [("fail: no such order", "ValueError")] * 2
        assert shop.calls == ["fail"]


async def test_a_flow_whose_code_changed_under_its_run_ends_with_both_names(db: Database, tmp_path: Path) -> None:
    names = ["find", "look up"]

    @flow("chat")
    async def changing(ctx: Context) -> str:
        await ctx.step(names.pop(0), int)
        await ctx.sleep(0.01)
        return "never"

    async with playing(db, tmp_path, changing) as it:
        error = (await it.events((await it.start()).run_id))[-2]
        assert error["event"] == "run.error"
        assert error["data"]["error"]["code"] == "flow_changed"
        assert "'find'" in error["data"]["error"]["message"]
        assert "'look up'" in error["data"]["error"]["message"]


async def test_a_flow_that_raises_ends_its_run_with_the_kind_of_the_error_and_no_secret(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def broken(_ctx: Context) -> str:
        raise RuntimeError("password=hunter2")

    async with playing(db, tmp_path, broken) as it:
        error = (await it.events((await it.start()).run_id))[-2]["data"]["error"]
        assert error["code"] == "flow_failed"
        assert "RuntimeError" in error["message"]
        assert "hunter2" not in str(error)


class Verdict(BaseModel):
    urgent: bool


ANSWER = Call("final_answer", {"urgent": True})


async def test_a_flow_runs_other_agents_side_by_side_in_threads_of_their_own_and_gets_their_objects(
    db: Database, tmp_path: Path
) -> None:
    triage = Agent("triage", instructions="Sort.", output=Verdict, listed=False)

    @flow("chat")
    async def digest(ctx: Context) -> str:
        verdicts = await ctx.gather(*(ctx.run(triage, f"letter {n}", key=str(n)) for n in range(3)))
        return f"{sum(verdict.urgent for verdict in verdicts)} urgent"

    async with playing(db, tmp_path, digest, triage, turns=[turn(ANSWER)] * 3) as it:
        run_id = (await it.start()).run_id
        events = await it.events(run_id)
        assert texts(events) == ["3 urgent"]
        shown = [event["data"]["part"] for event in events if event["event"].startswith("part.")]
        children = [part for part in shown if part["type"] == "subrun"]
        assert [part["status"] for part in children] == ["running"] * 3 + ["completed"] * 3
        assert {part["text"] for part in children[:3]} == {"letter 0", "letter 1", "letter 2"}
        waited = [event["data"]["waiting_for"] for event in events if event["event"] == "run.status"]
        assert "run" in waited
        assert len((await list_threads(it.services, it.owner, it.project_id)).items) == 1  # its children are not listed
        told = await db.read(read_all, it.project_id)
        assert not [line for _, line in told if children[0]["thread_id"].encode() in line], "nor news of the project"


async def test_at_most_eight_agents_of_one_function_work_at_once_and_all_are_done(db: Database, tmp_path: Path) -> None:
    worker = Agent("worker", instructions="Work.", listed=False)

    @flow("chat")
    async def many(ctx: Context) -> str:
        return " ".join(await ctx.gather(*(ctx.run(worker, str(n), key=str(n)) for n in range(20))))

    async with playing(db, tmp_path, many, worker, turns=[turn("done")] * 20) as it:
        events = await it.events((await it.start()).run_id)
        assert texts(events) == [" ".join(["done"] * 20)]
        at_once = most = 0
        for event in events:
            if event["event"].startswith("part.") and event["data"]["part"]["type"] == "subrun":
                at_once += 1 if event["event"] == "part.created" else -1
                most = max(most, at_once)
        assert most == 8


async def test_an_agent_calls_another_as_a_tool_and_reads_its_answer(db: Database, tmp_path: Path) -> None:
    expert = Agent("expert", instructions="You know bicycles.", listed=False)
    chat = Agent("chat", instructions="Ask the expert.", agents=[expert])
    turns = [turn(Call("expert", {"message": "Which oil?"})), turn("Chain oil."), turn("Take chain oil.")]
    async with playing(db, tmp_path, chat, expert, turns=turns) as it:
        events = await it.events((await it.start()).run_id)
        assert texts(events)[-1] == "Take chain oil."
        assert [request.system for request in it.model.requests] == [
            "Ask the expert.",
            "You know bicycles.",
            "Ask the expert.",
        ]
        assert told(it.model.requests[2].messages[-1]) == ["Chain oil."]


async def test_an_approval_within_a_child_is_asked_for_there_and_the_parent_goes_on_after_it(
    db: Database, tmp_path: Path
) -> None:
    @tool(ask="Refunds need a person")
    async def refund(order: str) -> str:
        """Pay back."""
        return f"paid {order}"

    billing = Agent("billing", instructions="Pay.", tools=[refund], listed=False)

    @flow("chat")
    async def digest(ctx: Context) -> str:
        return str(await ctx.run(billing, "Pay 7 back."))

    async with playing(
        db, tmp_path, digest, billing, turns=[turn(Call("refund", {"order": "7"})), turn("Paid.")]
    ) as it:
        run_id = (await it.start()).run_id
        part = (await it.until(run_id, "part.created"))["data"]["part"]
        approval = (await it.until(part["run_id"], "approval.requested"))["data"]["approval"]

        async def is_parked() -> bool:
            return (await db.read(run_of, run_id)).leg == "parked"

        await until(is_parked)  # the child may ask before its parent waits
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        assert texts(await it.events(run_id)) == ["Paid."]


async def test_a_child_reads_the_data_that_it_is_given_below_its_message(db: Database, tmp_path: Path) -> None:
    worker = Agent("worker", instructions="Work.", listed=False)

    @flow("chat")
    async def digest(ctx: Context) -> str:
        await ctx.run(worker, "Write the digest.", context=[Charge("Ada", 500)])
        return str(await ctx.run(worker, "Again.", context=object()))

    async with playing(db, tmp_path, digest, worker, turns=[turn("Done.")]) as it:
        events = await it.events((await it.start()).run_id)
        [piece] = it.model.requests[0].messages[-1].pieces
        assert isinstance(piece, TextPiece)
        data = '[\n  {\n    "buyer": "Ada",\n    "cents": 500\n  }\n]'
        assert piece.text == f"Write the digest.\n\n```json\n{data}\n```"
        error = next(event["data"]["error"] for event in events if event["event"] == "run.error")
        assert error["message"].startswith("The context for another agent cannot be written as JSON")


async def test_a_child_that_fails_raises_in_the_function_and_one_of_a_cancelled_run_is_cancelled(
    db: Database, tmp_path: Path
) -> None:
    asking = Agent("asking", instructions="Ask.", tools=[_ask_tool()], listed=False)

    @flow("chat")
    async def digest(ctx: Context) -> str:
        return str(await ctx.run(asking, "Go."))

    async with playing(db, tmp_path, digest, asking, turns=[turn(Call("guarded", {}))] * 2) as it:
        run_id = (await it.start()).run_id
        child = (await it.until(run_id, "part.created"))["data"]["part"]["run_id"]
        await it.until(child, "approval.requested")
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        assert await it.ended(child) == "cancelled"
        second = (await it.start()).run_id
        child = (await it.until(second, "part.created"))["data"]["part"]["run_id"]
        await it.until(child, "approval.requested")
        await cancel_run(it.services, it.owner, child)
        error = (await it.events(second))[-2]["data"]["error"]
        assert error["code"] == "step_failed"
        assert "cancelled" in error["message"]


def _ask_tool() -> Any:
    @tool(ask="Always")
    async def guarded() -> str:
        """Guarded."""
        return "ok"

    return guarded


async def test_agents_call_each_other_three_deep_and_no_deeper(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def deeper(ctx: Context) -> str:
        return str(await ctx.run("chat", "deeper"))

    async with playing(db, tmp_path, deeper) as it:
        error = (await it.events((await it.start()).run_id))[-2]["data"]["error"]
        assert "three deep" in error["message"] or "3 deep" in error["message"]


async def test_a_tool_that_asks_within_its_work_goes_on_where_it_was(db: Database, tmp_path: Path) -> None:
    shop = Shop()

    @tool
    async def refund(ctx: Context, order: str) -> str:
        """Pay back."""
        charge = await ctx.step("find", shop.charge_of, order)
        ctx.show(f"{charge.cents} cents\n")
        if await ctx.ask(f"Pay {charge.buyer} back?", ["yes", "no"]) == "no":
            return "kept"
        return await ctx.step("pay", shop.pay, charge)

    chat = Agent("chat", instructions="Refund.", tools=[refund])
    async with playing(db, tmp_path, chat, turns=[turn(Call("refund", {"order": "7"})), turn("Done.")]) as it:
        run_id = (await it.start()).run_id
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        await it.until_status(run_id, "awaiting_approval")
        await answer_question(it.services, it.owner, question["id"], {"answer": "yes"})
        events = await it.events(run_id)
        assert texts(events) == ["Done."]
        assert told(it.model.requests[1].messages[-1]) == ["paid 500"]
        assert shop.calls == ["charge_of 7", "pay Ada"]
        shown = [event["data"]["delta"] for event in events if event["event"] == "tool_call.output.delta"]
        assert shown == ["500 cents\n"]


async def test_a_step_within_a_step_and_a_time_without_a_zone_are_refused(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def nested(ctx: Context) -> str:
        async def inner() -> int:
            return await ctx.step("inner", int)

        return str(await ctx.step("outer", inner))

    async with playing(db, tmp_path, nested) as it:
        error = (await it.events((await it.start()).run_id))[-2]["data"]["error"]
        assert error["code"] == "flow_misused"


async def test_a_value_over_256_kilobytes_is_kept_in_a_blob(db: Database, tmp_path: Path) -> None:
    lengths: list[int] = []

    @flow("chat")
    async def long(ctx: Context) -> str:
        text = await ctx.step("long", lambda: "x" * 300_000)
        lengths.append(len(text))
        await ctx.sleep(0.01)
        return "ok"

    async with playing(db, tmp_path, long) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["ok"]
        assert lengths == [300_000] * 2
        assert any(blob.size_bytes == 300_002 for blob in it.services.blobs.stored())
