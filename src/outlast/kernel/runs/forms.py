"""Forms of another program, such as an MCP server: asked as a question, and answered in the shape it wants. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from math import isfinite
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from outlast.base.errors import MalformedInput
from outlast.kernel.runs.shapes import QuestionItem

MAX_FIELDS: Final = 20
MAX_OPTIONS: Final = 50
MAX_NAME_CHARS: Final = 200
MAX_CHARS: Final = 2_000
DECISION: Final = "decision"
ACCEPT, OPENED, DECLINE, CANCEL = "Accept", "I opened the page", "Decline", "Cancel"
YES, NO = "Yes", "No"
UNUSABLE_PAGE: Final = "the address of its page cannot be opened"
_MISREAD: Final = re.compile(r"[\\\s\x00-\x1f\x7f]")  # a browser would see another host than is shown
_BOUNDS: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_TYPES: Final = ("string", "number", "integer", "boolean")


class Form(NamedTuple):
    """What `asker` wants of a person: the fields of a flat JSON `schema`, or with `url`, that they open a page."""

    asker: str
    message: str
    schema: Mapping[str, Any]
    url: str = ""


class FormUnusable(Exception):
    """A form that cannot be asked: its text says why."""


def items_of(form: Form) -> list[QuestionItem]:
    """The form as a question: first what is asked and whether the person agrees, then its fields. Raises
    `FormUnusable`."""
    message = form.message[:MAX_CHARS]
    if form.url:
        text = f"{form.asker} asks you to open a page of {_host_of(form.url)}: {message}"
        return [_decision(DECISION, text, OPENED, form.url)]
    fields = _fields_of(form.schema)
    items = [_item(name, field, name in _required(form.schema)) for name, field in fields.items()]
    return [_decision(_decision_id(fields), f"{form.asker} asks: {message}", ACCEPT), *items]


def result_of(form: Form, answers: Mapping[str, str | list[str]]) -> dict[str, Any]:
    """What a person decided: `action` (accept, decline or cancel), and `content` if they filled in fields. Raises
    `MalformedInput` naming the field that is missing or wrong."""
    fields = {} if form.url else _fields_of(form.schema)
    decision = answers.get(_decision_id(fields))
    if decision in (DECLINE, CANCEL):
        return {"action": "decline" if decision == DECLINE else "cancel"}
    if form.url:
        return {"action": "accept"}
    content: dict[str, Any] = {}
    for name, field in fields.items():
        answer = answers.get(name)
        if answer not in (None, "", []):
            content[name] = _value(name, field, answer)
        elif name in _required(form.schema):
            raise MalformedInput(f"{_label(name, field)} needs an answer.", field=f"answers.{name}")
    return {"action": "accept", "content": content}


def _decision(item_id: str, text: str, accept: str, url: str = "") -> QuestionItem:
    return QuestionItem(id=item_id, question=text, options=[accept, DECLINE, CANCEL], closed=True, url=url)


def _decision_id(fields: Mapping[str, Any]) -> str:
    name = DECISION
    while name in fields:
        name += "_"
    return name


def _fields_of(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    fields = schema.get("properties", {})
    if not isinstance(fields, Mapping) or len(fields) > MAX_FIELDS:
        raise FormUnusable(f"its form has more than {MAX_FIELDS} fields")
    for name, field in fields.items():
        if not isinstance(field, Mapping) or len(name) > MAX_NAME_CHARS or not _is_usable(field):
            raise FormUnusable(f"the field {str(name)[:80]!r} of its form is of an unknown type")
    return dict(fields)


def _is_usable(field: Mapping[str, Any]) -> bool:
    if any(not isinstance(field.get(bound, 0), int | float) for bound in _BOUNDS):
        return False
    if field.get("type") == "array":
        return 0 < len(_choices(field)) <= MAX_OPTIONS
    return field.get("type") in _TYPES and len(_choices(field)) <= MAX_OPTIONS


def _required(schema: Mapping[str, Any]) -> Sequence[str]:
    required = schema.get("required", ())
    return required if isinstance(required, list) else ()


def _choices(field: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a field may have, by the texts that people choose from; empty if any text may be written."""
    if field.get("type") == "boolean":
        return {YES: True, NO: False}
    inner = field.get("items", {}) if field.get("type") == "array" else field
    if not isinstance(inner, Mapping):
        return {}
    named = inner.get("oneOf") or inner.get("anyOf")
    if isinstance(named, list):
        known = [one for one in named if isinstance(one, Mapping) and isinstance(one.get("const"), str)]
        return {str(one.get("title") or one["const"])[:MAX_CHARS]: one["const"] for one in known}
    values = inner.get("enum")
    titles = inner.get("enumNames")  # of earlier revisions
    if not isinstance(values, list):
        return {}
    if not isinstance(titles, list) or len(titles) != len(values):
        titles = values
    return {str(title)[:MAX_CHARS]: value for title, value in zip(titles, values, strict=True)}


