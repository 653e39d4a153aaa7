"""Validation of the tokens of a custom theme: colours, lengths and lists of fonts. Pure."""

import re
from typing import Final, Literal

from outlast.apps.screens.shapes import ThemeTokens, TokensRequest
from outlast.apps.screens.theme_tokens import LOOKS, SHARED, TOKENS
from outlast.base.data_files import read_names
from outlast.base.errors import MalformedInput

MAX_VALUE_CHARS: Final = 300

Kind = Literal["colour", "length", "fonts"]
_NAMED: Final = read_names(__file__, "named_colours")
_NUMBER: Final = r"[+-]?(?:\d{1,6}(?:\.\d{1,10})?|\.\d{1,10})(?:%|deg|rad|turn)?"
_PART: Final = rf"(?:{_NUMBER}|none)"
_COLOUR: Final = re.compile(
    rf"#(?:[0-9a-f]{{3,4}}|[0-9a-f]{{6}}|[0-9a-f]{{8}})"
    rf"|(?:oklch|oklab|lch|lab|rgb|rgba|hsl|hsla|hwb)\(\s*{_PART}(?:(?:\s+|\s*,\s*){_PART}){{2}}"
    rf"(?:\s*[,/]\s*{_PART})?\s*\)",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(r"0|(?:\d{1,3}(?:\.\d{1,4})?|\.\d{1,4})(?:px|rem|em)")
_FONT: Final = r"""(?:"[A-Za-z0-9 _.-]{1,60}"|'[A-Za-z0-9 _.-]{1,60}'|-?[A-Za-z_][A-Za-z0-9_-]*(?: [A-Za-z0-9_-]+)*)"""
_FONTS: Final = re.compile(rf"{_FONT}(?:\s*,\s*{_FONT})*")
_TAKES: Final = {
    "colour": "a colour, as #3b82f6, oklch(0.62 0.19 260), rgb(…), hsl(…) or a name",
    "length": "a length, as 0.5rem or 8px",
    "fonts": 'a list of fonts, as Inter, "Segoe UI", sans-serif',
}


def checked_tokens(given: TokensRequest | ThemeTokens) -> ThemeTokens:
    """A custom theme's tokens, if each name is known and each value is a colour, a length or a list of fonts, as
    the token requires. Raises `MalformedInput`, which names the token and its kind."""
    looks: dict[str, dict[str, str]] = {}
    for look in LOOKS:
        looks[look] = {}
        for name, value in getattr(given, look).items():
            field = f"theme_tokens.{look}.{name[:40]}"
            if name not in TOKENS:
                raise MalformedInput(
                    f"Unknown theme token {name[:40]!r}.", hint=f"Use one of: {', '.join(TOKENS)}.", field=field
                )
            kind, text = _kind(name), value.strip()
            if len(value) > MAX_VALUE_CHARS or not is_value(kind, text):
                raise MalformedInput(f"{field} is not {_TAKES[kind]}.", field=field)
            looks[look][name] = text
    return ThemeTokens(**looks)


def is_value(kind: Kind, text: str) -> bool:
    """True if the text is a colour, a length or a list of fonts, and nothing that breaks out of its declaration."""
    pattern = {"colour": _COLOUR, "length": _LENGTH, "fonts": _FONTS}[kind]
    return pattern.fullmatch(text) is not None or (kind == "colour" and text.lower() in _NAMED)


def _kind(name: str) -> Kind:
    if name == "radius":
        return "length"
    return "fonts" if name in SHARED else "colour"
