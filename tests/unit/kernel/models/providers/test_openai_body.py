"""Requests as OpenAI-compatible servers want them."""

from dataclasses import replace
from typing import Any

import pytest

from outlast.kernel.models.protocol import (
    NOTE_MARK,
    ImagePiece,
    ModelMessage,
    ModelRequest,
    ModelSpec,
    ReasoningPiece,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
)
from outlast.kernel.models.providers.openai_body import Dialect, adapted, chat_body, reasoning_sent
from outlast.kernel.models.settings import ProviderConfig, ProviderKind, ReasoningSettings

CONFIG = ProviderConfig("openai-compatible", "http://127.0.0.1/v1", name="fake")
SPEC = ModelSpec("m", "fake", "wire-name", vision=True)


def body_of(*messages: ModelMessage, config: ProviderConfig = CONFIG, **changes: object) -> dict[str, object]:
    request = replace(ModelRequest(SPEC, "", messages), **changes)  # type: ignore[arg-type]
    return chat_body(config, request)


def test_text_alone_is_a_plain_string() -> None:
    body = body_of(ModelMessage("user", (TextPiece("a"), TextPiece("b"))))
    assert body["messages"] == [{"role": "user", "content": "a\n\nb"}]
    assert body["model"] == "wire-name"


def test_images_are_data_urls() -> None:
    body = body_of(ModelMessage("user", (TextPiece("a"), ImagePiece("image/png", b"\x00\x01"))))
    assert body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAE="}},
            ],
        }
    ]


def test_results_of_one_message_become_one_message_each() -> None:
    results = (ToolResultPiece("1", "f", "ok"), ToolResultPiece("2", "g", "no", is_error=True))
    assert body_of(ModelMessage("tool", results))["messages"] == [
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "tool", "tool_call_id": "2", "content": "Error: no"},
    ]


def test_images_of_results_are_one_message_each_behind_all_results() -> None:
    image = ImagePiece("image/png", b"\x00\x01")
    results = (ToolResultPiece("1", "f", "ok", images=(image,)), ToolResultPiece("2", "g", "yes"))
    messages: Any = body_of(ModelMessage("tool", results))["messages"]
    assert [message["role"] for message in messages] == ["tool", "tool", "user"]
    told, shown = messages[2]["content"]
    assert told["text"] == f"{NOTE_MARK} The images that f returned (call 1):"
    assert shown["image_url"] == {"url": "data:image/png;base64,AAE="}


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def thought(field: str, *more: Any, **opaque: Any) -> ModelMessage:
    """An assistant message whose thinking came in `field`, with a call unless `more` says otherwise."""
    kept = {"provider": "fake", "model": "wire-name", "v": 1, "reasoning_field": field, **opaque}
    return ModelMessage(
        "assistant", (ReasoningPiece("hm "), ReasoningPiece("so"), *(more or (ToolCallPiece("1", "f", "{}"),))), kept
    )


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_goes_back_with_calls_in_the_field_it_came_in(field: str) -> None:
    """DeepSeek refuses a transcript in which a call stands without the thinking before it."""
    assert body_of(thought(field))["messages"] == [
        {"role": "assistant", "content": None, "tool_calls": [CALL], field: "hm so"}
    ]


def test_thinking_of_an_answer_without_calls_stays_here() -> None:
    assert body_of(thought("reasoning_content", TextPiece("Yes.")))["messages"] == [
        {"role": "assistant", "content": "Yes."}
    ]


def test_thinking_parts_go_back_as_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm so"}]}, {"type": "text", "text": "Yes."}]
    assert body_of(thought("thinking", TextPiece("Yes.")))["messages"] == [{"role": "assistant", "content": parts}]


