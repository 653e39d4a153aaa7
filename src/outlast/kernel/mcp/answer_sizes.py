"""How long an answer will keep the event loop busy, told from its bytes while they come.

The library parses an answer on the event loop, in one piece. Text is cheap, values are not. Measured with mcp 2.3.0 on
two busy cores at half of the usual speed, the longest time in which nothing else ran (over SSE, the slower way):

    1 MB of text 12 ms, 4 MB 48 ms, 9.5 MB 130 ms; with letters outside of ASCII 32 ms and 176 ms (1 and 4 MB)
    1 MB of rows (90,000 values) 170 ms, 4 MB 0.7 s, 9.5 MB 1.7 s

A thread would not help: parsing holds the interpreter. So an answer is refused beyond some 50 ms at the usual speed.
"""

import re
from typing import Final

MOST_NS: Final = 50_000_000
BYTE_NS: Final = 6
OTHER_LETTER_NS: Final = 22  # of a byte in a block that is not ASCII
VALUE_NS: Final = 750
_IN_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
REFUSED: Final = "answered with more than can be read at once; ask it for less"


class AnswerSize:
    """Sums up the blocks of one answer."""

    def __init__(self) -> None:
        self._ns = 0
        self._is_in_string = False
        self._rest = b""  # a backslash at the end of a block belongs to the next one

    def is_too_large(self, block: bytes) -> bool:
        """Whether the answer is too large with this block."""
        self._ns += len(block) * (BYTE_NS if block.isascii() else OTHER_LETTER_NS)
        self._ns += self._values_in(self._rest + block) * VALUE_NS
        return self._ns > MOST_NS

    def _values_in(self, block: bytes) -> int:
        values, at, most = 0, 0, (MOST_NS - self._ns) // VALUE_NS
        self._rest = b""
        while at < len(block) and values <= most:
            if self._is_in_string:
                found = _IN_STRING.match(block, at)
                at = len(block) if found is None else found.end()
                self._is_in_string = at == len(block) or block[at] != ord('"')
                if self._is_in_string and at < len(block):
                    self._rest = block[at:]
                    break
                at += 1
                continue
            end = block.find(b'"', at)
            part = block[at:] if end < 0 else block[at:end]
            values += part.count(b",") + part.count(b"[") + part.count(b"{")
            at = len(block) if end < 0 else end + 1
            self._is_in_string = end >= 0
        return values
