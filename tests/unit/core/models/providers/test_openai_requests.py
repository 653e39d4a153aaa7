"""Requests as OpenAI-compatible servers want them."""

from dataclasses import replace

from outlast.core.models.config import ProviderConfig
from outlast.core.models.protocol import (
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
from outlast.core.models.providers.openai_requests import chat_body

CONFIG = ProviderConfig("fake", "openai-compatible", "http://127.0.0.1/v1")
SPEC = ModelSpec("m", "fake", "wire-name", vision=True)


def body_of(*messages: ModelMessage, config: ProviderConfig = CONFIG, **changes: object) -> dict[str, object]:
    request = replace(ModelRequest(SPEC, "", messages), **changes)  # type: ignore[arg-type]
    return chat_body(config, request, with_usage=True)


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


def test_reasoning_is_not_sent_back_as_text() -> None:
    said = ModelMessage("assistant", (ReasoningPiece("secret thought"), ToolCallPiece("1", "f", "{}")))
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert body_of(said)["messages"] == [{"role": "assistant", "content": None, "tool_calls": [call]}]


def test_bounds_tools_and_the_operators_own_fields_are_sent() -> None:
    config = replace(
        CONFIG, max_tokens_field="max_completion_tokens", extra_body={"usage": {"include": True}}
    )
    tool = ToolSpec("f", "does f", {"type": "object"})
    body = body_of(config=config, tools=(tool,), max_output_tokens=7, temperature=0.0, system="Be kind.")
    assert body == {
        "model": "wire-name",
        "messages": [{"role": "system", "content": "Be kind."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "does f", "parameters": {"type": "object"}},
            }
        ],
        "max_completion_tokens": 7,
        "temperature": 0.0,
        "usage": {"include": True},
    }


def test_metadata_stays_here() -> None:
    assert "run_1" not in repr(body_of(metadata={"run_id": "run_1"}))
