"""What makes a turn whole."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import ModelOutputInvalid
from outlast.core.models.turn import TurnCalls, require_json_object


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers(-99, 99)))
def test_any_object_passes_and_any_beginning_of_it_does_not(value: dict[str, int]) -> None:
    text = orjson.dumps(value).decode()
    require_json_object("tool", text)
    with pytest.raises(ModelOutputInvalid):
        require_json_object("tool", text[:-1])


@pytest.mark.parametrize("text", ["", "[]", "3", "null", '"x"', "{", '{"a":1}{"b":2}', "nonsense"])
def test_anything_else_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(ModelOutputInvalid) as caught:
        require_json_object("tool", text)
    assert "nonsense" not in caught.value.message


def test_calls_decide_the_finish() -> None:
    calls = TurnCalls()
    assert calls.finish("tool_calls") == "stop"
    calls.start("c", "tool")
    assert calls.finish("stop") == "tool_calls"
    assert calls.finish("length") == "length"
    assert [delta.delta for delta in calls.complete()] == ["{}"]
