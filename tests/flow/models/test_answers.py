"""Every adapter against every wire format: what a good answer becomes."""

import re
import threading
from typing import Any

import anyio
import orjson
import pytest

from outlast.base.errors import ModelRejected
from outlast.kernel.models.protocol import (
    ImagePiece,
    ModelMessage,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
    TurnEnd,
)
from outlast.kernel.models.providers import openai_body, openai_compatible
from outlast.kernel.models.settings import ReasoningSettings
from outlast.testing.model_server import Answer, Fault
from tests.flow.models.rig import KEY, KINDS, TERMINAL, listen, rigged, user

PIXEL = b"\x89PNG\r\n\x1a\n-not-a-real-picture"
CALL = {"name": "terminal", "arguments": {"command": "ls -la 'Ünïcode'"}, "id": "call_a1"}

every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
async def test_text_comes_in_deltas_and_ends_with_usage(kind: str) -> None:
    async with rigged(kind, Answer(text="Hello there, Ünïcode 🙂 friend.")) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.error is None
        assert heard.text == "Hello there, Ünïcode 🙂 friend."
        assert heard.end.finish == "stop"
        usage = heard.end.usage
        assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (100, 40, 5)
        assert all(batch for batch in heard.batches)
        assert [delta for delta in heard.deltas if isinstance(delta, TurnEnd)] == [heard.deltas[-1]]


@every_kind
async def test_reasoning_is_told_apart_from_the_answer(kind: str) -> None:
    async with rigged(kind, Answer(reasoning="Let me think about it.", text="Yes.")) as rig:
        heard = await listen(rig.model, rig.request())
        assert (heard.reasoning, heard.text) == ("Let me think about it.", "Yes.")


@every_kind
async def test_tool_calls_come_whole_with_their_ids(kind: str) -> None:
    second = {"name": "terminal", "arguments": {"command": "pwd"}, "id": "call_b2"}
    async with rigged(kind, Answer(text="Two commands.", calls=(CALL, second))) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.error is None
        assert heard.end.finish == "tool_calls"
        assert [call.call_id for call in heard.calls] == ["call_a1", "call_b2"]
        assert [orjson.loads(call.arguments) for call in heard.calls] == [CALL["arguments"], second["arguments"]]


@every_kind
async def test_a_call_without_arguments_has_an_empty_object(kind: str) -> None:
    async with rigged(kind, Answer(calls=({"name": "terminal", "arguments": "", "id": "call_a1"},))) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.error is None
        assert orjson.loads(heard.calls[0].arguments) == {}


@every_kind
async def test_an_answer_that_is_too_long_says_so(kind: str) -> None:
    async with rigged(kind, Answer(text="And then", finish="length")) as rig:
        assert (await listen(rig.model, rig.request())).end.finish == "length"


@every_kind
async def test_the_transcript_reaches_the_provider_whole(kind: str) -> None:
    async with rigged(kind) as rig:
        await listen(
            rig.model,
            rig.request(
                user("First question"),
                ModelMessage(
                    "assistant", (TextPiece("I look."), ToolCallPiece("call_a1", "terminal", '{"command":"ls"}'))
                ),
                ModelMessage("tool", (ToolResultPiece("call_a1", "terminal", "listing-of-files"),)),
                ModelMessage("assistant", (TextPiece("First answer"),)),
                user("Second question"),
                temperature=None if kind == "openai" else 0.5,  # its reasoning models refuse a temperature
                max_output_tokens=321,
            ),
        )
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        told = ["You are helpful.", "First question", "I look.", "terminal", "listing-of-files", "First answer"]
        for words in [*told, "Second question", "321", "Runs a command."]:
            assert words in sent
        assert ("0.5" in sent) is (kind != "openai")
        places = [
            sent.index(words) for words in ("First question", "listing-of-files", "First answer", "Second question")
        ]
        assert places == sorted(places)


@every_kind
async def test_a_failed_tool_result_is_told_as_one(kind: str) -> None:
    async with rigged(kind) as rig:
        await listen(
            rig.model,
            rig.request(
                user("Go"),
                ModelMessage("assistant", (ToolCallPiece("call_a1", "terminal", "{}"),)),
                ModelMessage("tool", (ToolResultPiece("call_a1", "terminal", "no such file", is_error=True),)),
            ),
        )
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        assert "no such file" in sent
        assert re.search(r"error", sent, re.IGNORECASE)


