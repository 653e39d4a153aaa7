"""The interface of both stores of blobs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A stored blob: its name, its size, and when it was last put or kept (seconds since 1970)."""

    name: str
    size_bytes: int
    used_at: float


def _keep() -> None:
    """Do nothing: the file is the store's own."""


@dataclass(frozen=True, slots=True)
class LentFile:
    """A file with a blob's content, which must not be changed. Leave the context, or call `give_back`, when it is no
    longer read; a file that is open then can still be read."""

    path: Path
    give_back: Callable[[], None] = _keep

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()


class Blobs(Protocol):
    """Contents by their SHA-256 (64 hex digits), written once and never changed. Calls block: run them in a worker
    thread, unless `is_near`. They may run concurrently, also in several processes. All of them raise
    `StorageUnavailable` if the store cannot be reached: a retry is harmless."""

    @property
    def is_near(self) -> bool:
        """True if reading costs no more than reading a file of this machine."""

    def put(self, content: bytes) -> str:
        """Store `content` durably and return its name. Repeating is harmless. Raises `DiskFull`; then nothing is left
        behind."""

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        """As `put` for each, waiting for the store once for all of them; returns their names, in order. If it raises,
        some of them may be stored."""

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Store the concatenated pieces, holding one at a time in memory; returns the name and the size in bytes. As
        `put`; errors of reading a piece are passed on, and then nothing is left behind."""

    def keep(self, name: str) -> bool:
        """True if the blob is stored; it then counts as used just now, and no running collection removes it."""

    def get(self, name: str) -> bytes:
        """The content stored under `name`. Raises `StoredFileMissing`."""

    def read(self, name: str, offset: int, size: int | None) -> bytes:
        """`size` bytes of the content from `offset` (None reads to its end); fewer if it ends before. Raises
        `StoredFileMissing`."""

    def lend(self, name: str) -> LentFile:
        """A file of this machine with the content, for programs that need one. Raises `StoredFileMissing`,
        `DiskFull`."""

    def now(self) -> float:
        """The clock of the times in `used_at`: seconds since 1970."""

    def stored(self) -> Iterator[StoredBlob]:
        """Every blob, in no particular order."""

    def unused_since(self, before: float) -> Iterator[StoredBlob]:
        """Every blob that was last put or kept before that time."""

    def remove_unused(self, name: str, before: float) -> bool:
        """Remove a blob that was last put or kept before that time; False if it was kept meanwhile, and stays."""

    def remove_unfinished(self, before: float) -> None:
        """Remove what dead processes began to write before that time and no name reaches."""

    def identity(self) -> str:
        """A name of the store: the same for every server that reads and writes the same blobs."""

    def close(self) -> None:
        """Close connections. Repeatable."""
