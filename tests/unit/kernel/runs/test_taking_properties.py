"""Lines that are taken, cut at any place, taken back and taken again: what stands is what the last attempt's text says.
The rules only: a list in memory stands for the page."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.models.protocol import Delta, ReasoningDelta, TextDelta, TurnEnd, Usage
from outlast.kernel.runs.lined_turn import LinedTurn, TooLong, lines_in
from tests.lined_agents import FakeLines
from tests.unit.kernel.runs.test_lined_turn import pieces_of

LINES = st.lists(
    st.sampled_from(["+a", "+b", "+c", "!no", "Words.", "", '{"a": [', "1]}", '{"type": "x"}']), max_size=8
)
RUN: Any = type("Run", (), {"id": "run_1"})()
TX: Any = None


def attempt(taker: FakeLines, text: str, cuts: list[int], together: list[bool], stop: int | None) -> LinedTurn:
    """Ask for step 1: the text in pieces, some of them handed over together; `stop`: killed after so many."""
    taker.reset(TX, RUN, 1)
    turn = LinedTurn(1)
    deltas: list[Delta] = [TextDelta(piece) for piece in pieces_of(text, cuts)]
    for number, delta in enumerate([*deltas, ReasoningDelta("Done."), TurnEnd("stop", Usage())]):
        if number == stop:
            return turn
        turn.take(delta)
        last = isinstance(delta, TurnEnd)
        if turn.waiting and (last or not together[number % len(together)]):
            lines, turn.waiting = [line for line in turn.waiting if not isinstance(line, TooLong)], []
            taken = taker.take(TX, RUN, 1, lines)
            prose, _ = turn.prose_events(taken.prose)
            turn.taken(taken, prose, closes=last)
    return turn


@given(
    LINES,
    st.lists(st.lists(st.integers(0, 60), max_size=10), min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.lists(st.integers(0, 12), max_size=3),
)
def test_any_cuts_and_any_kills_lead_to_what_the_text_says(
    lines: list[str], cuts: list[list[int]], together: list[bool], kills: list[int]
) -> None:
    text = "\n".join(lines)
    taker = FakeLines()
    taker.words.append(("run_1", 0, "before"))
    for number, stop in enumerate(kills):
        attempt(taker, text, cuts[number % len(cuts)], together, stop)
    turn = attempt(taker, text, cuts[-1], together, None)
    whole = lines_in(text)
    assert [word for _, _, word in taker.words] == ["before", *(line[1:] for line in whole if line.startswith("+"))]
    assert turn.problems == [f"Not a word: {line}" for line in whole if line.startswith("!")]
    assert turn.counts.get("patches", 0) == sum(line.startswith("+") for line in whole)


@given(LINES, st.lists(st.lists(st.integers(0, 60), max_size=10), min_size=2, max_size=2))
def test_what_is_shown_of_the_text_does_not_depend_on_how_it_came(lines: list[str], cuts: list[list[int]]) -> None:
    text = "\n".join(lines)
    first, second = (attempt(FakeLines(), text, cut, [False], None) for cut in cuts)

    def shown(turn: LinedTurn) -> list[str]:
        return [data.part.text for _, data in turn.completed()]  # type: ignore[attr-defined]

    assert shown(first) == shown(second)
    assert first.result()["pieces"] == second.result()["pieces"]
