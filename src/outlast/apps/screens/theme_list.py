"""The themes that ship, out of `themes.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from outlast.apps.screens.theme_tokens import COLOURS, Theme


@cache
def shipped_themes() -> Mapping[str, Theme]:
    """By id, in the order of the file."""
    data = tomllib.loads(Path(__file__).with_name("themes.toml").read_text(encoding="utf-8"))
    return MappingProxyType({entry["id"]: _theme(entry, data["fonts"]) for entry in data["themes"]})


def _theme(entry: Mapping[str, Any], fonts: Mapping[str, str]) -> Theme:
    shared = {"radius": entry["radius"], "font-sans": fonts[entry["sans"]], "font-mono": fonts["code"]}
    return Theme(
        entry["id"],
        entry["name"],
        entry["description"],
        MappingProxyType({**_look(entry["light"]), **shared}),
        MappingProxyType({**_look(entry["dark"]), **shared}),
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
