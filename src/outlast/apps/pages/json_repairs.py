"""JSON that a model wrote: mended where it is broken and only one reading is possible. Pure."""

from typing import Any, Final

import orjson

_CLOSING: Final = {"{": "}", "[": "]"}
_CONTROLS: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def mended(text: str) -> Any:
    """The value of a broken text, or None. Mended are: a fence or a comma after it, commas before a closing bracket,
    raw tabs and line breaks inside strings, backslashes that escape nothing, and up to eight brackets that are missing
    at the end. A string that is not closed is not mended: nobody knows what it would have said."""
    scanned = _scan(text)
    if scanned is None:
        return None
    body, missing = scanned
    if len(missing) > 8:
        return None
    try:
        return orjson.loads(body + missing)
    except orjson.JSONDecodeError:
        return None


def _scan(text: str) -> tuple[str, str] | None:
    """The text with its strings made valid and its spare commas left out, and the brackets that it lacks; None where
    a string or the order of brackets is broken."""
    out: list[str] = []
    open_brackets: list[str] = []
    place = 0
    while place < len(text):
        sign = text[place]
        if sign == '"':
            end = _string(text, place, out)
            if end is None:
                return None
            place = end
            continue
        if sign in "{[":
            open_brackets.append(_CLOSING[sign])
        elif sign in "}]":
            if not open_brackets or open_brackets.pop() != sign:
                return None
            _drop_comma(out)
        out.append(sign)
        place += 1
        if sign in "}]" and not open_brackets:
            rest = text[place:].strip().rstrip("`,; ")
            return None if rest else ("".join(out), "")
    _drop_comma(out)
    return "".join(out), "".join(reversed(open_brackets))


def _string(text: str, start: int, out: list[str]) -> int | None:
    """Copy the string that begins at `start`, made valid; where it ends, or None."""
    out.append('"')
    place = start + 1
    while place < len(text):
        sign = text[place]
        if sign == '"':
            out.append('"')
            return place + 1
        if sign == "\\":
            following = text[place + 1 : place + 2]
            if not following:
                return None
            # `\'` and the like: what was escaped needed no escape.
            out.append(f"\\{following}" if following in '"\\/bfnrtu' else following)
            place += 2
            continue
        if sign < " ":
            out.append(_CONTROLS.get(sign, ""))
        else:
            out.append(sign)
        place += 1
    return None


def _drop_comma(out: list[str]) -> None:
    place = len(out) - 1
    while place >= 0 and out[place].isspace():
        place -= 1
    if place >= 0 and out[place] == ",":
        del out[place]


def json_object(text: str | None) -> dict[str, Any]:
    """The object that a text is; empty for everything else, as for arguments that a model has not written whole yet."""
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
