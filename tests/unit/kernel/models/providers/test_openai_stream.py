"""The chat completions reader: any cut of the bytes, and the oddities of the servers that speak this format."""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base import errors
from outlast.base.errors import OutlastError
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.failures import Peer
from outlast.kernel.models.protocol import (
    Delta,
    ProviderToolUsed,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    ToolCallStart,
    Usage,
)
from outlast.kernel.models.providers import openai_stream
from outlast.kernel.models.providers.openai_stream import ChatStream, read_usage
from outlast.testing.model_server import Answer, Fault
from outlast.testing.model_wire import ChatWriter

PEER = Peer("fake", "some/model", ApiKey("sk-secret"))

words = st.text(st.characters(codec="utf-8"), max_size=40)
arguments = st.dictionaries(words, words | st.integers(-9, 9), max_size=3)
calls = st.lists(st.builds(lambda given: {"name": "terminal", "arguments": given}, arguments), max_size=3)
answers = st.builds(
    Answer,
    text=words,
    reasoning=words,
    calls=calls.map(tuple),
    finish=st.sampled_from(["", "length"]),
    fault=st.sampled_from([Fault.NONE, Fault.NO_FINISH, Fault.TOOL_CALL_CUT, Fault.CONTENT_FILTER]),
)


def wire(answer: Answer) -> bytes:
    """The whole body a server would send."""
    writer = ChatWriter({"model": "m", "stream_options": {"include_usage": True}})
    body = b"".join(writer.open())
    pieces = list(answer.pieces())
    for piece in pieces:
        body += b": keep-alive\r\n\r\n" + b"".join(writer.piece(piece))
    if answer.fault is not Fault.NO_FINISH:
        body += b"".join(writer.close(answer.end(len(pieces))))
    return body


def read(reads: list[bytes]) -> tuple[list[Delta], Any, Usage]:
    """All deltas, then the end or the error's class, and the usage."""
    stream = ChatStream(PEER)
    deltas: list[Delta] = []
    for data in reads:
        deltas += stream.feed(data)
    try:
        last, finish, opaque = stream.end()
    except OutlastError as error:
        return deltas, (type(error), error.message), stream.usage
    return [*deltas, *last], (finish, opaque), stream.usage


@given(answers, st.data())
def test_any_split_into_reads_gives_the_same_deltas(answer: Answer, data: st.DataObject) -> None:
    body = wire(answer)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=30)))
    edges = [0, *cuts, len(body)]
    reads = [body[start:end] for start, end in pairwise(edges)]
    assert read(reads) == read([body])


@given(answers)
def test_what_the_server_meant_is_what_is_read(answer: Answer) -> None:
    deltas, end, _ = read([wire(answer)])
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == answer.text
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == answer.reasoning
    assert len([delta for delta in deltas if isinstance(delta, ToolCallStart)]) == len(answer.calls)
    if answer.fault is Fault.NO_FINISH:
        assert end[0] is errors.ModelCut


@given(answers, st.data())
def test_a_body_cut_anywhere_is_never_taken_for_another_answer(answer: Answer, data: st.DataObject) -> None:
    body = wire(answer)
    at = data.draw(st.integers(0, len(body)))
    whole, _, _ = read([body])
    deltas, end, _ = read([body[:at]])
    assert deltas == whole[: len(deltas)]
    if end[0] in ("stop", "tool_calls"):
        assert deltas == whole


def event(**delta: Any) -> bytes:
    return b"data: " + orjson.dumps({"choices": [{"delta": delta}]}) + b"\n\n"


def end(reason: str = "stop") -> bytes:
    return b'data: {"choices": [{"delta": {}, "finish_reason": "' + reason.encode() + b'"}]}\n\ndata: [DONE]\n\n'


def call(arguments: Any = None, **fields: Any) -> bytes:
    function = {key: fields.pop(key) for key in ("name",) if key in fields}
    if arguments is not None:
        function["arguments"] = arguments
    return event(tool_calls=[{**fields, "function": function}])


def test_llama_cpp_repeats_name_and_id_with_every_piece() -> None:
    body = call('{"a"', index=0, id="x", name="f") + call(":1}", index=0, id="x", name="f") + end("tool_calls")
    deltas, outcome, _ = read([body])
    assert deltas == [ToolCallStart(0, "x", "f"), ToolArgumentsDelta(0, '{"a"'), ToolArgumentsDelta(0, ":1}")]
    assert outcome[0] == "tool_calls"


