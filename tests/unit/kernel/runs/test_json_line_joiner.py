"""JSON spread over lines: one line again; anything else as it came."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.runs.json_line_joiner import JsonLineJoiner
from outlast.kernel.runs.lined_turn import WholeLines, lines_in
from tests.unit.kernel.runs.test_lined_turn import pieces_of

SPREAD = '{\n  "type": "patches",\n  "patches": [\n    {"op": "text", "at": "#a", "text": "} {"}\n  ]\n}'
JSON = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3),
    max_leaves=8,
)


def joined(text: str) -> list[str]:
    joiner = JsonLineJoiner()
    return [line for given in text.split("\n") for line in joiner.feed(given)] + joiner.end()


def test_one_object_a_line_stays_as_it_is() -> None:
    lines = ['{"type":"stats","n":1}', "", "Words.", '[{"op":"remove","at":"#a"}]', "Done."]
    assert joined("\n".join(lines)) == lines


def test_an_object_written_over_several_lines_is_one_line() -> None:
    first, second = joined(f"{SPREAD}\nDone.")
    assert orjson.loads(first)["patches"][0]["text"] == "} {"
    assert second == "Done."


def test_a_line_break_inside_a_string_does_not_end_the_line() -> None:
    text = '{"type":"full","html":"<p>\nOne {\\" two\n</p>"}\n{"type":"stats"}'
    assert joined(text) == [text.rpartition("\n")[0], '{"type":"stats"}']


def test_a_broken_object_ends_where_the_next_one_begins() -> None:
    broken, good = '{"type":"full","html":"<p>', '{"type":"stats","n":1}'
    assert joined(f"{broken}\n</p>\n{good}\n") == [f"{broken}\n</p>", good, ""]
    assert joined(f"{broken}\n```\nDone.") == [broken, "```", "Done."]


@pytest.mark.parametrize("line", ['{"type":"patches","patches":[{"op":"remove"}', "[1] says so", "{name} is you"])
def test_a_line_that_stops_at_no_place_to_stop_does_not_wait(line: str) -> None:
    assert joined(f"{line}\nDone.") == [line, "Done."]


def test_what_is_held_at_the_end_comes_out() -> None:
    assert joined('{\n"type": "full",') == ['{\n"type": "full",']


@given(st.lists(JSON.filter(lambda value: isinstance(value, (dict, list))), max_size=4), st.booleans())
def test_any_values_come_out_one_by_one_written_wide_or_narrow(values: list[object], wide: bool) -> None:
    written = [orjson.dumps(value, option=orjson.OPT_INDENT_2 if wide else 0).decode() for value in values]
    assert [orjson.loads(line) for line in joined("\n".join(written)) if line] == values


@given(
    st.text(alphabet=st.sampled_from(list('{}[]",:\\ab \n\r')), max_size=60),
    st.lists(st.integers(0, 60), max_size=12),
    st.integers(1, 40),
)
def test_a_text_gives_the_same_whole_lines_however_it_is_cut(text: str, cuts: list[int], most: int) -> None:
    def whole(pieces: list[str]) -> list[object]:
        lines = WholeLines(most)
        return [*(line for piece in pieces for line in lines.feed(piece)), *lines.end()]

    assert whole(pieces_of(text, cuts)) == whole([text])


ONE, TWO = '{"type":"stats","n":1}', '{"type": "summary", "text": "a {b}"}'


def test_objects_on_one_line_are_lines_of_their_own() -> None:
    assert joined(f"{ONE}{TWO} {ONE}") == [ONE, TWO, ONE]
    assert joined(f"{ONE},\n{TWO};") == [ONE, TWO]


def test_words_around_an_object_are_lines_of_their_own() -> None:
    assert joined(f"Here it is: {ONE}") == ["Here it is: ", ONE]
    assert joined(f"{ONE} Done.") == [ONE, "Done."]
    assert joined('I begin.{"type":"full","html":"<p>\n</p>"} Done.\nYes.') == [
        "I begin.",
        '{"type":"full","html":"<p>\n</p>"}',
        "Done.",
        "Yes.",
    ]


def test_a_broken_object_behind_words_is_not_taken_for_words() -> None:
    broken = '{"type":"patches","patches":[{"op":"remove"'
    assert joined(f"Now: {broken}\nDone.") == ["Now: ", broken, "Done."]


@pytest.mark.parametrize(
    "line", [f"Write `{ONE}` to count.", f"the line '{ONE}' counts", f'{{"a": [{ONE}', f"[1] see {ONE}"]
)
def test_an_object_that_is_quoted_or_inside_another_stays_where_it_is(line: str) -> None:
    assert joined(line) == [line]


PIECES = ["Words. ", "\n", " ", ONE, TWO, '{"type":"full",', '"html":"', '"}', "`", "{", "}", "[", '"', ","]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_text_is_lost_but_what_ends_an_object(text: str) -> None:
    def letters(some: str) -> str:
        return "".join(sign for sign in some if sign not in "`,; \n")

    assert letters("".join(lines_in(text))) == letters(text)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.lists(st.integers(0, 200), max_size=8))
def test_the_same_lines_come_out_however_that_text_is_cut(text: str, cuts: list[int]) -> None:
    lines = WholeLines()
    pieces = pieces_of(text, cuts)
    assert [*(line for piece in pieces for line in lines.feed(piece)), *lines.end()] == lines_in(text)


@pytest.mark.parametrize("endless", ['x {"type":' + "[" * 300_000, "words " + '{"type":' * 20_000])
def test_what_is_nested_without_end_stays_a_line(endless: str) -> None:
    assert "".join(lines_in(endless + "\n")).startswith(endless[:6])
