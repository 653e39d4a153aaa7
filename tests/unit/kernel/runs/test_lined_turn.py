"""Text into lines: the same whatever pieces it comes in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.agents.hooks import LinesTaken
from outlast.kernel.models.protocol import (
    Delta,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    ToolCallStart,
    TurnEnd,
    Usage,
)
from outlast.kernel.runs.lined_turn import LinedTurn, LineSplitter, TooLong

TEXT = st.text(alphabet=st.sampled_from(list('ab{}"é\U0001f600\u2028\r\n\t ')), max_size=60)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(places)]


def split(pieces: list[str], most: int = 1_000) -> list[str | TooLong]:
    splitter = LineSplitter(most)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    return [*lines, *splitter.end()]


def end(finish: str = "stop") -> TurnEnd:
    return TurnEnd(finish, Usage())  # type: ignore[arg-type]


def lines_of(*deltas: Delta) -> LinedTurn:
    turn = LinedTurn(1)
    for delta in deltas:
        turn.take(delta)
    return turn


@given(TEXT, st.lists(st.integers(0, 60), max_size=12), st.integers(1, 40))
def test_a_text_gives_the_same_lines_however_it_is_cut(text: str, cuts: list[int], most: int) -> None:
    assert split(pieces_of(text, cuts), most) == split([text], most)


@given(TEXT)
def test_the_lines_are_those_between_line_feeds_without_a_carriage_return_before_them(text: str) -> None:
    *whole, rest = text.split("\n")
    expected = [line.removesuffix("\r") for line in [*whole, *([rest] if rest else [])]]
    assert split([text]) == expected


def test_the_last_line_needs_no_end_of_its_own() -> None:
    assert split(['{"a":1}\n{"b":', "2}"]) == ['{"a":1}', '{"b":2}']
    assert split(["a\n"]) == ["a"]


def test_a_line_beyond_the_bound_is_left_out_and_said_to_be_so_and_the_next_one_is_whole_again() -> None:
    assert split(["x" * 7, "x" * 7 + "\nshort\r\n"], most=10) == [TooLong("x" * 10), "short"]
    assert split(["y" * 10 + "\n" + "z" * 11], most=10) == ["y" * 10, TooLong("z" * 10)]


def test_a_line_ends_where_a_tool_call_or_a_thought_begins() -> None:
    turn = lines_of(
        TextDelta("one\ntw"),
        TextDelta("o"),
        ToolCallStart(0, "call_1", "look"),
        ToolArgumentsDelta(0, "{}"),
        TextDelta("three"),
        ReasoningDelta("hm"),
        TextDelta("four"),
        end(),
    )
    assert turn.waiting == ["one", "two", "three", "four"]
    texts = [piece["text"] for piece in turn.result()["pieces"] if piece["type"] == "text"]
    assert texts == ["one\ntwo\n", "three\n", "four"]


def test_an_empty_thought_ends_no_line() -> None:
    turn = lines_of(TextDelta('{"a"'), ReasoningDelta(""), TextDelta(":1}"), end())
    assert turn.waiting == ['{"a":1}']


def test_a_line_in_which_the_model_ran_out_of_length_is_a_problem_and_is_not_taken() -> None:
    turn = lines_of(TextDelta('{"a":1}\n{"html":"<p'), end("length"))
    assert turn.waiting == ['{"a":1}']
    assert "length limit" in turn.problems[0]
    assert '{"html":"<p' in turn.problems[0]
    assert turn.result()["problems"] == turn.problems


def test_the_whole_text_stays_in_the_turn_and_only_prose_is_shown() -> None:
    turn = lines_of(TextDelta("Hello.\n"), TextDelta('{"a":1}'), end())
    assert [piece["text"] for piece in turn.result()["pieces"]] == ['Hello.\n{"a":1}']
    part, events = turn.prose_events("Hello.\n")
    assert [name for name, _ in events] == ["part.created", "text.delta"]
    turn.taken(LinesTaken(prose="Hello.\n", counts={"patches": 1}), part, closes=False)
    part, events = turn.prose_events("There.\n")
    assert [name for name, _ in events] == ["text.delta"]
    turn.taken(LinesTaken(counts={"patches": 2, "refused": 1}), part, closes=False)
    assert [data.part.text for _, data in turn.completed()] == ["Hello.\nThere.\n"]  # type: ignore[attr-defined]
    assert turn.result()["counts"] == {"patches": 3, "refused": 1}


def test_blank_lines_alone_show_nothing() -> None:
    turn = LinedTurn(1)
    assert turn.prose_events("\n\n") == (None, [])


def test_prose_after_a_tool_call_is_a_part_of_its_own() -> None:
    turn = LinedTurn(1)
    for closes in (True, False):
        part, events = turn.prose_events("Words.\n")
        assert [name for name, _ in events] == ["part.created", "text.delta"]
        turn.taken(LinesTaken(), part, closes=closes)
    assert len(turn.completed()) == 2


def test_half_an_emoji_in_each_of_two_pieces_hurts_nobody() -> None:
    turn = lines_of(TextDelta("\ud83d"), TextDelta("\n"), end())
    assert [line.encode() for line in turn.waiting if isinstance(line, str)] == ["\ufffd".encode()]
