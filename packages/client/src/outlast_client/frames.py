"""Reads server-sent events. Pure."""

import json
from typing import Any


class Frames:
    """Takes the bytes of one connection as they come, and gives what is whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: str | None = None
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[tuple[str, dict[str, Any]]]:
        """Logged events, each with its cursor. Comments and frames without an id (who is present) are left out."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        found = []
        for line in (one.removesuffix(b"\r") for one in lines):
            if line.startswith(b"id:"):
                self._id = line[3:].strip().decode()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line:
                if self._data and self._id is not None:
                    found.append((self._id, json.loads(b"\n".join(self._data))))
                self._id, self._data = None, []
        return found
