"""docs/reference/page-patches.md and contract/page-patches.json, from the lines and patches that pages accept."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outlast.apps.pages import allowed_attributes, allowed_elements, line_parser
from outlast.apps.pages import content_model as nesting
from outlast.apps.pages.design import CLASSES, COLOURS
from outlast.apps.pages.grammar import LINES, PATCHES, Explained
from scripts.contract.pages import code, heading, page, prose, table


def write() -> str:
    """The page."""
    out = heading("The lines of a page's agent", prose("patches"))
    out += ["## Lines", "", prose("patches_lines"), "", *_explained("type", LINES)]
    out += ["## Patches", "", prose("patches_patches"), "", *_explained("op", PATCHES)]
    out += [prose("patches_more").format(most=line_parser.MAX_PATCHES), ""]
    out += ["## HTML that is kept", "", prose("patches_html").format(depth=nesting.MAX_DEPTH), ""]
    out += ["Elements: " + _names(allowed_elements.HTML) + ".", ""]
    out += ["In `svg`: " + _names(allowed_elements.SVG) + ".", ""]
    out += ["Attributes of every element: " + _names(allowed_attributes.GLOBAL) + ", `aria-*`, `data-*`.", ""]
    out += table(
        ("element", "attributes"),
        [(code(tag), _names(allowed_attributes.OF_TAG[tag])) for tag in sorted(allowed_attributes.OF_TAG)],
    )
    out += ["In `svg`: " + _names(allowed_attributes.SVG_ATTRIBUTES) + ".", ""]
    out += [prose("patches_values"), "", f"An element has at most {allowed_attributes.MAX_ATTRIBUTES} attributes.", ""]
    out += ["## How pages look", "", prose("patches_look"), ""]
    out += table(("class", "what it does"), [(code(name), does) for name, does in CLASSES.items()])
    out += table(("colour", "for"), [(code(f"var({name})"), use) for name, use in COLOURS.items()])
    return page(out)


def schema() -> str:
    """JSON Schema of one line: `prose/page-patches.json` with descriptions and bounds. It describes the lines to write;
    the server also accepts some others (a number as text, a patch without its line)."""
    whole = json.loads(Path(__file__).with_name("prose").joinpath("page-patches.json").read_text(encoding="utf-8"))
    shapes: dict[str, Any] = whole["$defs"]
    described: dict[str, Explained] = {f"line_{name}": line for name, line in LINES.items()}
    for name, explained in (described | {f"patch_{op}": patch for op, patch in PATCHES.items()}).items():
        shapes[name]["description"] = explained.does
    shapes["line_patches"]["properties"]["patches"]["maxItems"] = line_parser.MAX_PATCHES
    shapes["line_full"]["properties"]["title"]["maxLength"] = line_parser.TITLE_CHARS
    shapes["line_code_modules"]["properties"]["modules"]["maxItems"] = line_parser.MAX_MODULES
    shapes["line_summary"]["properties"]["text"]["maxLength"] = line_parser.SUMMARY_CHARS
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _explained(column: str, what: "dict[Any, Explained]") -> list[str]:
    rows = [(code(name), one.does, code(one.example)) for name, one in what.items()]
    return table((column, "what it does", "example"), rows)


def _names(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in sorted(names))
