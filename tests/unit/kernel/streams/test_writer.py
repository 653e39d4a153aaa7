"""The quick encoding of deltas, against the events' own models."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.clock import iso
from outlast.base.events import event_adapter
from outlast.kernel.apps import registry
from outlast.kernel.runs.shapes import Delta
from outlast.kernel.streams.fold import DELTAS
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.log_store import encode
from outlast.kernel.streams.writer import Flusher, RunWriter
from outlast.testing.clock import START, ManualClock
from tests.faults import KINDS, Faults

RUN = "run_" + "0" * 26


class NoDatabase:
    """Deltas are shown without it."""

    dialect = "none"


def make_writer(hub: Hub | None = None, reserved: int = 100) -> RunWriter:
    writer = RunWriter(NoDatabase(), hub or Hub(), ManualClock(), RUN, 1, 0, 1, reserved)  # type: ignore[arg-type]
    writer.open()
    return writer


@given(st.sampled_from(sorted(DELTAS)), st.text())
def test_a_delta_of_any_text_is_the_event_it_stands_for(event: str, text: str) -> None:
    hub = Hub()
    writer = make_writer(hub)
    seq, line = writer._encode((event, "prt_1", text))
    assert line == encode(RUN, seq, event, Delta(part_id="prt_1", delta=text), iso(START))
    assert b"\n" not in line
    parsed = event_adapter(registry.load().events).validate_json(line)
    assert parsed.event == event
    assert isinstance(parsed.data, Delta)
    assert parsed.data.delta == text
    assert parsed.sequenceNumber == seq


@pytest.mark.parametrize("event", sorted(DELTAS))
def test_deltas_are_shown_at_once_and_numbered_upwards(event: str) -> None:
    hub = Hub()
    writer = make_writer(hub)
    with hub.listen(RUN) as channel:
        writer.stream([(event, "prt_1", "a"), (event, "prt_1", "b")])
        assert channel.head == 2
        _, body = channel.chunk(0, b"")
    frames = [orjson.loads(frame.split(b"data: ")[1]) for frame in body.split(b"\n\n") if frame]
    assert [frame["data"]["delta"] for frame in frames] == ["a", "b"]
    assert [frame["id"] for frame in frames] == [f"{RUN}:1", f"{RUN}:2"]


def test_no_number_beyond_the_reservation_is_ever_shown() -> None:
    hub, hurried = Hub(), []
    writer = make_writer(hub, reserved=3)
    writer.hurry = lambda: hurried.append(True)
    with hub.listen(RUN) as channel:
        for _ in range(5):
            writer.stream([("text.delta", "prt_1", "x")])
        assert channel.head == 3
    assert hurried
    assert writer.dirty


def test_a_flusher_knows_the_writers_it_saves_for() -> None:
    flusher, writer = Flusher(1), make_writer()
    flusher.add(writer)
    flusher.remove(writer)
    flusher.remove(writer)


def test_a_writer_that_fails_as_it_opens_leaves_no_stream_that_seems_to_be_written() -> None:
    """Its followers read from memory, where nothing came any more, and waited for ever."""
    faults, hub = Faults(), Hub()
    writer = RunWriter(NoDatabase(), faults.wrap("hub", hub), ManualClock(), RUN, 1, 0, 1, 100)  # type: ignore[arg-type]
    with hub.listen(RUN) as channel:
        faults.arm("hub", 1, KINDS["recursion"], after=True)
        with pytest.raises(RecursionError):
            writer.open()
        writer.close()
        assert not channel.writing
