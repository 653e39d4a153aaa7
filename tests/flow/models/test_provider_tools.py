"""Tools that the makers run by themselves, in streams as their documentation shows them: told to people, never made as
calls of ours, and no answer fails because of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

from outlast.kernel.models.protocol import ModelMessage, ProviderToolUsed, TextPiece
from outlast.testing.model_server import Answer
from tests.flow.models.rig import listen, rigged, user

Event = Mapping[str, Any]


def named(events: Sequence[Event]) -> Answer:
    """Server-sent events that name their type, as OpenAI's and Anthropic's do."""
    lines = [f"event: {event['type']}\ndata: {orjson.dumps(event).decode()}\n\n" for event in events]
    return Answer(events="".join(lines))


def of_openai(item: Event) -> Answer:
    """Responses: an item of the provider's own, then a message."""
    text = {"type": "output_text", "text": "Sunny.", "annotations": []}
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [text]}
    head: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tools": []}
    head |= {"error": None, "parallel_tool_calls": True, "tool_choice": "auto", "incomplete_details": None}
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    }
    kind, own, at = (
        str(item["type"]),
        {"output_index": 0, "item_id": item["id"]},
        {"output_index": 1, "item_id": "m1"},
    )
    steps = [{"type": f"response.{kind}.{step}", **own} for step in ("in_progress", "completed")]
    arguments = [
        {"type": "response.mcp_call_arguments.delta", **own, "delta": "{}"},
        {"type": "response.mcp_call_arguments.done", **own, "arguments": "{}"},
    ]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", **own, "item": {**item, "status": "in_progress"}},
        *steps,
        *(arguments if kind == "mcp_call" else []),
        {"type": "response.output_item.done", **own, "item": item},
        {"type": "response.output_item.added", **at, "item": {**message, "content": []}},
        {"type": "response.content_part.added", **at, "content_index": 0, "part": {**text, "text": ""}},
        {"type": "response.output_text.delta", **at, "content_index": 0, "delta": "Sunny.", "logprobs": []},
        {"type": "response.output_item.done", **at, "item": message},
        {
            "type": "response.completed",
            "response": {**head, "status": "completed", "output": [item, message], "usage": usage},
        },
    ]
    return named([{**event, "sequence_number": number} for number, event in enumerate(events)])


def of_anthropic(call: Event, result: Event) -> Answer:
    """Messages: the call with its input in pieces, its result, then a text."""
    usage = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 0}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    asked = orjson.dumps(call["input"]).decode()
    pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in (asked[:7], asked[7:])]
    said = {"type": "text_delta", "text": "Sunny."}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {**call, "input": {}}},
        *({"type": "content_block_delta", "index": 0, "delta": piece} for piece in pieces),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": result},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 2, "delta": said},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": stop, "usage": {**usage, "output_tokens": 3}},
        {"type": "message_stop"},
    ]
    return named(events)


def of_google(*parts: Event, **candidate: Any) -> Answer:
    said = {"content": {"role": "model", "parts": [{"text": "Sunny."}]}, "index": 0, "finishReason": "STOP"}
    chunks: list[dict[str, Any]] = [{"content": {"role": "model", "parts": [part]}, "index": 0} for part in parts]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    lines = [
        {"candidates": [one], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
        for one in [*chunks, said | candidate]
    ]
    return Answer(events="".join(f"data: {orjson.dumps(line).decode()}\r\n\r\n" for line in lines))


def searching(result: Any) -> Answer:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "weather"}}
    return of_anthropic(call, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": result})


PAGE = {"type": "web_search_result", "url": "https://example.org/", "title": "News", "encrypted_content": "x"}
WEB = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
CODE = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1+1", "outputs": []}
FILES = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["weather"], "results": None}
MCP = {"type": "mcp_call", "id": "mcp_1", "status": "completed", "name": "roll", "server_label": "dice"}
RAN = {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []}
ROLLED = [{"type": "text", "text": "4"}]
GROUNDING = {
    "webSearchQueries": ["weather"],
    "groundingChunks": [{"web": {"uri": "https://example.org/", "title": "News"}}],
    "groundingSupports": [
        {"segment": {"startIndex": 0, "endIndex": 6, "text": "Sunny."}, "groundingChunkIndices": [0]}
    ],
}
SEARCHED = "The provider searched the web: weather"
RAN_CODE = "The provider ran code."
CALLED = "The provider called roll on the MCP server dice."
CASES: dict[str, tuple[str, Answer, str]] = {
    "openai web search": ("openai", of_openai({**WEB, "action": {"type": "search", "query": "weather"}}), SEARCHED),
    "openai code interpreter": ("openai", of_openai({**CODE, "container_id": "c"}), RAN_CODE),
    "openai file search": ("openai", of_openai(FILES), "The provider searched its files: weather"),
    "openai mcp": ("openai", of_openai({**MCP, "arguments": "{}", "output": "4", "error": None}), CALLED),
    "anthropic web search": ("anthropic", searching([PAGE]), SEARCHED),
    "anthropic web search that fails": (
        "anthropic",
        searching({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}),
        SEARCHED,
    ),
    "anthropic code": (
        "anthropic",
        of_anthropic(
            {"type": "server_tool_use", "id": "srvtoolu_2", "name": "code_execution", "input": {"code": "1"}},
            {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_2", "content": RAN},
        ),
        RAN_CODE,
    ),
    "anthropic mcp": (
        "anthropic",
        of_anthropic(
            {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "roll", "server_name": "dice", "input": {"sides": 6}},
            {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": ROLLED},
        ),
        CALLED,
    ),
    "google code": (
        "google",
        of_google(
            {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        ),
        RAN_CODE,
    ),
    "google search": ("google", of_google(groundingMetadata=GROUNDING), SEARCHED),
}


@pytest.mark.parametrize("case", CASES)
async def test_what_a_provider_does_by_itself_is_told_and_the_answer_comes(case: str):
    kind, answer, told = CASES[case]
    enabled: dict[str, Any] = {"extra_body": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}}
    more: dict[str, Any] = enabled if kind == "anthropic" else {}
    async with rigged(kind, answer, Answer(text="Still sunny."), **more) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.error is None
        assert heard.text == "Sunny."
        assert heard.calls == ()
        assert [delta.text for delta in heard.deltas if isinstance(delta, ProviderToolUsed)] == [told]
        assert heard.end.finish == "stop"
        assert heard.end.usage.output_tokens
        said = ModelMessage("assistant", (TextPiece("Sunny."),), heard.end.opaque)
        following = await listen(rig.model, rig.request(user("Weather?"), said, user("And now?")))
        assert following.error is None, "the provider's own record goes back"
        sent = orjson.dumps(rig.server.requests[1].body).decode()
        assert sent.count("srvtoolu_") in (0, 2), "a result goes back with its call"
        assert following.text == "Still sunny."
