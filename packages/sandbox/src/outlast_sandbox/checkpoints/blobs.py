"""Where the contents of files are kept: a store that the embedding program has."""

from collections.abc import Iterable, Sequence
from typing import Protocol


class Blobs(Protocol):
    """Contents by their SHA-256 (64 hex digits), written once and never changed. Calls block, may run side by side, and
    raise errors of the store's own where its disk is full or a content is missing."""

    def put(self, content: bytes) -> str:
        """Store it durably: its name. Repeating is harmless."""

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        """As `put` for each, waiting for the disk once for all of them."""

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Store what the pieces make together: its name and its size in bytes. What reading a piece raises is passed
        on, and then nothing is left behind."""

    def keep(self, name: str) -> bool:
        """Whether it is stored; if so it counts as used just now."""

    def read(self, name: str, offset: int, size: int | None) -> bytes:
        """`size` bytes from `offset` (None: to its end); fewer where it ends before."""