@every_kind
async def test_images_go_to_models_that_see(kind: str) -> None:
    async with rigged(kind, vision=True) as rig:
        await listen(rig.model, rig.request(user("What is this?", ImagePiece("image/png", PIXEL))))
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        # Google's SDK writes base64 with the URL alphabet
        assert "iVBORw0KGgotbm90LWEtcmVhbC1waWN0dXJl" in sent
        assert "image/png" in sent


async def test_images_are_encoded_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    # The images of a request, 20 MB, held every other run up for a tenth of a second.
    threads: list[int] = []

    def noted(*given: Any, **named: Any) -> Any:
        threads.append(threading.get_ident())
        return openai_body.chat_body(*given, **named)

    monkeypatch.setattr(openai_compatible, "chat_body", noted)
    async with rigged("openai-compatible", vision=True) as rig:
        await listen(rig.model, rig.request(user("What is this?", ImagePiece("image/png", PIXEL))))
        await listen(rig.model, rig.request(*with_image()))
        await listen(rig.model, rig.request(user("Hello?")))
    here = threading.get_ident()
    assert [one == here for one in threads] == [False, False, True]


IN_RESULTS: dict[str, list[Any]] = {
    "openai-compatible": ["messages", -1, "content", 1, "image_url", "url"],
    "openai": ["input", -1, "output", 1, "image_url"],
    "anthropic": ["messages", -1, "content", 0, "content", 1, "source", "data"],
    "google": ["contents", -1, "parts", -2, "inlineData", "data"],
}


def with_image(*, is_error: bool = False) -> tuple[ModelMessage, ...]:
    called = ModelMessage("assistant", (ToolCallPiece("call_a1", "terminal", "{}"),))
    result = ToolResultPiece("call_a1", "terminal", "a chart", is_error, (ImagePiece("image/png", PIXEL),))
    return user("Draw it"), called, ModelMessage("tool", (result,))


@every_kind
@pytest.mark.parametrize("is_error", [False, True], ids=["done", "failed"])
async def test_the_image_of_a_result_is_sent_in_the_providers_own_form(kind: str, is_error: bool) -> None:
    async with rigged(kind, vision=True) as rig:
        heard = await listen(rig.model, rig.request(*with_image(is_error=is_error)))
        assert heard.error is None
        body = rig.server.requests[0].body
        assert "a chart" in orjson.dumps(body).decode()
        if kind == "anthropic" and is_error:  # its failed results take only text: the image stands behind them
            assert "iVBORw0KGgotbm90LWEtcmVhbC1waWN0dXJl" in orjson.dumps(body).decode()
            return
        found: Any = body
        for key in IN_RESULTS[kind]:
            found = found[key]
        assert str(found).endswith("iVBORw0KGgotbm90LWEtcmVhbC1waWN0dXJl")


@every_kind
async def test_the_image_of_a_result_is_left_out_for_models_that_do_not_see(kind: str) -> None:
    async with rigged(kind) as rig:
        assert (await listen(rig.model, rig.request(*with_image()))).error is None
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        assert "iVBOR" not in sent
        assert "is not shown to this model" in sent


@every_kind
async def test_images_are_described_to_models_that_do_not_see(kind: str) -> None:
    async with rigged(kind) as rig:
        await listen(rig.model, rig.request(user("What is this?", ImagePiece("image/png", PIXEL))))
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        assert "iVBOR" not in sent
        assert "is not shown to this model" in sent


@every_kind
async def test_the_provider_gets_back_its_own_record_of_a_turn(kind: str) -> None:
    thinking = Answer(reasoning="Deep thought.", text="I run it.", calls=(CALL,))
    async with rigged(kind, thinking, Answer(text="Done.")) as rig:
        heard = await listen(rig.model, rig.request())
        opaque = heard.end.opaque
        assert opaque is not None
        assert (opaque["provider"], opaque["v"]) == ("fake", 1)
        opaque = orjson.loads(orjson.dumps(opaque))  # as the database gives it back
        first = ModelMessage("assistant", (TextPiece(heard.text), *heard.calls), opaque)
        result = ModelMessage("tool", (ToolResultPiece("call_a1", "terminal", "file.txt"),))
        again = await listen(rig.model, rig.request(user("Hello?"), first, result))
        assert again.error is None
        sent = orjson.dumps(rig.server.requests[1].body).decode()
        marks = {
            "openai-compatible": "reasoning_details",
            "openai": "sealed",
            "anthropic": "signed:",
            "google": "c2lnbmVk",
        }
        assert marks[kind] in sent
        assert sent.count("Ünïcode") == 1


