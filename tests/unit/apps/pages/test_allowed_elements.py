"""The lists of what pages may hold: names are whole, and what people see of a page depends on them."""

from __future__ import annotations

import re

import pytest

from outlast.apps.pages import allowed_attributes, allowed_elements, allowed_styles, parser_bounds
from outlast.apps.pages import content_model as nesting
from outlast.apps.pages.allowed_styles import kept_style
from tests.page_sequences import sanitised_html

_CSS_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
_LISTS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": names
    for module in (parser_bounds, allowed_elements, allowed_attributes, nesting, allowed_styles)
    for name, names in vars(module).items()
    if isinstance(names, frozenset) and all(isinstance(each, str) for each in names)
}


@pytest.mark.parametrize("list_name", sorted(_LISTS))
def test_no_name_is_a_piece_of_one(list_name: str) -> None:
    shape = _CSS_NAME if list_name.startswith("allowed_styles.") else _NAME
    assert [name for name in _LISTS[list_name] if shape.fullmatch(name) is None] == []


# A name was once cut in two where the line that listed it ended: pages lost their corners, shadows and labels.
@pytest.mark.parametrize(
    "declaration",
    [
        "background-repeat: no-repeat",
        "background-image: repeating-radial-gradient(red, blue 10px)",
        "border-bottom-right-radius: 2px",
        "border-bottom-style: dashed",
        "border-radius: 8px",
        "clip-path: circle(40%)",
        "flex-shrink: 0",
        "scroll-snap-align: start",
        "stroke-linecap: round",
        "text-decoration-style: wavy",
        "text-shadow: 0 1px 2px black",
        "word-spacing: 2px",
    ],
)
def test_a_property_with_hyphens_is_kept(declaration: str) -> None:
    assert kept_style(declaration) == declaration


@pytest.mark.parametrize(
    "attribute", ['clip-rule="evenodd"', 'font-size="12"', 'stroke-linecap="round"', 'text-rendering="auto"']
)
def test_an_attribute_of_a_drawing_with_hyphens_is_kept(attribute: str) -> None:
    drawing = f"<svg><text {attribute}>12 %</text></svg>"
    assert sanitised_html(drawing) == drawing


@pytest.mark.parametrize("piece", ["border-: 1px", "radius: 8px", "shadow: 1px", "path: none", "text-: x"])
def test_a_piece_of_a_name_is_no_property(piece: str) -> None:
    assert kept_style(piece) == ""
