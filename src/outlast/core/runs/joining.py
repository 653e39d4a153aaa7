"""JSON that a model spread over several lines, put together again. Pure.

Models are told to write one object a line; some write it over many, or break a line inside a string of HTML. A line
that begins like JSON and stops in the middle (after a bracket, a comma, a colon, or inside a string) waits for those
after it, until its brackets are closed. A line that begins the next object ends the wait: then the one before is
broken, and whoever reads it says so.
"""

import re
from typing import Final

import orjson

_BEGINS: Final = re.compile(r"\s*[{\[]")
_ANEW: Final = re.compile(r'\{\s*"type"\s*:|```')
_GOES_ON: Final = re.compile(r"[{\[,:]\s*$")
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
        before: list[str] = []
        if self._held and _ANEW.match(line):
            before = self.end()
        if self._held:
            self._hold(line)
            return self.end() if self._depth <= 0 and not self._in_string else []
        if _BEGINS.match(line) is None or _is_json(line):
            return [*before, line]
        self._hold(line)
        goes_on = self._in_string or (self._depth > 0 and _GOES_ON.search(line) is not None)
        return before if goes_on else [*before, *self.end()]

    def end(self) -> list[str]:
        """What is held, as one line, whole or not."""
        held = ["\n".join(self._held)] if self._held else []
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


def _is_json(line: str) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
