"""Repair JSON that a model wrote, where it is broken and only one reading is possible. Pure."""

import re
from typing import Any, Final

import orjson

_CLOSING: Final = {"{": "}", "[": "]"}
_CONTROLS: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAX_MISSING: Final = 8
# A whole string, a bracket, what is between them, or the beginning of a string that is not closed.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]|[^"{}\[\]]++|"', re.DOTALL)
_SPARE_COMMA: Final = re.compile(r",(\s*)\Z")
_ESCAPE_OR_CONTROL: Final = re.compile(r"\\(.)|[\x00-\x1f]", re.DOTALL)


def mended(text: str) -> Any:
    """The value of a broken text, or None. It repairs: a fence or a comma after it, commas before a closing bracket,
    raw tabs and line breaks inside strings, backslashes that escape nothing, and up to eight missing brackets
    at the end. It does not repair an unclosed string: its end is unknown."""
    out: list[str] = []
    missing: list[str] = []
    for token in _TOKEN.finditer(text):
        piece = token[0]
        if piece == '"':
            return None
        if piece in "{[":
            missing.append(_CLOSING[piece])
        elif piece in "}]":
            if not missing or missing.pop() != piece:
                return None
            _drop_comma(out)
        out.append(_ESCAPE_OR_CONTROL.sub(_made_valid, piece) if piece[0] == '"' else piece)
        if piece in "}]" and not missing:
            rest = text[token.end() :].strip().rstrip("`,; ")
            return None if rest else _json("".join(out))
    _drop_comma(out)
    return _json("".join([*out, *reversed(missing)])) if len(missing) <= _MAX_MISSING else None


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _made_valid(found: re.Match[str]) -> str:
    """An escape or a control character in a string, as valid JSON."""
    if (escaped := found[1]) is None:
        return _CONTROLS.get(found[0], "")
    # `\'` and the like: the character needed no escape.
    return found[0] if escaped in '"\\/bfnrtu' else escaped


def _drop_comma(out: list[str]) -> None:
    if out:
        out[-1] = _SPARE_COMMA.sub(r"\1", out[-1])
