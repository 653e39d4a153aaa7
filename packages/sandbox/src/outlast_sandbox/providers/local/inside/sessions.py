"""Operations of a connection that take more than one request and its response."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any


class Session:
    """Started by a request, continued by each `continue` on the same connection, ended by a response with `end`, by a
    refusal, or by the connection's end."""

    def proceed(self, request: dict[str, Any], payload: bytes) -> None:
        """The server requests more; answer now or later. Raises `Refused`, which ends the session."""
        raise NotImplementedError

    def close(self) -> None:
        """The connection is gone, or the session was refused: release all resources."""