def _label(name: str, field: Mapping[str, Any]) -> str:
    return str(field.get("title") or name)[:200]


def _item(name: str, field: Mapping[str, Any], is_required: bool) -> QuestionItem:
    choices = _choices(field)
    about = str(field.get("description") or "")[:MAX_CHARS]
    text = _label(name, field) + ("" if is_required else " (optional)") + (f": {about}" if about else "")
    return QuestionItem(
        id=name,
        question=text,
        options=list(choices),
        multiple=field.get("type") == "array",
        placeholder="" if choices else _example(field),
        optional=True,  # a person who declines fills in nothing
        closed=bool(choices),
    )


def _example(field: Mapping[str, Any]) -> str:
    examples = {"email": "name@example.com", "uri": "https://example.com", "date": "2026-01-31"}
    examples["date-time"] = "2026-01-31T12:00:00Z"
    if field.get("type") in ("number", "integer"):
        return "A number" if field["type"] == "number" else "A whole number"
    return examples.get(str(field.get("format")), "")


def _value(name: str, field: Mapping[str, Any], answer: str | list[str]) -> Any:
    """The answer as the value of a field. Raises `MalformedInput`."""
    choices, label = _choices(field), _label(name, field)
    given = answer if isinstance(answer, list) else [answer]
    if choices:
        if any(one not in choices for one in given):
            raise _wrong(name, f"{label} is one of: {', '.join(choices)}.")
        values = [choices[one] for one in given]
        least, most = field.get("minItems", 0), field.get("maxItems", len(choices))
        if field.get("type") != "array":
            return values[0]
        if not least <= len(values) <= most:
            raise _wrong(name, f"{label} takes {least} to {most} of the options.")
        return values
    return _parsed(name, label, field, given[0])


def _parsed(name: str, label: str, field: Mapping[str, Any], text: str) -> Any:
    if field.get("type") in ("number", "integer"):
        return _number(name, label, field, text)
    least, most = field.get("minLength", 0), field.get("maxLength", MAX_CHARS * 10)
    if not least <= len(text) <= most:
        raise _wrong(name, f"{label} has {least} to {most} characters.")
    check, kind = _FORMATS.get(str(field.get("format")), (bool, ""))
    try:
        fits = check(text)
    except ValueError:
        fits = False
    if not fits:
        raise _wrong(name, f"{label} is {kind}.")
    return text


def _number(name: str, label: str, field: Mapping[str, Any], text: str) -> int | float:
    try:
        value = int(text) if field["type"] == "integer" else float(text)
        if not isfinite(value) or (isinstance(value, int) and abs(value) >= 2**63):  # beyond JSON as it is kept
            raise ValueError
    except (ValueError, OverflowError):
        raise _wrong(name, f"{label} is a {'whole ' if field['type'] == 'integer' else ''}number.") from None
    least, most = field.get("minimum"), field.get("maximum")
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = [f"at least {least}" if least is not None else "", f"at most {most}" if most is not None else ""]
        raise _wrong(name, f"{label} is {' and '.join(one for one in bounds if one) or 'a number'}.")
    return value


_FORMATS: Final[Mapping[str, tuple[Callable[[str], Any], str]]] = {
    "email": (lambda text: "@" in text.strip("@") and " " not in text, "an email address"),
    "uri": (lambda text: urlsplit(text).scheme, "an address such as https://example.com"),
    "date": (date.fromisoformat, "a date such as 2026-01-31"),
    "date-time": (datetime.fromisoformat, "a time such as 2026-01-31T12:00:00Z"),
}


def _wrong(name: str, text: str) -> MalformedInput:
    return MalformedInput(text, field=f"answers.{name}")


def _host_of(url: str) -> str:
    """The host of a page that a person may be sent to. Raises `FormUnusable`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise FormUnusable(UNUSABLE_PAGE) from None
    is_plain = "@" not in parts.netloc and not _MISREAD.search(url) and len(url) <= MAX_CHARS
    if not parts.hostname or parts.scheme not in ("http", "https") or not is_plain:
        raise FormUnusable(UNUSABLE_PAGE)
    return parts.hostname
