"""The cases by which pydantic-ai keeps its durable engines compatible, over our engine and in whole runs: the names of
operations, their order, and what of them is recorded. Open runs are found by these, so none may change.

Where their cases and ours differ is in decision 48.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Any

import orjson
import pydantic_ai.durable_exec as their_surface
import pytest
from pydantic import TypeAdapter
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability, durable_operation
from pydantic_ai.durable_exec import (
    JSON_CODEC,
    CallToolResult,
    CapabilityOperationId,
    DurableOperationId,
    EventStreamHandlerId,
    ModelCancelSuspendedResponseId,
    ModelCompactMessagesId,
    ModelRequestId,
    ToolsetCallToolId,
    ToolsetGetInstructionsId,
    ToolsetGetToolsId,
    ToolsetValidateToolArgumentsId,
)
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, RunCancelled, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolReturn
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests, Tool, ToolDefinition
from pydantic_ai.toolsets import DynamicToolset, FunctionToolset
from pydantic_ai.usage import RunUsage

from outlast import OutlastDurability
from outlast.db.database import Database
from outlast.kernel.agents.guests.pydantic_ai import durability
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.journal_store import steps_of_run
from tests.flow.harness import Stage
from tests.flow.runs.test_pydantic_ai import calls_and_words, of, playing

NAMES: dict[DurableOperationId, str] = {
    ModelRequestId(None, streaming=False, model_name="m"): "model.request",
    ModelRequestId("small", streaming=False, model_name="m"): "model.request.small",
    ModelRequestId(None, streaming=True, model_name="m"): "model.request_stream",
    ModelRequestId("small", streaming=True, model_name="m"): "model.request_stream.small",
    ModelCancelSuspendedResponseId(None, model_name="m"): "model.cancel_suspended_response",
    ModelCancelSuspendedResponseId("small", model_name="m"): "model.cancel_suspended_response.small",
    ModelCompactMessagesId(None, model_name="m"): "model.compact_messages",
    ModelCompactMessagesId("small", model_name="m"): "model.compact_messages.small",
    EventStreamHandlerId(): "event_stream_handler",
    ToolsetCallToolId("function", toolset_id="shop"): "function_toolset__shop.call_tool:buy",
    ToolsetValidateToolArgumentsId("function", toolset_id="shop"): "function_toolset__shop.validate_args",
    ToolsetGetToolsId("mcp", toolset_id="far"): "mcp_server__far.get_tools",
    ToolsetGetInstructionsId("far"): "mcp_server__far.get_instructions",
    ToolsetCallToolId("mcp", toolset_id="far"): "mcp_server__far.call_tool",
    ToolsetGetToolsId("dynamic", toolset_id="more"): "dynamic_toolset__more.get_tools",
    ToolsetCallToolId("dynamic", toolset_id="more"): "dynamic_toolset__more.call_tool:buy",
    ToolsetValidateToolArgumentsId("dynamic", toolset_id="more"): "dynamic_toolset__more.validate_args",
    CapabilityOperationId("stock", operation="count"): "capability__stock.count",
}
LOOSE = ("timestamp", "usage", "tool_call_id", "run_id", "conversation_id")


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """What differs between databases lies in the journal, which others test on both."""
    return sqlite_url


class Stock(AbstractCapability[Any]):
    """Has an operation of its own, which takes tokens."""

    id = "stock"

    @durable_operation("count")
    async def count(self, ctx: RunContext[Any]) -> int:
        ctx.usage.incr(RunUsage(requests=1, input_tokens=3, details={"cached": 4}))
        return 5

    async def before_run(self, ctx: RunContext[Any]) -> None:
        assert await self.count(ctx) == 5


async def recorded(it: Stage, run_id: str) -> list[tuple[str, Any]]:
    """The units of a run in their order, each as its path and the JSON that is kept of it."""
    rows = await it.services.db.read(steps_of_run, run_id)
    return [(row.path, orjson.loads(row.result or "null")) for row in rows]


def acting(tool: Tool[Any], turns: Any = ([("act", '{"count": 1}')], ["Done."]), **options: Any) -> Agent[Any, Any]:
    toolset = FunctionToolset([tool], id="shop")
    model = calls_and_words([*turns], options.pop("heard", None))
    return Agent(model, name="chat", toolsets=[toolset], capabilities=[OutlastDurability()], retries=2, **options)


def test_what_the_engine_is_built_of_is_public() -> None:
    used = {name for name in vars(durability) if hasattr(their_surface, name) and name[0].isupper()}
    assert {"BaseDurabilityCapability", "JournalCallableOperationBackend", "JSON_CODEC"} <= used
    assert used <= set(their_surface.__all__)


@pytest.mark.parametrize("named", NAMES, ids=NAMES.values())
def test_each_operation_keeps_its_name(named: DurableOperationId) -> None:
    backend: Any = OutlastDurability(name="compat").get_durable_operation_backend()
    label = "buy" if isinstance(named, ToolsetCallToolId) else None
    assert backend._namer.invocation_name(named, label=label).operation_name == f"compat__{NAMES[named]}"


async def test_the_operations_of_a_run_come_in_their_order_and_a_later_leg_adds_only_new_ones(
    db: Database, tmp_path: Path
) -> None:
    seen: list[str] = []

    async def watch(_ctx: RunContext[Any], stream: AsyncIterable[Any]) -> None:
        seen.extend([event.event_kind async for event in stream])

    async def near() -> str:
        return "near"

    async def far() -> str:
        return "far"

    async def more(_ctx: RunContext[Any]) -> FunctionToolset[Any]:
        return FunctionToolset([Tool(far, requires_approval=True)], id="inner")

    agent: Agent[Any, Any] = Agent(
        calls_and_words([[("near", "{}")], [("far", "{}")], ["Done."]]),
        name="chat",
        toolsets=[FunctionToolset([near], id="shop"), DynamicToolset(more, id="more")],
        capabilities=[Stock(), OutlastDurability(event_stream_handler=watch)],
    )
    before = [
        "capability__stock.count 0",
        "dynamic_toolset__more.get_tools 0",
        "model.request_stream 0",
        "event_stream_handler 0",
        "function_toolset__shop.call_tool:near near-1-0 0",
        "event_stream_handler 1",
        "dynamic_toolset__more.get_tools 1",
        "model.request_stream 1",
        "event_stream_handler 2",
        "event_stream_handler 3",
    ]
    after = [
        "event_stream_handler 4",
        "dynamic_toolset__more.call_tool:far far-3-0 0",
        "event_stream_handler 5",
        "dynamic_toolset__more.get_tools 2",
        "model.request_stream 2",
    ]
    async with playing(db, tmp_path, agent) as it:
        run_id = (await it.start()).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(run_id, "awaiting_approval")
        first = await recorded(it, run_id)
        assert [path for path, _ in first] == [f"@chat__{name}" for name in before]
        await decide_approval(it.services, it.owner, asked["id"], "approve")
        assert await it.ended(run_id) == "completed"
        last = await recorded(it, run_id)
        assert last[: len(first)] == first, "what is recorded stays as it is"
        assert [path for path, _ in last[len(first) : -1]] == [f"@chat__{name}" for name in after]
        assert last[-1][0] == "@messages 0"
        kept = dict(last)
        tokens = {"requests": 1, "input_tokens": 3, "details": {"cached": 4}}
        counted = kept["@chat__capability__stock.count 0"]
        assert (set(counted), counted["value"]) == ({"value", "usage_delta"}, 5)
        assert {name: value for name, value in counted["usage_delta"].items() if value} == tokens
        found = kept["@chat__dynamic_toolset__more.get_tools 0"]
        assert JSON_CODEC.dump(ToolDefinition, JSON_CODEC.load(ToolDefinition, found["tools"]["far"]["tool_def"]))
        assert seen.count("function_tool_call") == seen.count("function_tool_result") == 2, "each is handled once"


class Unshown:
    """Nothing of it can be recorded."""

    def __repr__(self) -> str:
        raise OSError("no words")


def _returns() -> Any:
    return "ok"


def _returns_an_object() -> Any:
    return {"cents": 3}


def _returns_what_looks_like_theirs() -> Any:
    return {"kind": "tool-return", "cents": 3}


def _returns_with_more() -> Any:
    return ToolReturn("ok", metadata={"cents": 3})


def _wants_again() -> Any:
    raise ModelRetry("Take two.")


def _fails() -> Any:
    raise ToolFailed("There is none.")


def _is_cancelled() -> Any:
    raise RunCancelled("The helper stopped.")


def _checks_a_text() -> Any:
    return TypeAdapter(int).validate_python("three")


def _checks_an_object() -> Any:
    return TypeAdapter(int).validate_python(Unshown())


OUTCOMES: list[tuple[Any, dict[str, Any], str, str]] = [
    (_returns, {"result": "ok", "kind": "tool_return"}, "done", "ok"),
    (_returns_an_object, {"result": {"cents": 3}, "kind": "tool_return"}, "done", '{"cents": 3}'),
    (
        _returns_what_looks_like_theirs,
        {"result": {"kind": "tool-return", "cents": 3}, "kind": "tool_content_result"},
        "done",
        '"cents": 3',
    ),
    (_returns_with_more, {"kind": "tool_return"}, "done", "ok"),
    (_wants_again, {"message": "Take two.", "kind": "model_retry"}, "error", "Take two."),
    (_fails, {"message": "There is none.", "kind": "tool_failed"}, "error", "There is none."),
    (_is_cancelled, {"message": "The helper stopped.", "kind": "run_cancelled"}, "error", "The helper stopped."),
    (
        _checks_a_text,
        {
            "title": "int",
            "errors": [
                {
                    "type": "int_parsing",
                    "loc": [],
                    "msg": "Input should be a valid integer, unable to parse string as an integer",
                    "input": "three",
                }
            ],
            "kind": "validation_error",
        },
        "error",
        "valid integer",
    ),
    (
        _checks_an_object,
        {
            "title": "int",
            "errors": [
                {
                    "type": "int_type",
                    "loc": [],
                    "msg": "Input should be a valid integer",
                    "input": {"type": f"{__name__}.Unshown", "repr": "<repr failed>"},
                }
            ],
            "kind": "validation_error",
        },
        "error",
        "valid integer",
    ),
]


OF_VALIDATORS = ("model_retry", "tool_failed", "validation_error")
WHERE = [
    *(("in the tool", *outcome) for outcome in OUTCOMES),
    *(("before it", *outcome) for outcome in OUTCOMES if outcome[1]["kind"] in OF_VALIDATORS),
]


@pytest.mark.parametrize(
    ("where", "does", "kept", "status", "shown"),
    WHERE,
    ids=[f"{one[0]}: {one[1].__name__.strip('_')}" for one in WHERE],
)
async def test_each_outcome_of_a_tool_is_recorded_in_its_form_and_shown(
    db: Database, tmp_path: Path, where: str, does: Any, kept: dict[str, Any], status: str, shown: str
) -> None:
    """Before it: by its validator of arguments."""

    def act(count: int) -> Any:
        return does() if where == "in the tool" else "made"

    def check(_ctx: RunContext[Any], count: int) -> None:
        does()

    heard: list[list[ModelMessage]] = []
    tool = Tool(act, args_validator=check if where == "before it" else None)
    async with playing(db, tmp_path, acting(tool, heard=heard)) as it:
        run_id = (await it.start()).run_id
        events = await it.events(run_id)
        assert of(events, "run.completed"), events[-3:]
        operation = "call_tool:act" if where == "in the tool" else "validate_args"
        payload = dict(await recorded(it, run_id))[f"@chat__function_toolset__shop.{operation} act-1-0 0"]
        assert {name: payload.get(name) for name in kept} == kept
        loaded: Any = JSON_CODEC.load(CallToolResult, payload)
        assert JSON_CODEC.dump(CallToolResult, loaded) == payload
        (result,) = of(events, "tool_call.result")
        assert (result["status"], shown in result["result"]) == (status, True), result
        assert shown.strip('{"')[:5] in str(heard[-1][-1])


async def test_a_call_that_wants_an_approval_or_is_made_elsewhere_is_recorded_with_its_reason(
    db: Database, tmp_path: Path
) -> None:
    def act(ctx: RunContext[Any], count: int) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired({"scope": "write"})
        raise CallDeferred({"ticket": 7})

    agent = acting(Tool(act), output_type=[str, DeferredToolRequests])
    async with playing(db, tmp_path, agent) as it:
        run_id = (await it.start()).run_id
        asked = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, asked["id"], "approve")
        assert await it.ended(run_id) == "completed"
        kept = dict(await recorded(it, run_id))
        call = "@chat__function_toolset__shop.call_tool:act act-1-0"
        assert kept[f"{call} 0"] == {"metadata": {"scope": "write"}, "kind": "approval_required"}
        assert kept[f"{call} 1"] == {"metadata": {"ticket": 7}, "kind": "call_deferred"}


async def test_a_turn_is_recorded_as_a_message_that_reads_back_the_same(db: Database, tmp_path: Path) -> None:
    def act(count: int) -> str:
        return "made"

    turns = [["Look:", ("act", '{"count": 1}')], ["Done."]]
    async with playing(db, tmp_path, acting(Tool(act), turns)) as it:
        run_id = (await it.start()).run_id
        assert await it.ended(run_id) == "completed"
        kept = dict(await recorded(it, run_id))["@chat__model.request_stream 0"]
        assert set(kept) == {"value", "step", "calls", "asked"}
        assert (kept["step"], list(kept["calls"]), kept["asked"]) == (1, ["act-1-1"], [])
        value = kept["value"]
        response: ModelResponse = JSON_CODEC.load(ModelResponse, value)
        assert JSON_CODEC.dump(ModelResponse, response) == value
        assert _bare(value["parts"]) == [
            {"content": "Look: ", "part_kind": "text"},
            {"tool_name": "act", "args": '{"count": 1}', "part_kind": "tool-call"},
        ]
        assert (value["kind"], value["state"]) == ("response", "complete")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", value["timestamp"])


def _bare(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in part.items() if value is not None and name not in LOOSE} for part in parts]


async def test_a_turn_as_an_earlier_release_has_recorded_it_is_read() -> None:
    """Without what later releases have added."""
    kept = {"parts": [{"content": "Hi.", "part_kind": "text"}], "timestamp": "2026-01-01T00:00:00Z", "kind": "response"}
    response: ModelResponse = JSON_CODEC.load(ModelResponse, kept)
    assert (response.text, response.tool_calls) == ("Hi.", [])
    for payload in ({"result": "ok", "kind": "tool_return"}, {"metadata": None, "kind": "call_deferred"}):
        assert JSON_CODEC.dump(CallToolResult, JSON_CODEC.load(CallToolResult, payload)) == payload


async def test_their_model_that_plays_all_tools_sees_those_of_each_toolset(db: Database, tmp_path: Path) -> None:
    async def near() -> str:
        return "near"

    async def far() -> str:
        return "far"

    more = DynamicToolset(lambda _ctx: FunctionToolset([far], id="inner"), id="more")
    near_tools: FunctionToolset[Any] = FunctionToolset([near], id="shop")
    agent: Agent[Any, Any] = Agent(
        TestModel(), name="chat", toolsets=[near_tools, more], capabilities=[OutlastDurability()]
    )
    async with playing(db, tmp_path, agent) as it:
        events = await it.events((await it.start()).run_id)
        assert [one["result"] for one in of(events, "tool_call.result")] == ["near", "far"]
