"""CSS values: their canonical form, and their form inside a class. Pure."""

import re
from typing import Final

MAX_VALUE_CHARS: Final = 400
REM_PX: Final = 16
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_CALC: Final = re.compile(rf"calc\(\s*((?:{_NUMBER})[a-z%]*(?:\s*[*/]\s*{_NUMBER}[a-z%]*)*)\s*\)")
_TERM: Final = re.compile(rf"([*/]?)\s*({_NUMBER})([a-z%]*)")
_LENGTH: Final = re.compile(rf"(?<![\w#.-])({_NUMBER})(rem|px|%|em|s|ms|deg)?(?![\w%.])")
_RGB: Final = re.compile(r"rgba?\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*\)")
_SHORT_HEX: Final = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])")
_URL: Final = re.compile(r"url\([^)]*\)")
_URL_OR_BLANK: Final = re.compile(rf"({_URL.pattern})|[_ ]")
_FORBIDDEN: Final = re.compile(r"[;{}\\`<>\x00-\x1f\x7f]|/\*|!important", re.IGNORECASE)
_PAIRS: Final = {")": "(", "]": "["}


def canonical(property_: str, value: str) -> str:
    """One spelling for equal values: rem as px, products computed, short colours expanded."""
    text = " ".join(value.strip().lower().split()).replace(", ", ",")
    for _ in range(4):
        text, changed = _CALC.subn(_product, text)
        if not changed:
            break
    text = _LENGTH.sub(_length, text)
    text = _RGB.sub(lambda rgb: "#" + "".join(f"{min(255, int(part)):02x}" for part in rgb.groups()), text)
    short = _SHORT_HEX.fullmatch(text)
    if short is not None:
        text = "#" + "".join(digit * 2 for digit in short.groups())
    if property_ == "opacity" and re.fullmatch(f"{_NUMBER}%", text):
        return _shown(float(text[:-1]) / 100)
    return text


def wrong(value: str) -> str | None:
    """The reason why a value cannot be written into a class, or None if it can."""
    if not value.strip():
        return "the value is empty"
    if len(value) > MAX_VALUE_CHARS:
        return f"it is longer than {MAX_VALUE_CHARS} characters"
    if _FORBIDDEN.search(value):
        return "it contains characters that a class cannot have"
    if not value.isprintable():
        return "it contains characters that cannot be shown"
    if any(" " in address for address in _URL.findall(value)):
        return "its address contains spaces"
    return None if _is_balanced(value) else "its brackets or quotes do not match"


def encoded(value: str) -> str:
    """A value inside square brackets: blanks become underscores, quotes single ones. For values not `wrong`."""
    text = " ".join(value.split()).replace('"', "'")
    return _URL_OR_BLANK.sub(lambda found: found[1] or {"_": r"\_", " ": "_"}[found[0]], text)


def _is_balanced(value: str) -> bool:
    waiting: list[str] = []
    quote = ""
    for one in value:
        if quote:
            quote = "" if one == quote else quote
        elif one in "\"'":
            quote = one
        elif one in "([":
            waiting.append(one)
        elif one in ")]" and (not waiting or waiting.pop() != _PAIRS[one]):
            return False
    mixed = '"' in value and "'" in value
    return not waiting and not quote and not mixed


def _product(found: re.Match[str]) -> str:
    result, unit = 1.0, ""
    for sign, number, own in _TERM.findall(found[1]):
        if sign == "/" and float(number) == 0:
            return found[0]
        result = result / float(number) if sign == "/" else result * float(number)
        unit = unit or own
    return f"{_shown(result)}{unit}"


def _length(found: re.Match[str]) -> str:
    number, unit = float(found[1]), found[2] or ""
    if unit == "rem":
        number, unit = number * REM_PX, "px"
    return "0" if number == 0 else f"{_shown(number)}{unit}"


def _shown(number: float) -> str:
    text = f"{number:.4f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
