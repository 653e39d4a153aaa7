"""A model turn as it arrives, and as it is asked from again."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.models.protocol import (
    CHECK_MARK,
    Delta,
    ReasoningDelta,
    ReasoningPiece,
    TextDelta,
    TextPiece,
    ToolArgumentsDelta,
    ToolCallPiece,
    ToolCallStart,
    ToolResultPiece,
    TurnEnd,
    Usage,
)
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.runs.turns import Turn, encodable, messages_of

END = TurnEnd("stop", Usage(), {"signed": "yes"})


def play(*deltas: Delta) -> tuple[Turn, list[str], list[tuple[str, str]]]:
    """The turn, which parts began, and what was shown."""
    turn, begun, shown = Turn(3), [], []
    for delta in deltas:
        begins, shows = turn.take(delta)
        if begins is not None:
            begun.append(begins[1].part.type)  # type: ignore[attr-defined]
        if shows is not None:
            shown.append((shows[0], shows[2]))
    return turn, begun, shown


def test_words_become_parts_in_the_order_they_come() -> None:
    turn, begun, shown = play(
        ReasoningDelta("Hm"), ReasoningDelta("m."), TextDelta("Yes"), ToolCallStart(0, "c1", "look"),
        ToolArgumentsDelta(0, '{"a"'), ToolArgumentsDelta(0, ":1}"), TextDelta("And"), END,
    )  # fmt: skip
    assert begun == ["reasoning", "text", "tool_call", "text"]
    assert [name for name, _ in shown] == [
        "reasoning.delta", "reasoning.delta", "text.delta", "tool_call.arguments.delta",
        "tool_call.arguments.delta", "text.delta",
    ]  # fmt: skip
    assert [part.whole() for part in turn.parts] == ["Hmm.", "Yes", '{"a":1}', "And"]
    assert [part.step for _, carrier in turn.completed() for part in [carrier.part]] == [3, 3, 3]  # type: ignore[attr-defined]
    assert turn.result() == {
        "pieces": [
            {"type": "reasoning", "text": "Hmm."},
            {"type": "text", "text": "Yes"},
            {"type": "call", "call_id": "c1", "name": "look", "arguments": '{"a":1}'},
            {"type": "text", "text": "And"},
        ],
        "finish": "stop",
        "opaque": {"signed": "yes"},
    }


def test_two_calls_at_once_keep_their_own_arguments() -> None:
    turn, _, _ = play(
        ToolCallStart(0, "c1", "look"), ToolCallStart(1, "c2", "look"),
        ToolArgumentsDelta(1, "{}"), ToolArgumentsDelta(0, '{"a":1}'), END,
    )  # fmt: skip
    assert [(part.call_id, part.whole()) for part in turn.calls] == [("c1", '{"a":1}'), ("c2", "{}")]


def test_nothing_said_makes_no_part() -> None:
    turn, begun, shown = play(TextDelta(""), ReasoningDelta(""), END)
    assert (turn.parts, begun, shown) == ([], [], [])


@pytest.mark.parametrize("given_id", ["", "same", "x" * 200])
def test_calls_without_an_id_of_their_own_get_one(given_id: str) -> None:
    turn, _, _ = play(ToolCallStart(0, "same", "look"), ToolCallStart(1, given_id, "look"))
    ids = [part.call_id for part in turn.calls]
    assert ids[0] == "same"
    assert len(set(ids)) == 2
    assert all(0 < len(call_id) <= 120 for call_id in ids)


def test_half_an_emoji_becomes_a_replacement_character() -> None:
    # A model that escapes an emoji in two halves broke the run: UTF-8 cannot hold half of a pair.
    # Found with the text of a delta ending in \\ud83d.
    turn, _, shown = play(TextDelta("Hi \ud83d"), END)
    assert shown == [("text.delta", "Hi \N{REPLACEMENT CHARACTER}")]
    assert orjson.loads(orjson.dumps(turn.result()))["pieces"][0]["text"].startswith("Hi ")


@given(st.text(st.characters(exclude_categories=[])))
def test_every_text_can_be_encoded_and_good_ones_stay_as_they_are(text: str) -> None:
    clean = encodable(text)
    assert "\0" not in clean
    assert orjson.loads(orjson.dumps(clean)) == clean
    if not any("\ud800" <= character <= "\udfff" or character == "\0" for character in text):
        assert clean == text


def effect(kind: str, ordinal: int, step: int = 1, **values: Any) -> Effect:
    return Effect(f"eff_{ordinal}", ordinal, step, kind, values.pop("status", "finished"), **values)


def called(*calls: tuple[str, str]) -> dict[str, Any]:
    pieces = [{"type": "call", "call_id": c, "name": "look", "arguments": a} for c, a in calls]
    return {"pieces": [{"type": "reasoning", "text": "Hm"}, *pieces], "finish": "tool_calls", "opaque": None}


def test_finished_turns_are_told_again_with_the_results_of_their_calls() -> None:
    messages = messages_of(
        [
            effect("model", 1, result=called(("c1", "{}"), ("c2", ""))),
            effect("tool", 2, tool="look", call_id="c1", arguments="{}", result={"content": "one"}),
            effect("tool", 3, tool="look", call_id="c2", arguments="{}", result={"content": "no", "is_error": True}),
            effect("model", 4, 2, result={"pieces": [{"type": "text", "text": "So."}], "finish": "stop"}),
            effect("model", 5, 3, status="started"),
        ],
        {},
    )
    assert [(message.role, message.pieces) for message in messages] == [
        ("assistant", (ReasoningPiece("Hm"), ToolCallPiece("c1", "look", "{}"), ToolCallPiece("c2", "look", "{}"))),
        ("tool", (ToolResultPiece("c1", "look", "one"), ToolResultPiece("c2", "look", "no", True))),
        ("assistant", (TextPiece("So."),)),
    ]


def test_the_model_learns_that_a_person_changed_the_arguments() -> None:
    # It saw only the result of something it had not asked for, and took it for the answer to its own call.
    # Now the result begins with the arguments that were used.
    messages = messages_of(
        [
            effect("model", 1, result=called(("c1", '{"dir":"/"}'))),
            effect("tool", 2, tool="look", call_id="c1", arguments='{"dir":"/tmp"}', result={"content": "two files"}),
        ],
        {},
    )
    (result,) = messages[1].pieces
    assert isinstance(result, ToolResultPiece)
    assert '{"dir":"/tmp"}' in result.content
    assert result.content.endswith("two files")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("", {}), ("{}", {}), ('{"a": 1}', {"a": 1}), ("[1]", None), ("{", None), ("null", None), ('"a"', None)],
)
def test_arguments_are_an_object_or_nothing(text: str, arguments: dict[str, Any] | None) -> None:
    assert parse_arguments(text) == arguments


def test_what_a_check_found_is_told_after_the_turn_and_its_results_the_same_way_every_time() -> None:
    said = {"pieces": [{"type": "text", "text": "Done."}], "finish": "stop", "opaque": None}
    called = {
        "pieces": [{"type": "call", "call_id": "c1", "name": "look", "arguments": "{}"}],
        "finish": "tool_calls",
        "opaque": None,
    }
    found = {"problems": ["It throws.", "Two type errors."], "mendable": True, "facts": {}}
    fine = {"problems": [], "mendable": True, "facts": {}}
    effects = [
        Effect("e0", 1, 0, "prepare", "finished", result=fine),
        Effect("e1", 2, 1, "model", "finished", result=called),
        Effect("e2", 3, 1, "tool", "finished", tool="look", call_id="c1", result={"content": "seen"}),
        Effect("e3", 4, 1, "check", "finished", result=found),
        Effect("e4", 5, 2, "model", "finished", result=said),
        Effect("e5", 6, 2, "check", "finished", result=fine),
        Effect("e6", 7, 2, "check", "started"),
    ]
    messages = messages_of(effects, {})
    assert [message.role for message in messages] == ["assistant", "tool", "user", "assistant"]
    (told,) = messages[2].pieces
    assert isinstance(told, TextPiece)
    assert told.text.startswith(CHECK_MARK)
    assert "1. It throws." in told.text
    assert "2. Two type errors." in told.text
    assert messages == messages_of(effects, {})


def test_a_persons_message_is_told_after_the_turn_and_the_results_that_it_followed() -> None:
    cut = {"pieces": [{"type": "text", "text": "One, two"}], "finish": "length"}
    effects = [
        effect("message", -9, 0, result={"message_id": "msg_1"}),
        effect("message", -8, 1, result={"message_id": "msg_2"}),
        effect("message", -7, 2, result={"message_id": "msg_3"}),
        effect("message", -6, 0, status="waiting", result={"message_id": "msg_4"}),
        effect("model", 1, result=called(("c1", "{}"))),
        effect("tool", 2, tool="look", call_id="c1", arguments="{}", result={"content": "one"}),
        effect("model", 3, 2, result=cut),
    ]
    sent = {one.id: [TextPiece(text)] for one, text in zip(effects, ("Early", "Look there", "Stop"), strict=False)}
    told = [(m.role, m.pieces[-1].text if m.role == "user" else "") for m in messages_of(effects, sent)]  # type: ignore[union-attr]
    assert told == [
        ("user", "Early"),
        ("assistant", ""),
        ("tool", ""),
        ("user", "Look there"),
        ("assistant", ""),
        ("user", "Stop"),  # instead of the request to continue the cut answer
    ]
