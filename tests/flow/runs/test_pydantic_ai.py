"""Agents of pydantic-ai as guests: unmodified but for the capability, and agents of the server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.capabilities import RequestInput
from pydantic_ai.exceptions import ApprovalRequired, ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests, ToolDefinition
from pydantic_ai.toolsets import DynamicToolset, ExternalToolset, FunctionToolset

from outlast import OutlastDurability
from outlast.db.database import Database
from outlast.kernel.agents.guests.adoption import adopt
from outlast.kernel.agents.own_agents import find_own_agents
from outlast.kernel.agents.settings import AgentSettings
from outlast.kernel.runs.actions import NewThread, cancel_run, continue_run
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.runs.journal_store import steps_of_run
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.store import run_of, whole_effects
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from tests.flow.harness import Stage, stage

Turn = Sequence[Any]
ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "guests"
SHOWN = re.findall(
    r'```python title="agents/bicycle_desk.py"\n(.*?)```',
    (ROOT / "docs" / "guides" / "run-a-pydantic-ai-agent.md").read_text(),
    re.DOTALL,
)


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """What differs between databases lies in the journal below: one test of this file runs on PostgreSQL."""
    is_postgres = request.node.get_closest_marker("postgres") is not None
    url: str = request.getfixturevalue("reused_postgres_url" if is_postgres else "sqlite_url")
    return url


def calls_and_words(turns: Sequence[Turn], heard: list[list[ModelMessage]] | None = None, *, streams: bool = True):
    """A model that plays these turns: each a list of texts, calls `(name, arguments)`, and errors. Which turn is next
    is read from the messages, as a real model would."""

    def next_turn(messages: list[ModelMessage]) -> Turn:
        if heard is not None:
            heard.append(list(messages))
        last = max(n for n, m in enumerate(messages) if isinstance(m, ModelRequest) and _has_prompt(m))
        number = sum(isinstance(message, ModelResponse) for message in messages[last:])
        return turns[number]

    def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        turn = next_turn(messages)
        return ModelResponse(parts=[TextPart(one) if isinstance(one, str) else ToolCallPart(*one) for one in turn])

    async def stream(messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
        for number, one in enumerate(next_turn(messages)):
            if isinstance(one, Exception):
                raise one
            if isinstance(one, str):
                for word in one.split(" "):
                    yield word + " "
            else:
                name, arguments = one
                call_id = f"{name}-{len(messages)}-{number}"
                yield {number: DeltaToolCall(name=name, tool_call_id=call_id)}
                yield {number: DeltaToolCall(json_args=arguments)}

    return FunctionModel(stream_function=stream) if streams else FunctionModel(answer)


def _has_prompt(message: ModelRequest) -> bool:
    return any(part.part_kind == "user-prompt" for part in message.parts)


class Shop:
    """The world that tools change, and the agent that does."""

    def __init__(self, model: Any, **options: Any) -> None:
        self.calls: list[str] = []
        self.agent: Agent[Any, Any] = Agent(
            model, name="chat", capabilities=[*options.pop("more", ()), OutlastDurability()], **options
        )
        self.agent.tool_plain(self.find)
        self.agent.tool_plain(self.pay)

    def find(self, order: str) -> str:
        """Find an order."""
        self.calls.append(f"find {order}")
        if order == "none":
            raise ModelRetry("There is no such order.")
        return f"{order}: 500 cents"

    async def pay(self, order: str, cents: int) -> dict[str, Any]:
        """Pay an order back."""
        self.calls.append(f"pay {order} {cents}")
        return {"paid": cents}


def playing(db: Database, folder: Path, agent: Agent[Any, Any], settings: Settings | None = None):
    adopted = adopt(agent)
    assert adopted is not None
    return stage(db, folder, [], agent=adopted, settings=settings)


def of(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["event"] == name]


async def answer_of(it: Stage) -> str:
    return "".join(part.text for part in (await it.messages())[-1].parts if part.type == "text").strip()


FIND, PAY = ("find", '{"order": "7"}'), ("pay", '{"order": "7", "cents": 500}')


@pytest.mark.parametrize("streams", [True, False])
async def test_its_turns_and_calls_are_shown_and_counted_as_those_of_our_agents(
    db: Database, tmp_path: Path, streams: bool
) -> None:
    shop = Shop(calls_and_words([["Let me look.", FIND], ["It costs 500 cents."]], streams=streams))
    async with playing(db, tmp_path, shop.agent) as it:
        run_id = (await it.start("How much is order 7?")).run_id
        events = await it.events(run_id)
        assert [one["step"] for one in of(events, "step.completed")] == [1, 2]
        deltas = "".join(one["delta"] for one in of(events, "text.delta"))
        assert deltas.replace(" ", "") == "Letmelook.Itcosts500cents."
        (result,) = of(events, "tool_call.result")
        assert (result["status"], result["result"]) == ("done", "7: 500 cents")
        call = next(part for part in (await it.messages())[-1].parts if part.type == "tool_call")
        assert (call.tool, call.arguments, call.status) == ("find", '{"order": "7"}', "done")
        assert (await answer_of(it)).endswith("It costs 500 cents.")
        done = of(events, "run.completed")[0]
        assert done["usage"]["input_tokens"] > 0
        assert done["usage"]["output_tokens"] > 0
        assert shop.calls == ["find 7"]


async def test_the_next_message_continues_the_conversation_with_all_of_its_messages(
    db: Database, tmp_path: Path
) -> None:
    heard: list[list[ModelMessage]] = []
    shop = Shop(calls_and_words([[FIND], ["500 cents."]], heard), system_prompt="You sell bicycles.")
    async with playing(db, tmp_path, shop.agent) as it:
        await it.events((await it.start("How much is order 7?")).run_id)
        await it.events((await it.start("And again?")).run_id)
        kinds = [[part.part_kind for part in message.parts] for message in heard[2]]
        first = [["system-prompt", "user-prompt"], ["tool-call"], ["tool-return"], ["text"]]
        assert kinds == [*first, ["user-prompt"]]
        assert shop.calls == ["find 7", "find 7"]


async def test_a_call_that_the_policy_asks_about_waits_as_a_row_while_the_others_are_made(
    db: Database, tmp_path: Path
) -> None:
    heard: list[list[ModelMessage]] = []
    shop = Shop(calls_and_words([[FIND, PAY], ["Done."]], heard))
    settings = Settings(policy=(PolicyRule(tool="pay", decision="ask", reason="Money"),))
    async with playing(db, tmp_path, shop.agent, settings) as it:
        run_id = (await it.start()).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(run_id, "awaiting_approval")
        assert (await db.read(run_of, run_id)).leg == "parked"
        assert (asked["tool"], asked["reason"], shop.calls) == ("pay", "Money", ["find 7"])
        await decide_approval(it.services, it.owner, asked["id"], "approve", arguments={"order": "7", "cents": 400})
        events = await it.events(run_id)
        assert shop.calls == ["find 7", "pay 7 400"]
        assert [one["result"] for one in of(events, "tool_call.result")] == ["7: 500 cents", '{"paid": 400}']
        told = [part.content for part in heard[-1][-1].parts if part.part_kind == "tool-return"]
        assert "A person changed the arguments" in str(told[1])
        assert await answer_of(it) == "Done."


@pytest.mark.postgres
async def test_a_call_waits_as_a_row_on_postgresql_too(db: Database, tmp_path: Path) -> None:
    await test_a_call_that_the_policy_asks_about_waits_as_a_row_while_the_others_are_made(db, tmp_path)


async def test_a_call_that_a_person_or_the_policy_denies_is_told_to_the_model_and_not_made(
    db: Database, tmp_path: Path
) -> None:
    heard: list[list[ModelMessage]] = []
    shop = Shop(calls_and_words([[FIND, PAY], ["Sorry."]], heard))
    rules = (PolicyRule(tool="pay", decision="ask"), PolicyRule(tool="find", decision="deny", reason="Not today."))
    async with playing(db, tmp_path, shop.agent, Settings(policy=rules)) as it:
        run_id = (await it.start()).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await decide_approval(it.services, it.owner, asked["id"], "deny", reason="Too much")
        events = await it.events(run_id)
        assert shop.calls == []
        told = [part.content for part in heard[-1][-1].parts if part.part_kind == "tool-return"]
        assert told[0] == "Not today."
        assert "Too much" in str(told[1])
        assert [one["status"] for one in of(events, "tool_call.result")] == ["denied", "denied"]
        assert await answer_of(it) == "Sorry."


@pytest.mark.parametrize("decision", ["approve", "deny"])
@pytest.mark.parametrize("asks", ["always", "in the tool"])
async def test_a_tool_whose_code_wants_an_approval_gets_it_from_a_person(
    db: Database, tmp_path: Path, decision: Any, asks: str
) -> None:
    shop = Shop(calls_and_words([[("refund", "{}")], ["Done."]]), output_type=[str, DeferredToolRequests])

    async def refund(ctx: RunContext[Any]) -> str:
        if asks == "in the tool" and not ctx.tool_call_approved:
            raise ApprovalRequired
        shop.calls.append("refund")
        return "paid"

    shop.agent.tool(requires_approval=asks == "always")(refund)
    async with playing(db, tmp_path, shop.agent) as it:
        run_id = (await it.start()).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, asked["id"], decision)
        assert await it.ended(run_id) == "completed"
        assert shop.calls == (["refund"] if decision == "approve" else [])


async def test_two_approvals_one_after_the_other_are_both_asked_for_and_nothing_is_made_twice(
    db: Database, tmp_path: Path
) -> None:
    shop = Shop(calls_and_words([[FIND], [PAY, ("pay", '{"order": "8", "cents": 1}')], ["Done."]]))
    settings = Settings(policy=(PolicyRule(tool="pay", decision="ask"),))
    async with playing(db, tmp_path, shop.agent, settings) as it:
        run_id = (await it.start()).run_id
        await it.until_status(run_id, "awaiting_approval")
        first, second = of(await open_events(it, run_id), "approval.requested")
        await decide_approval(it.services, it.owner, second["approval"]["id"], "approve")
        await decide_approval(it.services, it.owner, first["approval"]["id"], "approve")
        assert await it.ended(run_id) == "completed"
        assert sorted(shop.calls) == ["find 7", "pay 7 500", "pay 8 1"]


async def open_events(it: Stage, run_id: str) -> list[dict[str, Any]]:
    return [orjson.loads(body) for _, body in await it.services.db.read(read_all, run_id)]


async def test_an_output_type_gives_an_object_and_its_tool_is_not_judged(db: Database, tmp_path: Path) -> None:
    class Verdict(BaseModel):
        urgent: bool

    turns: list[Turn] = [["Let me look.", FIND], [("final_result", '{"urgent": true}')]]
    shop = Shop(calls_and_words(turns), output_type=Verdict)
    settings = Settings(policy=(PolicyRule(tool="final_result", decision="deny"),))
    async with playing(db, tmp_path, shop.agent, settings) as it:
        events = await it.events((await it.start()).run_id)
        last = (await it.messages())[-1].parts[-1]
        assert (last.type, last.step, last.text) == ("text", 2, '{"urgent":true}')
        assert [one["status"] for one in of(events, "tool_call.result")] == ["done", "done"]


async def test_a_tool_that_asks_the_model_to_try_again_is_shown_as_an_error(db: Database, tmp_path: Path) -> None:
    turns: list[Turn] = [[("find", '{"order": "none"}')], [("find", '{"wrong": 1}')], [FIND], ["Found."]]
    shop = Shop(calls_and_words(turns), retries=3)
    async with playing(db, tmp_path, shop.agent) as it:
        events = await it.events((await it.start()).run_id)
        shown = of(events, "tool_call.result")
        assert [one["status"] for one in shown] == ["error", "error", "done"]
        assert "no such order" in shown[0]["result"]
        assert shop.calls == ["find none", "find 7"]


async def test_a_model_that_failed_is_not_asked_again_after_the_agent_fell_back_to_another(
    db: Database, tmp_path: Path
) -> None:
    asked: list[list[ModelMessage]] = []
    failed: list[Turn] = [[ModelHTTPError(503, "m", {"error": "busy"})]]
    broken = calls_and_words([*failed, *failed], asked)
    model = FallbackModel(broken, calls_and_words([[PAY], ["Paid."]]))
    shop = Shop(model)
    settings = Settings(policy=(PolicyRule(tool="pay", decision="ask"),))
    async with playing(db, tmp_path, shop.agent, settings) as it:
        run_id = (await it.start()).run_id
        asked_for = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, asked_for["id"], "approve")
        assert await it.ended(run_id) == "completed"
        assert len(asked) == 2, "once a turn"


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([[ModelHTTPError(401, "m", {"error": "no key"})]], "no key"),
        ([[("boom", "{}")]], "The agent failed (ZeroDivisionError)."),
    ],
)
async def test_an_error_of_the_guest_ends_its_run_with_what_happened(
    db: Database, tmp_path: Path, turns: list[Turn], told: str
) -> None:
    shop = Shop(calls_and_words(turns))

    @shop.agent.tool_plain
    def boom() -> int:
        return 1 // 0

    async with playing(db, tmp_path, shop.agent) as it:
        failed = of(await it.events((await it.start()).run_id), "run.error")[0]
        assert failed["error"]["code"] == "guest_failed"
        assert told in failed["error"]["message"]


async def test_a_cancelled_run_stops_its_tool_at_once(db: Database, tmp_path: Path) -> None:
    began, stopped = anyio.Event(), anyio.Event()
    shop = Shop(calls_and_words([[("wait", "{}")], ["Done."]]))

    async def wait() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    shop.agent.tool_plain(wait)
    async with playing(db, tmp_path, shop.agent) as it:
        run_id = (await it.start()).run_id
        await began.wait()
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        await stopped.wait()


async def test_a_wait_for_an_event_is_a_question_whose_id_is_the_token(db: Database, tmp_path: Path) -> None:
    tokens: list[str] = []

    def ask(_ctx: RunContext[Any], requests: DeferredToolRequests, token: str) -> None:
        tokens.append(token)

    shop = Shop(
        calls_and_words([[("elsewhere", "{}")], ["Done."]]),
        more=[RequestInput(ask, name="elsewhere")],
        toolsets=[_external()],
    )
    async with playing(db, tmp_path, shop.agent) as it:
        run_id = (await it.start()).run_id
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        await it.until_status(run_id, "awaiting_approval")
        assert tokens == [question["id"]]
        call_id = "elsewhere-1-0"
        answer = f'{{"calls": {{"{call_id}": "42"}}}}'
        await answer_question(it.services, it.owner, question["id"], {"answer": answer})
        events = await it.events(run_id)
        assert of(events, "run.completed")
        assert "42" in [one["result"] for one in of(events, "tool_call.result")]
        assert len(tokens) == 1


def _external() -> ExternalToolset[Any]:
    return ExternalToolset([ToolDefinition(name="elsewhere")], id="external")


async def test_a_test_model_of_theirs_plays_all_tools(db: Database, tmp_path: Path) -> None:
    shop = Shop(TestModel(), toolsets=[FunctionToolset(id="none")])
    async with playing(db, tmp_path, shop.agent) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert sorted(shop.calls) == ["find a", "pay a 0"]


async def test_outside_of_a_server_the_agent_works_as_without_the_capability() -> None:
    shop = Shop(calls_and_words([[FIND], ["500 cents."]], streams=False))
    assert (await shop.agent.run("How much?")).output == "500 cents."


async def test_the_names_of_its_units_stay_the_same_since_open_runs_are_found_by_them(
    db: Database, tmp_path: Path
) -> None:
    helper = Agent(calls_and_words([["Helped."]], streams=False), name="helper", capabilities=[OutlastDurability()])

    async def dynamic(_ctx: RunContext[Any]) -> FunctionToolset[Any]:
        tools: FunctionToolset[Any] = FunctionToolset(id="inner")

        @tools.tool_plain
        async def help_me() -> str:
            return str((await helper.run("Help.")).output)

        return tools

    shop = Shop(
        calls_and_words([[FIND], [("help_me", "{}")], ["Done."]]), toolsets=[DynamicToolset(dynamic, id="more")]
    )
    async with playing(db, tmp_path, shop.agent) as it:
        run_id = (await it.start()).run_id
        assert "Helped." in str(of(await it.events(run_id), "tool_call.result")[1]["result"])
        paths = {row.path for row in await db.read(steps_of_run, run_id)}
        assert paths == {
            "@chat__dynamic_toolset__more.get_tools 0",
            "@chat__dynamic_toolset__more.get_tools 1",
            "@chat__dynamic_toolset__more.get_tools 2",
            "@chat__model.request_stream 0",
            "@chat__function_toolset__<agent>.call_tool:find find-1-0 0",
            "@chat__model.request_stream 1",
            "@chat__dynamic_toolset__more.call_tool:help_me help_me-3-0 0",
            "@chat__model.request_stream 2",
            "@messages 0",
        }
        kinds = [effect.kind for effect in await db.read(whole_effects, run_id)]
        assert kinds == ["flow", "model", "tool", "model", "tool", "model"], "an agent in a tool is part of the call"


async def test_a_run_that_continues_a_failed_one_repeats_nothing_that_was_done(db: Database, tmp_path: Path) -> None:
    broken = [True]
    shop = Shop(calls_and_words([[FIND], [("fragile", "{}")], ["Done."]]))

    @shop.agent.tool_plain
    def fragile() -> str:
        if broken.pop():
            raise OSError("no network")
        return "well"

    async with playing(db, tmp_path, shop.agent) as it:
        run_id = (await it.start()).run_id
        broken.append(True)
        assert await it.ended(run_id) == "error"
        broken[:] = [False]
        again = (await continue_run(it.services, it.owner, run_id)).run_id
        assert await it.ended(again) == "completed"
        assert (shop.calls, broken) == (["find 7"], [])
        assert await answer_of(it) == "Done."


def test_the_file_of_the_guide_is_that_of_the_example() -> None:
    assert [(EXAMPLES / "bicycle_desk.py").read_text().endswith(text) for text in SHOWN] == [True]


async def test_the_example_is_an_agent_of_the_server(db: Database, tmp_path: Path) -> None:
    (desk,) = [agent for agents in find_own_agents(AgentSettings(str(EXAMPLES))).values() for agent in agents]
    async with stage(db, tmp_path, [], agent=desk) as it:
        run_id = (await it.start("Hello", target=NewThread(it.project_id, "bicycle-desk"))).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        assert asked["tool"] == "refund"
        await decide_approval(it.services, it.owner, asked["id"], "approve")
        assert await it.ended(run_id) == "completed"
