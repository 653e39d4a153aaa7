"""docs/reference/page-patches.md and contract/page-patches.json, from the lines and patches that pages take."""

import json
from collections.abc import Iterable
from typing import Any, Final

from outlast.apps.pages import attributes, content, lines, content_model as nesting, patches, svg_names
from outlast.apps.pages.design import CLASSES, COLOURS
from outlast.apps.pages.grammar import LINES, PATCHES, Explained
from outlast.surfaces.contract.pages import code, heading, page, prose, table

INTRODUCTION: Final = prose("patches")
PATCHES_TEXT: Final = prose("patches_patches")
MORE_TEXT: Final = prose("patches_more")
LINES_TEXT: Final = prose("patches_lines")
HTML_TEXT: Final = prose("patches_html")
VALUES_TEXT: Final = prose("patches_values")
LOOK_TEXT: Final = prose("patches_look")
SCHEMA_ID: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final = {"type": "string"}
_ID_PATTERN: Final = "#[A-Za-z_][A-Za-z0-9_.:-]{0,127}"
_OF_PAGE: Final = ("html", "append", "prepend")
_HTML_OPS: Final = ("html", "replace", "append", "prepend", "before", "after")


def write() -> str:
    """The page."""
    out = heading("The lines of a page's agent", INTRODUCTION)
    out += ["## Lines", "", LINES_TEXT, "", *_explained("type", LINES)]
    out += ["## Patches", "", PATCHES_TEXT, "", *_explained("op", PATCHES)]
    out += [MORE_TEXT.format(most=lines.MOST_PATCHES), ""]
    out += ["## HTML that is kept", "", HTML_TEXT.format(depth=nesting.MOST_DEPTH), ""]
    out += ["Elements: " + _names(content.HTML) + ".", ""]
    out += ["In `svg`: " + _names(svg_names.SVG) + ".", ""]
    out += ["Attributes of every element: " + _names(content.GLOBAL) + ", `aria-*`, `data-*`.", ""]
    out += table(
        ("element", "attributes"),
        [(code(tag), _names(content.OF_TAG[tag])) for tag in sorted(content.OF_TAG)],
    )
    out += ["In `svg`: " + _names(svg_names.SVG_ATTRIBUTES) + ".", ""]
    out += [VALUES_TEXT, "", f"An element has at most {attributes.MOST} attributes.", ""]
    out += ["## How pages look", "", LOOK_TEXT, ""]
    out += table(("class", "what it does"), [(code(name), does) for name, does in CLASSES.items()])
    out += table(("colour", "for"), [(code(f"var({name})"), use) for name, use in COLOURS.items()])
    return page(out)


def schema() -> str:
    """JSON Schema of one line. What the server takes besides (a number as text, a patch without its line) is not in
    it: this is what to write."""
    one = {
        "$schema": SCHEMA_ID,
        "title": "A line of a page's agent",
        "oneOf": [_ref(f"line_{name}") for name in lines.TYPES],
        "$defs": {f"line_{name}": definition for name, definition in _lines().items()}
        | {"patch": {"oneOf": [_ref(f"patch_{op}") for op in patches.OPS]}}
        | {f"patch_{op}": _patch(op) for op in patches.OPS}
        | {
            "id": {"type": "string", "pattern": f"^{_ID_PATTERN}$"},
            "at": {"type": "string", "pattern": f"^(page|{_ID_PATTERN})$"},
        },
    }
    return json.dumps(one, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _lines() -> dict[str, Any]:
    module = {"path": _TEXT, "description": _TEXT, "exports": _list(_TEXT), "usage": _TEXT}
    listed = {
        "type": "array",
        "items": _object(module, required=["path", "description"]),
        "maxItems": lines.MOST_MODULES,
    }
    patch_list = {"type": "array", "items": _ref("patch"), "maxItems": lines.MOST_PATCHES}
    return {
        "patches": _line("patches", {"patches": patch_list}),
        "full": _line("full", {"html": _TEXT}, optional={"title": {**_TEXT, "maxLength": lines.TITLE_CHARS}}),
        "stats": {
            "type": "object",
            "properties": {"type": {"const": "stats"}},
            "required": ["type"],
            "additionalProperties": {"type": ["number", "string"]},
        },
        "code_modules": _line("code_modules", {"modules": listed}),
        "summary": _line("summary", {"text": {**_TEXT, "maxLength": lines.SUMMARY_CHARS}}),
    }


def _patch(op: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"op": {"const": op}, "at": _ref("at" if op in _OF_PAGE else "id")}
    required = ["op", "at"]
    optional: dict[str, Any] = {}
    more: dict[str, Any] = {}
    if op in _HTML_OPS:
        fields["html"] = _TEXT
        required.append("html")
    elif op == "text":
        fields["text"] = _TEXT
        required.append("text")
    elif op == "attributes":
        optional = {
            "set": {"type": "object", "additionalProperties": _TEXT, "minProperties": 1},
            "remove": _list(_TEXT, 1),
        }
        more = {"anyOf": [{"required": ["set"]}, {"required": ["remove"]}]}
    elif op == "classes":
        optional = {"add": _list(_TEXT, 1), "remove": _list(_TEXT, 1)}
        more = {"anyOf": [{"required": ["add"]}, {"required": ["remove"]}]}
    elif op == "move":
        fields["to"] = _ref("at")
        required.append("to")
        optional = {"place": {"enum": list(patches.PLACES)}}
    does = PATCHES[op].does  # type: ignore[index]  # each of them is explained
    return {"description": does, **_object(fields | optional, required=required), **more}


def _line(name: str, fields: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    whole = {"type": {"const": name}} | fields
    return {"description": LINES[name].does, **_object(whole | (optional or {}), required=list(whole))}


def _object(fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}


def _list(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({"minItems": least} if least else {})


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _explained(column: str, what: "dict[Any, Explained]") -> list[str]:
    rows = [(code(name), one.does, code(one.example)) for name, one in what.items()]
    return table((column, "what it does", "example"), rows)


def _names(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in sorted(names))
