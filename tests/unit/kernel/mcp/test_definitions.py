"""What an MCP server says about its tools."""

from __future__ import annotations

import re
from typing import Any

import pytest

from outlast.kernel.mcp.definitions import Definition, bounded, call_name, is_repeatable, reason_to_ask

FIND = Definition("find", "", "Find issues.", {"type": "object"}, {"readOnlyHint": True})


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Find all."},
        {"schema": {"type": "object", "required": ["a"]}},
        {"annotations": {}},
        {"title": "F"},
    ],
)
def test_every_change_that_matters_changes_the_digest(change: dict[str, Any]) -> None:
    assert FIND._replace(**change).digest() != FIND.digest()
    assert Definition(**FIND.as_json()).digest() == FIND.digest()


def test_models_call_a_tool_by_a_name_that_providers_accept() -> None:
    assert call_name("linear", "create_issue") == "linear__create_issue"
    names = ["issues.create", "issues/create", "issues_create", "ö" * 128, "ö" * 127, "a" * 128]
    made = [call_name("linear", name) for name in names]
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(r"linear__[a-zA-Z0-9_-]{1,56}", name) for name in made)


def test_what_is_too_large_or_not_usable_is_left_out_with_its_reason() -> None:
    found = [
        FIND,
        FIND,
        FIND._replace(name=""),
        FIND._replace(name="long", description="a" * 8_001),
        FIND._replace(name="deep", schema={"type": "object", "description": "a" * 64_000}),
        FIND._replace(name="list", schema={"type": "array"}),
        FIND._replace(name="other"),
        FIND._replace(name="more"),
    ]
    taken, out = bounded(found, 2)
    assert [one.name for one in taken] == ["find", "other"]
    reasons = [one.reason for one in out]
    words = ["same name", "its name", "description", "schema", "arguments", "2 tools"]
    assert all(word in reason for word, reason in zip(words, reasons, strict=True))


@pytest.mark.parametrize(
    ("hints", "asks", "repeatable"),
    [
        ({"readOnlyHint": True}, "", True),
        ({}, "change or delete", False),
        ({"destructiveHint": False}, "may change data", False),
        ({"destructiveHint": False, "idempotentHint": True}, "may change data", True),
        ({"destructiveHint": True, "readOnlyHint": False}, "change or delete", False),
    ],
)
def test_the_hints_decide_who_is_asked_and_what_is_repeated(
    hints: dict[str, bool], asks: str, repeatable: bool
) -> None:
    reason = reason_to_ask("linear.find", hints)
    assert asks in reason if asks else not reason
    assert is_repeatable(hints) is repeatable
