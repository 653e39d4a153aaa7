"""The request log: each request with its credentials."""

import os
from pathlib import Path
from typing import Final

from starlette.requests import Request

from outlast.base.clock import Clock, iso

LOG_BYTES: Final = 2_000_000


class RequestLog:
    """A file with one line for each request and its credentials, readable only by the server's user. Above 2 MB it
    becomes the older of two files, and the one before is dropped. Only this log shows that the real secret arrived."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock

    def note(self, request: Request, status: int) -> None:
        """Appends one line. Ignores a file that cannot be written."""
        credentials = request.headers.get("authorization", "-")
        target = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        entry = _line(f"{iso(self._clock.now())} {status} {request.method} {target} authorization={credentials!r}")
        try:
            self._make_room()
            with open(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "ab") as file:
                file.write(entry)
        except OSError:
            return

    def _make_room(self) -> None:
        if self._path.exists() and self._path.stat().st_size > LOG_BYTES:
            self._path.replace(self._path.with_suffix(".older.log"))


def _line(text: str) -> bytes:
    return text.encode("unicode_escape")[:2000] + b"\n"
