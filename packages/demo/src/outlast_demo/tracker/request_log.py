"""The request log: what was asked, and with which credentials."""

import os
from pathlib import Path
from typing import Final

from starlette.requests import Request

from outlast.base.clock import Clock, iso

LOG_BYTES: Final = 2_000_000


class RequestLog:
    """A file with one line for each request, with the credentials that came. Only this user reads it; beyond 2 MB the
    older half of two files goes. It is the one place that shows that the real secret arrived."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock

    def note(self, request: Request, status: int) -> None:
        """One line; a file that cannot be written stops nobody."""
        given = request.headers.get("authorization", "-")
        query = f"?{request.url.query}" if request.url.query else ""
        shown = _line(
            f"{iso(self._clock.now())} {status} {request.method} {request.url.path}{query} authorization={given!r}"
        )
        try:
            self._make_room()
            with open(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "ab") as file:
                file.write(shown)
        except OSError:
            return

    def _make_room(self) -> None:
        if self._path.exists() and self._path.stat().st_size > LOG_BYTES:
            self._path.replace(self._path.with_suffix(".older.log"))


def _line(text: str) -> bytes:
    return text.encode("unicode_escape")[:2000] + b"\n"
