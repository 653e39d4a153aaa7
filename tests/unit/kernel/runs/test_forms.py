"""Forms of other programs, as questions, and a person's answers in the types that the program wants."""

from __future__ import annotations

from typing import Any

import pytest

from outlast.base.errors import MalformedInput
from outlast.kernel.runs.forms import Form, FormUnusable, items_of, result_of


def form(**fields: Any) -> Form:
    return Form("tracker", "Tell me", {"type": "object", "properties": fields})


TITLED = {"oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]}


@pytest.mark.parametrize(
    ("field", "answer", "value"),
    [
        ({"type": "string"}, "Ada", "Ada"),
        ({"type": "string", "format": "email"}, "ada@example.com", "ada@example.com"),
        ({"type": "string", "format": "date"}, "2026-01-31", "2026-01-31"),
        ({"type": "integer"}, "-3", -3),
        ({"type": "number", "minimum": 0}, "2.5", 2.5),
        ({"type": "boolean"}, "No", False),
        ({"type": "string", "enum": ["a", "b"]}, "b", "b"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}, "B", "b"),
        ({"type": "string", **TITLED}, "Green", "#0f0"),
        ({"type": "array", "items": {"anyOf": TITLED["oneOf"]}}, ["Green", "Red"], ["#0f0", "#f00"]),
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1}, ["a"], ["a"]),
    ],
)
def test_an_answer_has_the_type_of_its_field(field: dict[str, Any], answer: Any, value: Any) -> None:
    found = result_of(form(it=field), {"decision": "Accept", "it": answer})
    assert found == {"action": "accept", "content": {"it": value}}
    assert type(found["content"]["it"]) is type(value)


@pytest.mark.parametrize(
    ("field", "answer"),
    [
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "string", "format": "email"}, "ada"),
        ({"type": "string", "format": "date"}, "tomorrow"),
        ({"type": "string", "format": "uri"}, "example"),
        ({"type": "integer"}, "2.5"),
        ({"type": "integer"}, str(2**63)),
        ({"type": "integer"}, "9" * 400),
        ({"type": "number"}, "1e999"),
        ({"type": "number", "maximum": 2}, "3"),
        ({"type": "number"}, "nan"),
        ({"type": "boolean"}, "perhaps"),
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1}, ["a", "b"]),
    ],
)
def test_an_answer_that_does_not_fit_its_field_is_refused_by_its_name(field: dict[str, Any], answer: Any) -> None:
    with pytest.raises(MalformedInput) as refused:
        result_of(form(it=field), {"decision": "Accept", "it": answer})
    assert refused.value.fields["field"] == "answers.it"


def test_a_field_may_have_the_name_of_the_decision() -> None:
    one = form(decision={"type": "string"})
    assert [item.id for item in items_of(one)] == ["decision_", "decision"]
    assert result_of(one, {"decision_": "Accept", "decision": "x"})["content"] == {"decision": "x"}
    assert result_of(one, {"decision_": "Decline", "decision": "x"}) == {"action": "decline"}


@pytest.mark.parametrize("field", [{"type": "object"}, {"type": "array", "items": {"type": "string"}}, {}, "string"])
def test_a_field_that_cannot_be_shown_makes_the_form_unusable(field: Any) -> None:
    with pytest.raises(FormUnusable):
        items_of(form(it=field))


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://bank.example.com@evil.example.com/",
        "https://evil.example.com\\.bank.example.com/",
        "https://evil.example.com\t.bank.example.com/",
        "https://[",
        "file:///etc/passwd",
    ],
)
def test_only_pages_of_the_web_without_a_user_are_shown_as_links(url: str) -> None:
    with pytest.raises(FormUnusable):
        items_of(Form("tracker", "Open this", {}, url))
