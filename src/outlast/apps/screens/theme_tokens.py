"""The tokens that a theme sets to CSS values, for its light and dark look; and the built-in themes."""

import tomllib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal

from outlast.apps.screens.shapes import Theme
from outlast.base.data_files import read_text

PAIRS: Final = ("background", "card", "popover", "primary", "secondary", "muted", "accent", "destructive")
"""Tokens for backgrounds of text: the text's colour is `foreground` for the first, else NAME-foreground."""
COLOURS: Final = (
    "background",
    "foreground",
    *(name for pair in PAIRS[1:] for name in (pair, f"{pair}-foreground")),
    "border",
    "input",
    "ring",
    *(f"chart-{number}" for number in range(1, 6)),
)
SHARED: Final = ("radius", "font-sans", "font-mono")
"""Tokens that both looks share: written once, under `:root`."""
TOKENS: Final = (*COLOURS, *SHARED)

Look = Literal["light", "dark"]
LOOKS: Final[tuple[Look, Look]] = ("light", "dark")


@cache
def shipped_themes() -> Mapping[str, Theme]:
    """The themes of `themes.toml` by id, in the order of the file."""
    data = tomllib.loads(read_text(__file__, "themes.toml"))
    return MappingProxyType({entry["id"]: _theme(entry, data["fonts"]) for entry in data["themes"]})


def _theme(entry: Mapping[str, Any], fonts: Mapping[str, str]) -> Theme:
    shared = {"radius": entry["radius"], "font-sans": fonts[entry["sans"]], "font-mono": fonts["code"]}
    return Theme(
        id=entry["id"],
        name=entry["name"],
        description=entry["description"],
        light={**_look(entry["light"]), **shared},
        dark={**_look(entry["dark"]), **shared},
    )


def _look(colours: str) -> dict[str, str]:
    given = {}
    for entry in colours.replace("\n", "|").split("|"):
        if entry.strip():
            name, lightness, chroma, hue = entry.split()
            given[name] = f"oklch({lightness} {chroma} {hue})"
    for ground in ("card", "popover"):
        given.setdefault(f"{ground}-foreground", given["foreground"])
    given.setdefault("popover", given["card"])
    return {name: given[name] for name in COLOURS}
