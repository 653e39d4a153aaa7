"""The closed list of events: every name once, nothing unknown inside."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError

from outlast.base.events import event_adapter
from outlast.kernel.apps import registry
from outlast.kernel.streams.fold import DELTAS
from outlast.kernel.threads.parts import Part

PARTS: TypeAdapter[Part] = TypeAdapter(Part)
KINDS = registry.load().events
NAMES = [name for kind in KINDS for name in kind.names]
HEAD = {"id": "run_1:1", "timestamp": "2030-01-01T00:00:00.000Z", "sequenceNumber": 1}


def test_every_name_belongs_to_one_event() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) >= DELTAS


def test_every_event_has_the_same_envelope() -> None:
    for kind in KINDS:
        model = kind.model()
        assert set(model.model_fields) == {"id", "event", "data", "timestamp", "sequenceNumber"}
        assert model.model_config["frozen"]


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
        event_adapter(KINDS).validate_json(orjson.dumps(event))


def test_an_event_is_frozen() -> None:
    ended = {"event": "stream.ended", "data": {"run_id": "run_1"}, **HEAD}
    event = event_adapter(KINDS).validate_python(ended)
    with pytest.raises(ValidationError):
        event.data = None


def test_parts_are_told_apart_by_their_type() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "id": "prt_1", "text": "Hi"},
        {"type": "reasoning", "id": "prt_2", "text": "Hm"},
        {"type": "tool_call", "id": "prt_3", "call_id": "c", "tool": "look"},
        {"type": "image", "id": "prt_4", "attachment_id": "att_1", "media_type": "image/png"},
        {"type": "notice", "id": "prt_5", "code": "x", "text": "Note"},
    ]
    for part in parts:
        assert PARTS.validate_python(part).type == part["type"]
        again = PARTS.validate_python(part).model_dump()
        assert PARTS.validate_python(again).model_dump() == again
    with pytest.raises(ValidationError):
        PARTS.validate_python({"type": "poem", "id": "prt_6"})
