"""A checksum over the rows of a table that is the same on SQLite and on PostgreSQL, in whatever order they are read."""

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

_BYTES: Final = 32
_LENGTH: Final = struct.Struct(">Q")
_REAL: Final = struct.Struct(">d")


class RowSum:
    """The number of rows, and the sum of their SHA-256 hashes modulo 2**256: rows that are missing, doubled or changed
    show, and rows need not be sorted. It finds mistakes, not forgeries."""

    __slots__ = ("_sum", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, row: Sequence[object]) -> None:
        """Count a row: its values in the order of the columns. Raises `TypeError` for a value of another type than the
        databases return."""
        self._sum += int.from_bytes(hashlib.sha256(b"".join(map(canonical, row))).digest())
        self.rows += 1

    @property
    def hex(self) -> str:
        """64 hexadecimal digits."""
        return (self._sum % (1 << 8 * _BYTES)).to_bytes(_BYTES).hex()


def canonical(value: object) -> bytes:
    """A value as bytes that differ for different values: its kind, its length, its content. A boolean is the number
    that SQLite has in its place."""
    if value is None:
        return b"n"
    if isinstance(value, int):
        kind, content = b"i", str(int(value)).encode()
    elif isinstance(value, str):
        kind, content = b"s", value.encode()
    elif isinstance(value, bytes):
        kind, content = b"b", value
    elif isinstance(value, float):
        kind, content = b"f", _REAL.pack(value)
    else:
        raise TypeError(f"a row has a value of type {type(value).__name__}")
    return kind + _LENGTH.pack(len(content)) + content
