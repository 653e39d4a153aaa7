"""What a theme's token may say: a colour, a length, a list of fonts, and nothing that leads out of its declaration.
Pure."""

import re
from typing import Final, Literal, NoReturn

from outlast.base.data_files import read_names
from outlast.base.errors import MalformedInput

Kind = Literal["colour", "length", "fonts"]
MAX_CHARS: Final = 300

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


def demand_value(field: str, kind: Kind, value: str) -> str:
    """The value without spaces around it, if it is of this kind. Raises `MalformedInput`."""
    if len(value) > MAX_CHARS:
        _refuse(field, kind)
    text = value.strip()
    if not is_value(kind, text):
        _refuse(field, kind)
    return text


def is_value(kind: Kind, text: str) -> bool:
    """Whether the text is a colour, a length or a list of fonts."""
    if kind == "colour":
        return text.lower() in _NAMED or _COLOUR.fullmatch(text) is not None
    return (_LENGTH if kind == "length" else _FONTS).fullmatch(text) is not None


def _refuse(field: str, kind: Kind) -> NoReturn:
    raise MalformedInput(f"{field} is not {_TAKES[kind]}.", field=field)