def test_reasoning_details_go_back_instead_of_the_plain_text() -> None:
    details = [{"type": "reasoning.text", "text": "hm so", "signature": "s"}]
    assert body_of(thought("reasoning", reasoning_details=details))["messages"] == [
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_details": details}
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"model": replace(SPEC, send_reasoning="never")},
        {"model": replace(SPEC, name="another")},
        {"config": replace(CONFIG, name="another")},
    ],
    ids=["the configuration says never", "another model", "another provider"],
)
def test_thinking_stays_here_where_it_is_not_wanted(given: dict[str, Any]) -> None:
    body = body_of(thought("reasoning_content", reasoning_details=[{"text": "x"}]), **given)
    assert body["messages"] == [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    assert not reasoning_sent(body)


DEEPSEEK = "The `reasoning_content` in the thinking mode must be passed back to the API."
MOONSHOT = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
GROQ = "'messages.2' : property 'reasoning_content' is unsupported"
GEMINI = "Corrupted thought signature."


@pytest.mark.parametrize(
    ("said", "sent", "expected"),
    [
        ("Unknown parameter: 'stream_options'", False, Dialect(with_usage=False)),
        (DEEPSEEK, False, Dialect(reasoning="always")),
        (MOONSHOT, False, Dialect(reasoning="always")),
        (GROQ, True, Dialect(reasoning="never")),
        (GEMINI, True, Dialect(reasoning="not_now")),
        (GEMINI, False, None),
        ("Unsupported value: 'reasoning_effort'", True, None),
        ("The model does not exist", True, None),
    ],
)
def test_a_refusal_teaches_what_the_server_understands(said: str, sent: bool, expected: Dialect | None) -> None:
    assert adapted(Dialect(), 400, said, reasoning_sent=sent) == expected
    assert adapted(Dialect(), 500, said, reasoning_sent=sent) is None


def test_a_refusal_is_answered_by_one_other_way_of_handing_thoughts_back() -> None:
    assert adapted(Dialect(reasoning="always"), 400, GROQ, reasoning_sent=True) is None
    assert Dialect(reasoning="not_now").lasting() == Dialect()
    assert Dialect(reasoning="never").lasting() == Dialect(reasoning="never")


def test_a_server_that_demands_thinking_gets_it_with_every_call() -> None:
    plain = ModelMessage("assistant", (ToolCallPiece("1", "f", "{}"),))
    request = ModelRequest(SPEC, "", (plain, thought("")))
    body = chat_body(CONFIG, request, dialect=Dialect(reasoning="always"))
    assert [message["reasoning_content"] for message in body["messages"]] == ["", "hm so"]


def test_reasoning_of_an_unknown_origin_is_not_sent_back() -> None:
    said = ModelMessage("assistant", (ReasoningPiece("secret thought"), ToolCallPiece("1", "f", "{}")))
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert body_of(said)["messages"] == [{"role": "assistant", "content": None, "tool_calls": [call]}]


def test_bounds_tools_and_the_operators_own_fields_are_sent() -> None:
    config = replace(CONFIG, max_tokens_field="max_completion_tokens", extra_body={"usage": {"include": True}})
    tool = ToolSpec("f", "does f", {"type": "object"})
    body = body_of(config=config, tools=(tool,), max_output_tokens=7, temperature=0.0, system="Be kind.")
    assert body == {
        "model": "wire-name",
        "messages": [{"role": "system", "content": "Be kind."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "does f", "parameters": {"type": "object"}}}
        ],
        "max_completion_tokens": 7,
        "temperature": 0.0,
        "usage": {"include": True},
    }


@pytest.mark.parametrize(
    ("kind", "reasoning", "expected"),
    [
        ("openai-compatible", ReasoningSettings(effort="low"), {"reasoning_effort": "low"}),
        ("groq", ReasoningSettings(effort="none", budget_tokens=9), {"reasoning_effort": "none"}),
        ("openrouter", ReasoningSettings(effort="high"), {"reasoning": {"effort": "high"}}),
        ("openrouter", ReasoningSettings(effort="high", budget_tokens=2_000), {"reasoning": {"max_tokens": 2_000}}),
        ("openai-compatible", ReasoningSettings(), {}),
    ],
)
def test_how_much_to_think_is_said_in_the_kinds_own_words(
    kind: ProviderKind, reasoning: ReasoningSettings, expected: dict[str, Any]
) -> None:
    body = body_of(config=replace(CONFIG, kind=kind), model=replace(SPEC, reasoning=reasoning))
    assert {key: value for key, value in body.items() if key.startswith("reasoning")} == expected


def test_the_operators_own_fields_win_over_the_effort() -> None:
    config = replace(CONFIG, extra_body={"reasoning_effort": "high"})
    assert (
        body_of(config=config, model=replace(SPEC, reasoning=ReasoningSettings(effort="low")))["reasoning_effort"]
        == "high"
    )


def test_metadata_stays_here() -> None:
    assert "run_1" not in repr(body_of(metadata={"run_id": "run_1"}))
