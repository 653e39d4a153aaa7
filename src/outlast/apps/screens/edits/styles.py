"""CSS as Tailwind classes: from the project's own design system, else an arbitrary value. Pure and total."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from outlast.apps.screens.edits.css_values import canonical, encoded, wrong
from outlast.apps.screens.theme_tokens import COLOURS

Kind = Literal["color", "length", "number", "family", "image", "other"]

_SIDES: Final = {"top": "t", "right": "r", "bottom": "b", "left": "l"}
_CORNERS: Final = {"top-left": "tl", "top-right": "tr", "bottom-right": "br", "bottom-left": "bl"}
UTILITIES: Final[Mapping[str, tuple[str, Kind]]] = {
    "color": ("text", "color"),
    "background-color": ("bg", "color"),
    "background-image": ("bg", "image"),
    "border-color": ("border", "color"),
    "border-width": ("border", "length"),
    "border-radius": ("rounded", "length"),
    "box-shadow": ("shadow", "other"),
    "opacity": ("opacity", "number"),
    "gap": ("gap", "length"),
    "row-gap": ("gap-y", "length"),
    "column-gap": ("gap-x", "length"),
    "padding": ("p", "length"),
    "margin": ("m", "length"),
    "width": ("w", "length"),
    "height": ("h", "length"),
    "min-width": ("min-w", "length"),
    "min-height": ("min-h", "length"),
    "max-width": ("max-w", "length"),
    "max-height": ("max-h", "length"),
    "grid-template-columns": ("grid-cols", "other"),
    "grid-template-rows": ("grid-rows", "other"),
    "font-size": ("text", "length"),
    "font-weight": ("font", "number"),
    "font-family": ("font", "family"),
    "line-height": ("leading", "length"),
    "letter-spacing": ("tracking", "length"),
    "object-position": ("object", "other"),
    "aspect-ratio": ("aspect", "other"),
    **{f"padding-{side}": (f"p{short}", "length") for side, short in _SIDES.items()},
    **{f"margin-{side}": (f"m{short}", "length") for side, short in _SIDES.items()},
    **{f"border-{side}-width": (f"border-{short}", "length") for side, short in _SIDES.items()},
    **{f"border-{side}-color": (f"border-{short}", "color") for side, short in _SIDES.items()},
    **{f"border-{corner}-radius": (f"rounded-{short}", "length") for corner, short in _CORNERS.items()},
}
WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "display": {
        **{one: one for one in ("flex", "grid", "block", "inline", "contents", "inline-flex", "inline-grid")},
        "inline-block": "inline-block",
        "none": "hidden",
        "flow-root": "flow-root",
    },
    "flex-direction": {
        "row": "flex-row",
        "column": "flex-col",
        "row-reverse": "flex-row-reverse",
        "column-reverse": "flex-col-reverse",
    },
    "flex-wrap": {"wrap": "flex-wrap", "nowrap": "flex-nowrap", "wrap-reverse": "flex-wrap-reverse"},
    "justify-content": {
        "flex-start": "justify-start",
        "flex-end": "justify-end",
        "center": "justify-center",
        "space-between": "justify-between",
        "space-around": "justify-around",
        "space-evenly": "justify-evenly",
        "stretch": "justify-stretch",
        "normal": "justify-normal",
    },
    "align-items": {
        "flex-start": "items-start",
        "flex-end": "items-end",
        "center": "items-center",
        "baseline": "items-baseline",
        "stretch": "items-stretch",
    },
    "text-align": {one: f"text-{one}" for one in ("left", "center", "right", "justify", "start", "end")},
    "text-transform": {**{one: one for one in ("uppercase", "lowercase", "capitalize")}, "none": "normal-case"},
    "text-decoration-line": {
        "underline": "underline",
        "line-through": "line-through",
        "overline": "overline",
        "none": "no-underline",
    },
    "font-style": {"italic": "italic", "normal": "not-italic"},
    "border-style": {one: f"border-{one}" for one in ("solid", "dashed", "dotted", "double", "hidden", "none")},
    "object-fit": {one: f"object-{one}" for one in ("contain", "cover", "fill", "none", "scale-down")},
    "overflow": {one: f"overflow-{one}" for one in ("auto", "hidden", "clip", "visible", "scroll")},
    "position": {one: one for one in ("static", "relative", "absolute", "fixed", "sticky")},
    "box-shadow": {"none": "shadow-none"},
    "background-image": {"none": "bg-none"},
    "width": {"auto": "w-auto"},
    "height": {"auto": "h-auto"},
    "max-width": {"none": "max-w-none"},
    "aspect-ratio": {"auto": "aspect-auto"},
}
PROPERTIES: Final = tuple(sorted({*UTILITIES, *WORDS}))
_PROPERTY: Final = re.compile(r"-{0,2}[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_TOKEN: Final = re.compile(r"var\(\s*--(?:color-)?([a-z0-9-]+)\s*\)")
_COLOR: Final = re.compile(r"#[0-9a-fA-F]{3,8}|(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color-mix|color)\(.*\)")
_LENGTH: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:px|rem|em|%|vh|vw|dvh|svh|ch|ex|lh)")
_NUMBER: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)%?")

Table = Mapping[str, str]
"""The class for a declaration, by `property:value` with the value in its `canonical` form."""


class Mapped(NamedTuple):
    """`classes` by property, in the order asked; `refused` has the reason for each property without a class."""

    classes: dict[str, str]
    refused: dict[str, str]


def to_classes(styles: Mapping[str, str], table: Table | None = None) -> Mapped:
    """A class for each declaration. Without a table: words that every Tailwind has, tokens of themes, and arbitrary
    values. Never raises; a value that fits in no class is refused."""
    mapped = Mapped({}, {})
    for name, value in styles.items():
        why = wrong(value) if _PROPERTY.fullmatch(name) else "there is no such property"
        if why is not None:
            mapped.refused[name] = why
        else:
            mapped.classes[name] = _class_of(name, value.strip(), table)
    return mapped


def table_of(found: Mapping[str, list[str]]) -> dict[str, str]:
    """A table from the design system's list: of several classes the shortest, and no negated one."""
    table: dict[str, str] = {}
    for declaration, names in found.items():
        property_, _, value = declaration.partition(":")
        key = f"{property_}:{canonical(property_, value)}"
        table[key] = min([*names, *([table[key]] if key in table else [])], key=_rank)
    return table


