"""Parse an agent's patches. Pure.

The grammar is `shapes.py:Patch`; docs/reference/page-patches.md explains it with examples.
"""

import re
from typing import Any, Final, get_args

from outlast.apps.pages.shapes import Patch, PatchOp, Place

OPS: Final = get_args(PatchOp)
PLACES: Final = get_args(Place)
_WITH_HTML: Final = frozenset({"html", "replace", "append", "prepend", "before", "after"})
_ID: Final = re.compile(r"#[A-Za-z_][\w.:-]{0,127}", re.ASCII)
_SPOKEN: Final = {
    "selector": "at",
    "target": "at",
    "id": "at",
    "attr": "attributes",
    "attribute": "attributes",
    "class": "classes",
    "innerHTML": "html",
    "setHtml": "html",
    "setText": "text",
    "delete": "remove",
}


def read_patch(value: Any) -> Patch | str:
    """A patch from JSON, or an error. Values for text and attributes may be numbers. Unknown fields are
    refused: ignoring them would silently lose their effect."""
    if not isinstance(value, dict):
        return "it is not an object"
    op: Any = value.get("op")
    if isinstance(op, str):
        op = _SPOKEN.get(op, op)
    if op not in OPS:
        return f'its "op" is not one of {", ".join(OPS)}'
    fields = {_SPOKEN.get(str(name), str(name)): given for name, given in value.items() if name != "op"}
    at = _place(fields.pop("at", None))
    if at is None:
        return '"at" must be "#id" of an element, or "page"'
    return _checked(op, at, fields)


def _checked(op: PatchOp, at: str, fields: dict[str, Any]) -> Patch | str:
    if at == "page" and op not in ("html", "append", "prepend"):
        return f'"{op}" needs the "#id" of an element; "page" takes html, append and prepend'
    if op in _WITH_HTML:
        return _only(op, at, fields, {"html": _text(fields.get("html"))}, '"html" must be a text')
    match op:
        case "text":
            return _only(op, at, fields, {"text": _text(fields.get("text"))}, '"text" must be a text')
        case "attributes":
            return _attributes(at, fields)
        case "classes":
            return _classes(at, fields)
        case "move":
            return _move(at, fields)
    return _only(op, at, fields, {}, "")


def _attributes(at: str, fields: dict[str, Any]) -> Patch | str:
    given, removed = fields.get("set", {}), fields.get("remove", [])
    if not isinstance(given, dict) or not _names(removed) or not (given or removed):
        return '"attributes" needs "set" (names with values), "remove" (a list of names), or both'
    # null or false removes an attribute, true sets it without a value, as in most languages of templates.
    off = [name for name, one in given.items() if one is None or one is False]
    values = {name: "" if one is True else _text(one) for name, one in given.items() if name not in off}
    if any(one is None for one in values.values()):
        return 'the values of "set" must be texts'
    wanted = {"set": values or None, "remove": [*removed, *off] or None}
    return _only("attributes", at, fields, wanted, "")


def _classes(at: str, fields: dict[str, Any]) -> Patch | str:
    added, removed = (_split(fields.get(name, [])) for name in ("add", "remove"))
    if added is None or removed is None or not (added or removed):
        return '"classes" needs "add" (a list of names), "remove", or both'
    return _only("classes", at, fields, {"add": added or None, "remove": removed or None}, "")


def _move(at: str, fields: dict[str, Any]) -> Patch | str:
    to, place = _place(fields.get("to")), fields.get("place", "append")
    if to is None:
        return '"move" needs "to": the "#id" of the target element, or "page"'
    if place not in PLACES:
        return f'"place" is not one of {", ".join(PLACES)}'
    if to == "page" and place in ("before", "after"):
        return '"page" takes only "prepend" and "append" as "place"'
    if to == at:
        return "an element cannot be moved to itself"
    return _only("move", at, fields, {"to": to, "place": place}, "")


def _only(op: PatchOp, at: str, given: dict[str, Any], wanted: dict[str, Any], missing: str) -> Patch | str:
    """The patch, unless it has extra fields for its kind, or a value is not a text."""
    if missing and None in wanted.values():
        return missing
    extra = sorted(set(given) - set(wanted) - ({"place"} if op == "move" else set()))
    if extra:
        return f'"{op}" has no {", ".join(extra)}'
    return Patch(op=op, at=at, **wanted)


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return value if isinstance(value, str) else None


def _place(value: Any) -> str | None:
    """`#id` or `page`; an id without `#` is accepted where it is unambiguous."""
    if not isinstance(value, str):
        return None
    value = value.strip()
    if value in ("page", "body", "root"):
        return "page"
    if not value.startswith("#"):
        value = f"#{value}"
    return value if _ID.fullmatch(value) else None


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _split(value: Any) -> list[str] | None:
    if isinstance(value, str):
        value = [value]
    return [name for one in value for name in one.split()] if _names(value) else None
