"""One object a line, from models that did not quite write so. Pure.

Models are told to write one object a line. Some write it over many, or break a line inside a string of HTML: a line
that begins like JSON and stops in the middle (after a bracket, a comma, a colon, or inside a string) waits for those
after it, until its brackets are closed. A line that begins the next object ends the wait: then the one before is
broken, and whoever reads it says so. Some write several objects on one line, or words before and after one: these are
lines of their own.
"""

import json
import re
from typing import Final

import orjson

_BEGINS: Final = re.compile(r"\s*[{\[]")
_ANEW: Final = re.compile(r'\{\s*"type"\s*:|```')
_GOES_ON: Final = re.compile(r"[{\[,:]\s*$")
_INSIDE: Final = re.compile(r"""(?<![`"'\\])\{\s*"type"\s*:""")  # behind words; quoted ones are examples
_DECODER: Final = json.JSONDecoder(strict=False)  # line breaks inside strings are mended later
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_REST_OF_STRING: Final = re.compile(r'(?:[^"\\]|\\.)*')


class Joiner:
    """Lines in, lines out: those of one spread value as one, with line breaks in it. What is still `held` at the end of
    a text comes out with `end`."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._depth = 0
        self._in_string = False
        self.held_chars = 0

    def feed(self, line: str) -> list[str]:
        """The lines that are whole now."""
        if self._held and _ANEW.match(line):
            return [*self.end(), *self.feed(line)]
        if self._held:
            self._hold(line)
            return self.end() if self._depth <= 0 and not self._in_string else []
        pieces = [line] if _is_json(line) else _apart(line)
        return [whole for piece in pieces for whole in self._begin(piece)]

    def _begin(self, line: str) -> list[str]:
        if _BEGINS.match(line) is None or _is_json(line):
            return [line]
        self._hold(line)
        goes_on = self._in_string or (self._depth > 0 and _GOES_ON.search(line) is not None)
        return [] if goes_on else self.end()

    def end(self) -> list[str]:
        """What is held, as one line (and what stands behind a whole value), whole or not."""
        held = _apart("\n".join(self._held)) if self._held else []
        self._held, self._depth, self._in_string, self.held_chars = [], 0, False, 0
        return held

    def _hold(self, line: str) -> None:
        self._held.append(line)
        self.held_chars += len(line) + 1
        at = 0
        if self._in_string:
            rest = _REST_OF_STRING.match(line)
            at = rest.end() if rest is not None else 0
            if at == len(line) or line[at] != '"':
                return  # the string goes on in the next line
            at, self._in_string = at + 1, False
        code = _STRING.sub("", line[at:])
        code, quote, _ = code.partition('"')
        self._in_string = bool(quote)
        self._depth += sum(map(code.count, "{[")) - sum(map(code.count, "}]"))


def _apart(line: str) -> list[str]:
    """The objects of a line, and the words around them, each by itself; what cannot be told apart stays together."""
    found = _INSIDE.search(line)
    if found is None:
        return [line]
    at = found.start()
    before = line[:at]
    if before.strip() and before.lstrip()[0] in "{[":
        return [line]  # an object inside something else that is broken
    pieces = [before] if before.strip() else []
    while at < len(line):
        try:
            value, end = _DECODER.raw_decode(line, at)
        except (ValueError, RecursionError):  # also what is nested without end
            break
        if not isinstance(value, dict) or not ("type" in value or "op" in value):
            break
        pieces.append(line[at:end])
        at = end + len(line[end:]) - len(line[end:].lstrip())
    rest = line[at:]
    if pieces and not rest.strip("`,; \t\n"):  # a comma or a fence after it: no words
        rest = ""
    return [*pieces, rest] if rest else pieces


def _is_json(line: str) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
