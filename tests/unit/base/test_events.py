"""The closed list of events: every name once, nothing unknown inside."""

from __future__ import annotations

from typing import Any, get_args

import orjson
import pytest
from pydantic import ValidationError

from outlast.base.events import DELTA_EVENTS, EVENT_ADAPTER, PART_ADAPTER, Event, StreamEndedEvent

KINDS = get_args(get_args(Event)[0])
NAMES = [name for kind in KINDS for name in get_args(kind.model_fields["event"].annotation)]
HEAD = {"id": "run_1:1", "timestamp": "2030-01-01T00:00:00.000Z", "sequenceNumber": 1}


def test_every_name_belongs_to_one_event() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) >= DELTA_EVENTS


def test_every_event_has_the_same_envelope() -> None:
    for kind in KINDS:
        assert set(kind.model_fields) == {"id", "event", "data", "timestamp", "sequenceNumber"}
        assert kind.model_config["frozen"]


@pytest.mark.parametrize(
    "event",
    [
        {"event": "moon.rose", "data": {}, **HEAD},
        {"event": "text.delta", "data": {"part_id": "p", "delta": "x", "more": 1}, **HEAD},
        {"event": "text.delta", "data": {"part_id": "p"}, **HEAD},
        {"event": "text.delta", "data": {"part_id": "p", "delta": "x"}, **HEAD, "more": 1},
        {"event": "stream.ended", "data": {"run_id": "run_1"}},
        {"event": "run.status", "data": {"run_id": "run_1", "status": "asleep"}, **HEAD},
    ],
)
def test_what_is_not_an_event_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EVENT_ADAPTER.validate_json(orjson.dumps(event))


def test_an_event_is_frozen() -> None:
    event: StreamEndedEvent = StreamEndedEvent.model_validate({"data": {"run_id": "run_1"}, **HEAD})
    with pytest.raises(ValidationError):
        event.data = None  # type: ignore[misc, assignment]


def test_parts_are_told_apart_by_their_type() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "id": "prt_1", "text": "Hi"},
        {"type": "reasoning", "id": "prt_2", "text": "Hm"},
        {"type": "tool_call", "id": "prt_3", "call_id": "c", "tool": "look"},
        {"type": "image", "id": "prt_4", "attachment_id": "att_1", "media_type": "image/png"},
        {"type": "notice", "id": "prt_5", "code": "x", "text": "Note"},
    ]
    for part in parts:
        assert PART_ADAPTER.validate_python(part).type == part["type"]
        again = PART_ADAPTER.validate_python(part).model_dump()
        assert PART_ADAPTER.validate_python(again).model_dump() == again
    with pytest.raises(ValidationError):
        PART_ADAPTER.validate_python({"type": "poem", "id": "prt_6"})
