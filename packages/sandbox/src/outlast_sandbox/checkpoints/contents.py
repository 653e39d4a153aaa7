"""The content of a checkpoint's files, read from the blobs and checked against its hash."""

import hashlib
from collections.abc import Iterator
from typing import Final

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.tree import Entry
from outlast_sandbox.errors import StoredFileDamaged

PIECE_BYTES: Final = 1024 * 1024


def pieces_of(blobs: Blobs, entry: Entry) -> Iterator[bytes]:
    """A file's content piece by piece; the last step raises `StoredFileDamaged` if the hash does not match. Raises
    `StoredFileMissing` if the blob is missing. Blocks."""
    digest, at = hashlib.sha256(), 0
    while at < entry.size:
        piece = blobs.read(entry.blob, entry.offset + at, min(PIECE_BYTES, entry.size - at))
        if not piece:
            break
        digest.update(piece)
        at += len(piece)
        yield piece
    if digest.hexdigest() != entry.sha256:
        raise StoredFileDamaged(f"The stored content of {entry.path!r} is damaged.", blob=entry.blob)


def content_of(blobs: Blobs, entry: Entry) -> bytes:
    """A file's whole content; errors as `pieces_of`. Blocks."""
    return b"".join(pieces_of(blobs, entry))


def beginning_of(blobs: Blobs, entry: Entry, max_bytes: int) -> bytes:
    """The first `max_bytes` of a file; a longer one is not checked. Blocks."""
    if entry.size <= max_bytes:
        return content_of(blobs, entry)
    return blobs.read(entry.blob, entry.offset, max_bytes)