@every_kind
async def test_another_providers_record_is_ignored(kind: str) -> None:
    foreign: dict[str, Any] = {"provider": "other", "v": 1, "response": {"kind": "response"}, "reasoning_details": [{}]}
    async with rigged(kind) as rig:
        said = ModelMessage("assistant", (TextPiece("From before"),), foreign)
        heard = await listen(rig.model, rig.request(user("Hi"), said, user("Go on")))
        assert heard.error is None
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        assert "From before" in sent
        assert "reasoning_details" not in sent


@every_kind
async def test_arguments_edited_by_a_person_replace_those_in_the_record(kind: str) -> None:
    async with rigged(kind, Answer(text="I run it.", calls=(CALL,)), Answer(text="Done.")) as rig:
        heard = await listen(rig.model, rig.request())
        edited = ToolCallPiece("call_a1", "terminal", '{"command":"ls safe"}')
        first = ModelMessage("assistant", (TextPiece(heard.text), edited), heard.end.opaque)
        result = ModelMessage("tool", (ToolResultPiece("call_a1", "terminal", "file.txt"),))
        await listen(rig.model, rig.request(user("Hello?"), first, result))
        sent = orjson.dumps(rig.server.requests[1].body).decode()
        assert "ls safe" in sent
        assert "Ünïcode" not in sent


@pytest.mark.parametrize(
    ("kind", "name", "reasoning", "path", "expected"),
    [
        ("openai-compatible", "m", ReasoningSettings(effort="low"), ["reasoning_effort"], "low"),
        (
            "openai",
            "gpt-5-mini",
            ReasoningSettings("high", "detailed"),
            ["reasoning"],
            {"effort": "high", "summary": "detailed"},
        ),
        (
            "anthropic",
            "claude-sonnet-4-5",
            ReasoningSettings(budget_tokens=3_000),
            ["thinking"],
            {"type": "enabled", "budget_tokens": 3_000},
        ),
        ("anthropic", "claude-opus-4-8", ReasoningSettings(effort="low"), ["output_config", "effort"], "low"),
        (
            "google",
            "gemini-2.5-flash",
            ReasoningSettings(budget_tokens=3_000),
            ["generationConfig", "thinkingConfig"],
            {"include_thoughts": True, "thinking_budget": 3_000},
        ),
    ],
)
async def test_how_much_to_think_reaches_the_provider_in_its_own_form(
    kind: str, name: str, reasoning: ReasoningSettings, path: list[str], expected: Any
) -> None:
    async with rigged(kind, model={"name": name, "reasoning": reasoning}) as rig:
        assert (await listen(rig.model, rig.request())).error is None
        found = rig.server.requests[0].body
        for key in path:
            found = found[key]
        assert found == expected


CHOICES: dict[str, tuple[list[str], Any, Any]] = {
    "openai-compatible": (["tool_choice"], "required", {"type": "function", "function": {"name": "terminal"}}),
    "openai": (["tool_choice"], "required", {"type": "function", "name": "terminal"}),
    "anthropic": (["tool_choice"], {"type": "any"}, {"type": "tool", "name": "terminal"}),
    "google": (
        ["toolConfig", "functionCallingConfig"],
        {"mode": "ANY"},
        {"mode": "ANY", "allowedFunctionNames": ["terminal"]},
    ),
}
SEARCH = ToolSpec("search", "Searches.", {"type": "object", "properties": {}})


@every_kind
@pytest.mark.parametrize("named", [False, True], ids=["any tool", "one tool"])
async def test_a_required_call_reaches_the_provider_in_its_own_form(kind: str, named: bool) -> None:
    async with rigged(kind, Answer(calls=(CALL,))) as rig:
        choice = "terminal" if named else "required"
        heard = await listen(rig.model, rig.request(tools=(TERMINAL, SEARCH), tool_choice=choice))
        assert heard.error is None
        path, required, of_one = CHOICES[kind]
        found = rig.server.requests[0].body
        for key in path:
            found = found[key]
        assert found == (of_one if named else required)
        assert "Searches." in orjson.dumps(rig.server.requests[0].body).decode(), "the other tools are offered too"