def test_ollama_gives_every_call_the_same_index() -> None:
    body = call("{}", index=0, id="x", name="f") + call("{}", index=0, id="y", name="g") + end("stop")
    deltas, outcome, _ = read([body])
    assert [delta.call_id for delta in deltas if isinstance(delta, ToolCallStart)] == ["x", "y"]
    assert outcome[0] == "tool_calls"


def test_calls_without_index_or_id_get_both() -> None:
    deltas, _, _ = read([call({"a": 1}, name="f") + call({"b": 2}, name="g") + end()])
    starts = [delta for delta in deltas if isinstance(delta, ToolCallStart)]
    assert [start.index for start in starts] == [0, 1]
    assert len({start.call_id for start in starts}) == 2
    assert all(start.call_id for start in starts)


def test_interleaved_calls_keep_their_arguments_apart() -> None:
    body = call(index=0, id="x", name="f") + call(index=1, id="y", name="g")
    body += call('{"a":', index=0) + call('{"b":', index=1) + call("1}", index=0) + call("2}", index=1) + end()
    deltas, _, _ = read([body])
    joined = {0: "", 1: ""}
    for delta in deltas:
        if isinstance(delta, ToolArgumentsDelta):
            joined[delta.index] += delta.delta
    assert joined == {0: '{"a":1}', 1: '{"b":2}'}


def test_reasoning_content_is_reasoning_too() -> None:
    assert read([event(reasoning_content="hm") + end()])[0] == [ReasoningDelta("hm")]


def test_reasoning_details_are_joined_for_handing_back() -> None:
    body = event(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "a"}])
    body += event(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}])
    body += event(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "zz"}])
    _, outcome, _ = read([body + end()])
    assert outcome[1]["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "zz"},
    ]


def test_the_field_that_thinking_came_in_is_kept() -> None:
    for field in ("reasoning", "reasoning_content"):
        _, outcome, _ = read([event(**{field: "hm"}) + end()])
        by = {"provider": "fake", "model": "some/model", "v": 1, "lasting": True}
        assert outcome[1] == {**by, "reasoning_field": field}


def test_two_signatures_with_one_index_stay_two() -> None:
    """Gemini behind OpenRouter signs each call, with an id of its own and all under index 0. Glued together they
    came back as one signature that nobody had made: "Corrupted thought signature"."""
    first = {"type": "reasoning.encrypted", "index": 0, "id": "tool_a", "data": "AAAA"}
    body = event(reasoning_details=[first, {"type": "reasoning.encrypted", "index": 0, "data": "1111"}])
    second = {**first, "id": "tool_b", "data": "BBBB"}
    _, outcome, _ = read([body + event(reasoning_details=[second]) + end()])
    assert outcome[1]["reasoning_details"] == [{**first, "data": "AAAA1111"}, second]


def test_mistrals_thinking_parts_are_reasoning_in_the_order_they_came() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
    body = event(content=[thinking]) + event(content=[thinking, {"type": "text", "text": "Yes."}]) + end()
    deltas, outcome, _ = read([body])
    assert deltas == [ReasoningDelta("Let me see."), ReasoningDelta("Let me see."), TextDelta("Yes.")]
    assert outcome[1]["reasoning_field"] == "thinking"


def test_reasoning_comes_before_the_text_of_the_same_chunk() -> None:
    assert read([event(content="Yes.", reasoning="hm") + end()])[0] == [ReasoningDelta("hm"), TextDelta("Yes.")]


def test_done_without_a_finish_reason_ends_an_answer_that_has_content() -> None:
    """Snowflake Cortex sends usage and [DONE] and never says why it stopped: each run was cut, and paid three times."""
    assert read([event(content="Yes.") + b"data: [DONE]\n\n"])[1][0] == "stop"
    assert read([call("{}", index=0, id="x", name="f") + b"data: [DONE]\n\n"])[1][0] == "tool_calls"
    assert read([event(role="assistant") + b"data: [DONE]\n\n"])[1][0] is errors.ModelCut


def test_groqs_own_place_for_usage_is_read() -> None:
    usage = b'data: {"choices": [], "x_groq": {"id": "req_1", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}}'
    assert read([event(content="x") + usage + b"\n\n" + end()])[2] == Usage(7, 2)


