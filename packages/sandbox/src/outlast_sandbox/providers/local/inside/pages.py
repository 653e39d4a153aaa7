"""Long responses in pages that fit into a frame, however long the names are."""

from __future__ import annotations

from .json_text import dumps
from .sessions import Session

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Iterator

    from .main import Connection

PAGE_ITEMS = 500
PAGE_BYTES = 2 * 1024 * 1024


class Pages(Session):
    """Answers with `entries`, each page at its request. `found` may raise `Refused`."""

    def __init__(self, connection: Connection, found: Iterator[dict[str, Any]]) -> None:
        self._connection = connection
        self._found = found

    def start(self) -> None:
        self._connection.begin(self)
        self.proceed({}, b"")

    def proceed(self, _request: dict[str, Any], _payload: bytes) -> None:
        page: list[dict[str, Any]] = []
        size = 0
        for entry in self._found:
            page.append(entry)
            size += len(dumps(entry))
            if len(page) == PAGE_ITEMS or size > PAGE_BYTES:
                self._connection.reply(end=False, entries=page)
                return
        self._connection.finish(entries=page)
