"""Blobs for a transaction, which must not wait for a bucket."""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

import anyio.to_thread

from outlast.base.errors import StoredFileMissing
from outlast.db.blobs.port import Blobs

T = TypeVar("T")
MOST: Final = 1000  # blobs that are fetched for one call


class Readable(Protocol):
    """What a transaction may do with blobs."""

    def get(self, name: str) -> bytes:
        """The content. Raises `StoredFileMissing`, and `NotAtHand`, which the caller must let through."""


class NotAtHand(Exception):
    """The blob has to be fetched before the transaction can read it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class BlobsAtHand:
    """The blobs that one call needs in its transactions. Those of a folder are read there; those of a bucket are
    fetched between two tries, and stay in memory until the call ends."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._fetched: dict[str, bytes | None] = {}

    def get(self, name: str) -> bytes:
        """See `Readable`."""
        if self._blobs.is_near:
            return self._blobs.get(name)
        if name not in self._fetched:
            raise NotAtHand(name)
        content = self._fetched[name]
        if content is None:
            raise StoredFileMissing("The stored file is missing from the bucket.", blob=name)
        return content

    async def repeated(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of `call`, which runs again whenever it needed a blob that was not at hand. Raises
        `StorageUnavailable` too."""
        for _ in range(MOST):
            try:
                return await call()
            except NotAtHand as needed:
                name = needed.name
            try:
                self._fetched[name] = await anyio.to_thread.run_sync(self._blobs.get, name)
            except StoredFileMissing:
                self._fetched[name] = None
        return await call()