def test_a_call_that_the_provider_carries_out_is_told_and_not_made() -> None:
    theirs = {"index": 0, "id": "ws_1", "type": "web_search", "function": {"arguments": '{"query": "otters"}'}}
    body = event(tool_calls=[theirs]) + call("…", index=0) + call("{}", index=1, id="x", name="f")
    deltas, outcome, _ = read([body + end("tool_calls")])
    assert deltas == [
        ProviderToolUsed("web_search", "The provider searched the web: otters"),
        ToolCallStart(0, "x", "f"),
        ToolArgumentsDelta(0, "{}"),
    ]
    assert outcome[0] == "tool_calls"


def test_groqs_executed_tools_and_cited_pages_are_told() -> None:
    tool = {"type": "search", "arguments": '{"query": "otters"}', "output": "…", "index": 0}
    cited = event(annotations=[{"type": "url_citation", "url_citation": {"url": "https://a.example"}}])
    deltas, _, _ = read([event(executed_tools=[tool]) + cited + cited + event(content="Otters.") + end()])
    assert deltas == [
        ProviderToolUsed("search", "The provider searched the web: otters"),
        ProviderToolUsed("web_search", "The provider searched the web."),
        TextDelta("Otters."),
    ]


def test_arguments_cut_short_are_handed_on_as_they_came() -> None:
    deltas, outcome, _ = read([call('{"command": "ec', index=0, id="x", name="f") + end("length")])
    assert deltas == [ToolCallStart(0, "x", "f"), ToolArgumentsDelta(0, '{"command": "ec')]
    assert outcome[0] == "length"


def test_a_refusal_in_words_is_shown_and_ends_as_refused() -> None:
    deltas, outcome, _ = read([event(refusal="I will not.") + end()])
    assert (deltas, outcome[0]) == ([TextDelta("I will not.")], "refused")


def test_openrouters_own_cost_is_kept() -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}}\n\n'
    assert read([event(content="x") + usage + end()])[2] == Usage(3, 2, cost_usd=0.5)


@pytest.mark.parametrize(
    "said",
    [
        {"prompt_tokens_details": {"cached_tokens": 80}},
        {"prompt_tokens_details": {"cached_tokens": 80}, "cached_tokens": 80},
        {"prompt_tokens_details": None, "prompt_cache_hit_tokens": 80, "prompt_cache_miss_tokens": 20},
        {"cached_tokens": 80},
        {"cache_read_input_tokens": 80, "prompt_tokens_details": {"cached_tokens": 0}},
    ],
    ids=["openai", "both", "deepseek", "moonshot", "litellm"],
)
def test_each_providers_word_for_what_came_from_its_cache_is_understood(said: dict[str, Any]) -> None:
    assert read_usage({"prompt_tokens": 100, "completion_tokens": 5, **said}) == Usage(100, 5, cached_tokens=80)


def test_a_provider_that_says_nothing_of_a_cache_has_none() -> None:
    assert read_usage({"prompt_tokens": 100, "completion_tokens": 5}) == Usage(100, 5)


def test_a_last_line_without_its_line_end_still_counts() -> None:
    body = event(content="x") + b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}'
    assert read([body])[1][0] == "stop"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'data: {"error": {"code": 429, "message": "slow down"}}', errors.ModelRateLimited),
        (b'data: {"error": {"code": 502, "message": "bad gateway"}}', errors.ModelOverloaded),
        (b'data: {"error": {"message": "?", "type": "invalid_request_error"}}', errors.ModelRejected),
        (b'data: {"error": {"message": "?", "code": "content_filter"}}', errors.ModelPolicyRefused),
        (b'data: {"error": "what"}', errors.ModelOverloaded),
        (b'data: {"choices": [{"delta": {"content": [1]}}]}', errors.ModelOutputInvalid),
        (b"data: nonsense", errors.ModelOutputInvalid),
        (b"data: 42", errors.ModelOutputInvalid),
        (b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {}}]}}]}', errors.ModelOutputInvalid),
        (b'data: {"choices": {"delta": 1}}', errors.ModelOutputInvalid),
        (b'data: {"choices": [{"delta": {}, "finish_reason": "error"}]}', errors.ModelCut),
        (b'data: {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}', errors.ModelPolicyRefused),
    ],
)
def test_a_line_that_means_trouble_becomes_one_error_and_keeps_what_came_before(
    line: bytes, expected: type[OutlastError]
) -> None:
    deltas, outcome, _ = read([event(content="before") + line + b"\n\n" + event(content="after")])
    assert deltas == [TextDelta("before")]
    assert outcome[0] is expected


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_stream, "MAX_LINE_BYTES", 1_000)
    with pytest.raises(errors.ModelOutputInvalid):
        ChatStream(PEER).feed(b"data: " + b"x" * 2_000)
