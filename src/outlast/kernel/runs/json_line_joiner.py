"""Repairs the line breaks of JSON Lines that a model wrote. Pure.

The prompt asks for one object per line. Models deviate in three ways:

- An object is spread over several lines, or a string in it has line breaks. A line that begins like JSON and stops in
  the middle (after a bracket, a comma, a colon, or inside a string) is held until its brackets are closed. If the next
  object begins first, the held one is broken and is returned as it is: its reader reports it.
- Several objects stand on one line: each becomes a line.
- Words stand before or after an object: they become lines.
"""

import json
import re
from typing import Final

import orjson

_JSON_START: Final = re.compile(r"\s*[{\[]")
_NEXT_OBJECT: Final = re.compile(r'\{\s*"type"\s*:|```')
_UNFINISHED_END: Final = re.compile(r"[{\[,:]\s*$")
_OBJECT: Final = re.compile(r"""(?<![`"'\\])\{\s*"type"\s*:""")  # a quoted object is an example, not an object
_SPACES: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder(strict=False)  # a later step repairs line breaks inside strings
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_REST_OF_STRING: Final = re.compile(r'(?:[^"\\]|\\.)*')


class JsonLineJoiner:
    """Takes lines and returns lines; a value spread over several lines is returned as one, with line breaks in it.
    `held_chars` is the length of the held text; the caller bounds it. Call `end` after the last line."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._depth = 0
        self._in_string = False
        self.held_chars = 0

    def feed(self, line: str) -> list[str]:
        """The lines that are complete now."""
        if self._held and _NEXT_OBJECT.match(line):
            return [*self.end(), *self.feed(line)]
        if self._held:
            self._hold(line)
            return self.end() if self._depth <= 0 and not self._in_string else []
        pieces = [line] if _is_json(line) else _split_objects(line)
        return [complete for piece in pieces for complete in self._begin(piece)]

    def _begin(self, line: str) -> list[str]:
        if _JSON_START.match(line) is None or _is_json(line):
            return [line]
        self._hold(line)
        is_unfinished = self._in_string or (self._depth > 0 and _UNFINISHED_END.search(line) is not None)
        return [] if is_unfinished else self.end()

    def end(self) -> list[str]:
        """The held text as one line, complete or not. Text after a complete object is a separate line."""
        held = _split_objects("\n".join(self._held)) if self._held else []
        self._held, self._depth, self._in_string, self.held_chars = [], 0, False, 0
        return held

    def _hold(self, line: str) -> None:
        """Hold the line and count the brackets that it opens and closes outside of strings."""
        self._held.append(line)
        self.held_chars += len(line) + 1
        start = 0
        if self._in_string:
            rest = _REST_OF_STRING.match(line)
            start = rest.end() if rest is not None else 0
            if start == len(line) or line[start] != '"':
                return  # the string continues on the next line
            start, self._in_string = start + 1, False
        code = _STRING.sub("", line[start:])
        code, quote, _ = code.partition('"')  # a quote that is left opens a string that does not end on this line
        self._in_string = bool(quote)
        self._depth += sum(map(code.count, "{[")) - sum(map(code.count, "}]"))


def _split_objects(line: str) -> list[str]:
    """The objects of a line and the words around them, one by one. Text that cannot be separated stays together."""
    found = _OBJECT.search(line)
    if found is None:
        return [line]
    start = found.start()
    before = line[:start]
    if _JSON_START.match(before):
        return [line]  # the object is part of another one that is broken
    pieces = [before] if before.strip() else []
    while (end := _object_end(line, start)) is not None:
        pieces.append(line[start:end])
        spaces = _SPACES.match(line, end)
        start = spaces.end() if spaces is not None else end
    rest = line[start:]
    if pieces and not rest.strip("`,; \t\n"):  # a separator or a code fence, no words
        rest = ""
    return [*pieces, rest] if rest else pieces


def _object_end(line: str, start: int) -> int | None:
    """The end of the object that begins at `start`, or None if there is none that a model would write as a line."""
    try:
        value, end = _DECODER.raw_decode(line, start)
    except (ValueError, RecursionError):  # `RecursionError`: brackets nested too deep
        return None
    is_line = isinstance(value, dict) and ("type" in value or "op" in value)
    return end if is_line else None


def _is_json(line: str) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
