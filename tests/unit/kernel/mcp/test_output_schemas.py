"""A structured result is checked against its tool's schema, but never for longer than a bound."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from outlast.kernel.mcp.output_schemas import breach

RECURSIVE = {"$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "$ref": "#/$defs/node"}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DOUBLING: dict[str, Any] = {
    "$defs": {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(60)} | {"d60": {}},
    "$ref": "#/$defs/d0",
}


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"type": "object"}, {}, ""),
        ({"type": "object", "properties": {"at": {"type": "integer"}}}, {"at": 1}, ""),
        ({"type": "object", "properties": {"at": {"type": "integer"}}}, {"at": "1"}, "'1' is not of type 'integer'"),
        ({"type": "object", "required": ["at"]}, {}, "'at' is a required property"),
        ({"$schema": DRAFT_7, "type": "object", "required": ["at"]}, {}, "'at' is a required property"),
        ({"type": "object", "additionalProperties": False}, {"more": 1}, "Additional properties are not allowed"),
        (RECURSIVE, [[], [[]]], ""),
        (RECURSIVE, [[], [1]], "1 is not of type 'array'"),
        ({"enum": [1, 2]}, "a\nb" * 400, "'a\\nb"),
    ],
)
def test_what_breaks_a_schema_is_named(schema: dict[str, Any], value: Any, told: str) -> None:
    found = breach(schema, value)
    assert found.startswith(told)
    assert bool(found) == bool(told)
    assert len(found) <= 200


NAMES = [f"n{at}" for at in range(5_000)]
UNCHECKED: dict[str, tuple[dict[str, Any], Any]] = {
    "a pattern": ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 60 + "!"}),
    "patterns of names": ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {"a" * 60 + "!": 1}),
    "a schema of another kind": ({"items": {"$schema": DRAFT_7, "pattern": "^(a+)+$"}}, ["a" * 60 + "!"]),
    "unique items": ({"uniqueItems": True}, [{"at": at} for at in range(60_000)]),
    "many names": ({"items": {"required": NAMES}}, [dict.fromkeys(NAMES, 1)] * 1_000),
    "references that double": (DOUBLING, {}),
    "a reference to itself": ({"$ref": "#"}, {}),
    "a reference elsewhere": ({"$ref": "https://example.com/schema.json"}, {}),
    "a reference to nowhere": ({"$ref": "#/nowhere"}, {}),
    "an unknown type": ({"type": "no such type"}, {}),
    "no type": ({"type": 7}, {}),
    "a large schema": ({"description": "x" * 70_000, "type": "array"}, {}),
    "many values": ({"items": {"type": "integer"}}, [1] * 120_000 + ["late"]),
}


@pytest.mark.parametrize("case", UNCHECKED)
def test_what_cannot_be_checked_within_bounds_is_taken_as_it_is(case: str) -> None:
    began = monotonic()
    assert breach(*UNCHECKED[case]) == ""
    assert monotonic() - began < 10
