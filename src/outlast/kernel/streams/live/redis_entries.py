"""Lines as an entry of a Redis stream: its id is `ATTEMPT-LAST`, its fields have the first number and the lines."""

from collections.abc import Mapping, Sequence

from outlast.kernel.streams.live.tail import Entry
from outlast.kernel.streams.log_store import Line


def entry_fields(lines: Sequence[Line]) -> tuple[str | bytes | int, ...]:
    """Fields and values of consecutive lines."""
    return "first", lines[0][0], "lines", b"\n".join(line for _, line in lines)


def entry_of(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Entry | None:
    """The entry of an id and its fields; None if they are not what `entry_fields` writes."""
    generation, _, last = entry_id.decode().partition("-")
    lines = fields.get(b"lines", b"").split(b"\n")
    first = fields.get(b"first", b"")
    if not (generation.isdigit() and last.isdigit() and first.isdigit()):
        return None
    if int(last) - int(first) + 1 != len(lines):
        return None
    return Entry(int(generation), list(enumerate(lines, start=int(first))))
