"""What a connection can be busy with for longer than one request and its answer."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any


class Session:
    """Begun by a request, taken further by each `continue` on the same connection, ended by an answer that says so,
    by a refusal, or by the connection's end."""

    def proceed(self, request: dict[str, Any], payload: bytes) -> None:
        """The server asks for more; to be answered now or later. Raises `Refused`, which ends the session."""
        raise NotImplementedError

    def close(self) -> None:
        """The connection is gone, or the session was refused: leave nothing behind."""