@every_kind
@pytest.mark.parametrize("tools", [(), (TERMINAL,)], ids=["without tools", "with a tool"])
async def test_a_free_choice_and_one_without_tools_require_nothing(kind: str, tools: tuple[ToolSpec, ...]) -> None:
    async with rigged(kind) as rig:
        heard = await listen(rig.model, rig.request(tools=tools, tool_choice="auto" if tools else "required"))
        assert heard.error is None
        sent = orjson.dumps(rig.server.requests[0].body).decode()
        assert not [word for word in ('"required"}', '"ANY"', '"any"', '"tool_choice":"required"') if word in sent]


@pytest.mark.parametrize(
    ("name", "reasoning"),
    [("claude-sonnet-4-5", ReasoningSettings(budget_tokens=3_000)), ("claude-opus-5-5", ReasoningSettings())],
    ids=["reasoning with a budget", "a model that never does"],
)
async def test_a_model_that_accepts_no_required_call_is_refused_before_it_is_asked(
    name: str, reasoning: ReasoningSettings
) -> None:
    async with rigged("anthropic", model={"name": name, "reasoning": reasoning}) as rig:
        for choice in ("required", "terminal"):
            error = (await listen(rig.model, rig.request(tool_choice=choice))).error
            assert isinstance(error, ModelRejected)
            assert "`tool_choice`" in error.hint
        assert rig.server.requests == []


@every_kind
async def test_a_known_model_is_asked_for_as_long_an_answer_as_it_writes(kind: str) -> None:
    async with rigged(kind, model={"context_tokens": 1_000_000}) as rig:
        await listen(rig.model, rig.request())
        most = {"openai-compatible": 16_384, "openai": 128_000, "anthropic": 64_000, "google": 65_535}[kind]
        assert str(most) in orjson.dumps(rig.server.requests[0].body).decode()


@every_kind
async def test_leaving_in_the_middle_hangs_up_at_once(kind: str) -> None:
    async with rigged(kind, Answer(tokens=500, delay_s=0.01)) as rig:
        answer = rig.model.stream(rig.request())
        await anext(answer)
        await answer.aclose()
        with anyio.fail_after(60):
            await rig.server.wait_hung_up()


@every_kind
async def test_cancelling_hangs_up_at_once_even_when_nothing_was_said(kind: str) -> None:
    async with rigged(kind, Answer(fault=Fault.STALL_FIRST)) as rig:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, rig.model, rig.request())
            await rig.server.wait_requests(1)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            await rig.server.wait_hung_up()


@every_kind
async def test_the_key_goes_only_where_it_belongs(kind: str) -> None:
    async with rigged(kind, Answer(text="Hi")) as rig:
        await listen(rig.model, rig.request())
        seen = rig.server.requests[0]
        carriers = [name for name, value in seen.headers.items() if KEY in value]
        assert carriers in (["authorization"], ["x-api-key"], ["x-goog-api-key"])
        assert KEY not in orjson.dumps(seen.body).decode()
        assert KEY not in seen.path


async def test_a_server_that_does_not_know_stream_options_is_asked_without_them() -> None:
    answers = [Answer(fault=Fault.NO_STREAM_OPTIONS), Answer(text="Hi"), Answer(text="Again")]
    async with rigged("openai-compatible", *answers) as rig:
        heard = await listen(rig.model, rig.request())
        assert heard.text == "Hi"
        assert heard.end.usage.input_tokens == 0
        assert (await listen(rig.model, rig.request())).text == "Again"
        assert ["stream_options" in seen.body for seen in rig.server.requests] == [True, False, False]


async def test_one_connection_serves_turn_after_turn() -> None:
    async with rigged("openai-compatible", *[Answer(text="Hi")] * 3) as rig:
        for _ in range(3):
            assert (await listen(rig.model, rig.request())).error is None
        peers = {seen.peer for seen in rig.server.requests}
        assert len(peers) == 1
