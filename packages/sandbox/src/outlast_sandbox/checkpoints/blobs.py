"""The interface of the embedding program's store for file contents."""

from collections.abc import Iterable, Sequence
from typing import Protocol


class Blobs(Protocol):
    """Contents by their SHA-256 (64 hex digits), written once and never changed. Calls block, may run concurrently, and
    raise the store's own errors if its disk is full or a content is missing."""

    def put(self, content: bytes) -> str:
        """Store the content durably and return its name. Idempotent."""

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        """As `put` for each content, with one sync to disk for all."""

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Store the concatenation of the pieces; return its name and size in bytes. Errors from reading a piece are
        passed on, and then nothing is left behind."""

    def keep(self, name: str) -> bool:
        """True if the content is stored; then it counts as used just now."""

    def read(self, name: str, offset: int, size: int | None) -> bytes:
        """`size` bytes from `offset` (None reads to the end); fewer if the content ends before."""
