"""Shortened logs mean the same as whole ones, from any cursor."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.runs.shapes import Delta, PartCarrier
from outlast.kernel.streams.fold import RunFold, apply, fold_deltas, fold_lines, without_replaced
from outlast.kernel.streams.log_store import Line, NamedEvent, block_lines, encode_all
from outlast.kernel.threads.parts import TextPart
from tests.unit.kernel.streams.logs import logs

pytestmark = pytest.mark.apps("pages")  # the logs have events of pages too


def after(lines: list[Line], cursor: int) -> list[Line]:
    return [line for line in lines if line[0] > cursor]


@given(logs())
def test_a_folded_log_leads_to_the_same_state_from_any_cursor(lines: list[Line]) -> None:
    whole, folded = asdict(fold_lines(lines)), fold_deltas(lines)
    for cursor in [0, *(seq for seq, _ in lines)]:
        state = fold_lines([line for line in lines if line[0] <= cursor])
        for _, line in after(folded, cursor):
            apply(state, orjson.loads(line))
        assert {**asdict(state), "last_seq": 0} == {**whole, "last_seq": 0}


@given(logs())
def test_deltas_that_are_not_read_change_nothing(lines: list[Line]) -> None:
    naive = RunFold()
    for _, line in lines:
        apply(naive, orjson.loads(line))
    assert fold_lines(lines) == naive


def test_no_delta_of_a_completed_part_is_read() -> None:
    part = TextPart(id="prt_1", step=1, text="a")
    deltas = [("text.delta", Delta(part_id="prt_1", delta=letter)) for letter in "ab"]
    events: list[NamedEvent] = [deltas[0], ("part.completed", PartCarrier(part=part)), deltas[1]]
    lines = [line for _, line in encode_all("run_1", 1, events, datetime.now(UTC))]
    assert without_replaced(list(enumerate(lines))) == lines[1:]


@given(logs())
def test_a_folded_log_keeps_every_fact_and_no_delta(lines: list[Line]) -> None:
    folded = fold_deltas(lines)
    numbers = [seq for seq, _ in folded]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= {seq for seq, _ in lines}
    facts = [line for line in lines if b'.delta","data"' not in line[1]]
    assert [line for line in folded if line in facts] == facts
    assert not [line for _, line in folded if b'.delta","data"' in line]
    assert fold_deltas(folded) == folded


@given(logs(), st.data())
def test_a_log_folded_in_the_middle_and_gone_on_with_leads_to_the_same_state(
    lines: list[Line], data: st.DataObject
) -> None:
    """A follower far behind gets the folded log so far, then what is written live."""
    at = data.draw(st.integers(0, len(lines)))
    cursor = data.draw(st.sampled_from([0, *(seq for seq, _ in lines[:at])]))
    state = fold_lines([line for line in lines if line[0] <= cursor])
    for _, line in [*after(fold_deltas(lines[:at]), cursor), *lines[at:]]:
        apply(state, orjson.loads(line))
    assert {**asdict(state), "last_seq": 0} == {**asdict(fold_lines(lines)), "last_seq": 0}


@given(logs())
def test_blocks_give_back_their_numbers_whole_or_folded(lines: list[Line]) -> None:
    for block in (lines, fold_deltas(lines)):
        body = b"\n".join(line for _, line in block)
        assert block_lines(block[0][0], block[-1][0], body) == block


def test_a_log_without_deltas_stays_as_it_is() -> None:
    assert fold_deltas([]) == []
    assert fold_lines([]) == RunFold()