def _rank(name: str) -> tuple[bool, int, str]:
    return name.startswith("-"), len(name), name


def _class_of(name: str, value: str, table: Table | None) -> str:
    known = (table or {}).get(f"{name}:{canonical(name, value)}")
    if known is not None:
        return known
    word = WORDS.get(name, {}).get(value.lower())
    if word is not None:
        return word
    utility, kind = UTILITIES.get(name, ("", "other"))
    if not utility:
        return f"[{name}:{encoded(value)}]"
    token = _TOKEN.fullmatch(value)
    if table is None and kind == "color" and token is not None and token[1] in COLOURS:
        return f"{utility}-{token[1]}"
    return f"{utility}-[{_hint(name, kind, value)}{encoded(value)}]"


def _hint(name: str, kind: Kind, value: str) -> str:
    """The type hint for Tailwind if one utility stands for several properties."""
    if kind == "color":
        return "" if _COLOR.fullmatch(value) else "color:"
    if name in ("border-width", "font-size") or (name.endswith("-width") and name.startswith("border-")):
        return "" if _LENGTH.fullmatch(value) else "length:"
    if name == "font-weight":
        return "" if _NUMBER.fullmatch(value) else "weight:"
    if kind == "family":
        return "family-name:"
    return "" if kind != "image" or value.startswith(("url(", "linear-gradient(")) else "image:"
