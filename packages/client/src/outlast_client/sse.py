"""Reads server-sent events. Pure."""

import json
from typing import Any


class Frames:
    """Splits the bytes of one connection into whole events."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: str | None = None
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[tuple[str, dict[str, Any]]]:
        """The logged events, each with its cursor. Skips comments and frames without an id (presence)."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        events = []
        for line in (raw.removesuffix(b"\r") for raw in lines):
            if line.startswith(b"id:"):
                self._id = line[3:].strip().decode()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line:
                if self._data and self._id is not None:
                    events.append((self._id, json.loads(b"\n".join(self._data))))
                self._id, self._data = None, []
        return events
