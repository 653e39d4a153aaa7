"""The tool calls of a turn, and their arguments as providers take them back."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.models.turn_calls import INVALID_ARGUMENTS_CHARS, TurnCalls, parse_arguments, sendable_arguments


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers(-99, 99)))
def test_any_object_is_sent_back_as_it_is_and_any_beginning_of_it_inside_an_object(value: dict[str, int]) -> None:
    text = orjson.dumps(value).decode()
    assert sendable_arguments(text) == text
    assert orjson.loads(sendable_arguments(text[:-1])) == ({"invalid_json": text[:-1]} if text[:-1] else {})


@pytest.mark.parametrize("text", ["[]", "3", "null", '"x"', "{", '{"a":1}{"b":2}', "nonsense"])
def test_anything_else_is_sent_back_inside_an_object(text: str) -> None:
    assert parse_arguments(text) is None
    assert orjson.loads(sendable_arguments(text)) == {"invalid_json": text}


def test_long_malformed_arguments_are_sent_back_shortened() -> None:
    sent = orjson.loads(sendable_arguments("x" * 100_000))
    assert len(sent["invalid_json"]) == INVALID_ARGUMENTS_CHARS


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert (parse_arguments(""), sendable_arguments("")) == ({}, "{}")


def test_calls_decide_the_finish() -> None:
    calls = TurnCalls()
    assert calls.finish("tool_calls") == "stop"
    calls.start("c", "tool")
    assert calls.finish("stop") == "tool_calls"
    assert calls.finish("length") == "length"
    assert [delta.delta for delta in calls.complete()] == ["{}"]
