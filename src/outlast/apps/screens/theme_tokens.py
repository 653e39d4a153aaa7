"""What a theme is made of: the tokens that it gives a CSS value to, for its light look and for its dark one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

PAIRS: Final = ("background", "card", "popover", "primary", "secondary", "muted", "accent", "destructive")
"""Colours that text stands on: the text's colour is `foreground` for the first, else NAME-foreground."""
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
"""Tokens that both looks have in common: written once, under `:root`."""
TOKENS: Final = (*COLOURS, *SHARED)

Look = Literal["light", "dark"]
LOOKS: Final[tuple[Look, Look]] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Theme:
    """A look: a CSS value for every token, light and dark. `id` is what a screen's row names it by."""

    id: str
    name: str
    description: str
    light: Mapping[str, str]
    dark: Mapping[str, str]
