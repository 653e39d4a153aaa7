"""Stores the contents of changed files in the blobs: small ones together, so that two hundred cost one sync."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.folder_walk import Content, Found, read_content, read_pieces

SMALL_BYTES: Final = 128 * 1024  # larger files are separate blobs, shared by all workspaces that hold them
PACK_BYTES: Final = 8 * 1024 * 1024  # held in memory at a time

Places = Mapping[str, tuple[str, int]]
"""The place of each content: hash to (blob, offset)."""


def batches(found: Iterable[Found]) -> Iterator[list[Found]]:
    """Files in the given order, as many small ones together as fit in one pack; a large one alone."""
    batch: list[Found] = []
    size = 0
    for one in found:
        if one.seen.size > SMALL_BYTES:
            yield [one]
            continue
        if size + one.seen.size > PACK_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.seen.size
    if batch:
        yield batch


def read_batch(root: int, batch: Iterable[Found]) -> tuple[dict[str, Content], list[str]]:
    """(content by path, the paths that may not be read). A file that was removed meanwhile is in neither. Blocks."""
    read: dict[str, Content] = {}
    refused: list[str] = []
    for one in batch:
        try:
            content = read_content(root, one.path, SMALL_BYTES)
        except PermissionError:
            refused.append(one.path)
            continue
        if content is not None:
            read[one.path] = content
    return read, refused


@dataclass(frozen=True, slots=True)
class Stored:
    """Contents as they were stored, by path, and the place of each hash; `pack` holds the small ones, and is still to
    be put (None if there were no new ones)."""

    contents: dict[str, Content]
    places: dict[str, tuple[str, int]]
    pack: bytes | None = None


def store_batch(blobs: Blobs, root: int, contents: Mapping[str, Content], known: Places, max_bytes: int) -> Stored:
    """Store the contents that are in no blob yet. `known` may name blobs that are gone by now. A long file is read once
    more, and may have changed. Blocks. Raises `DiskFull`."""
    stored = dict(contents)
    present = {blob for blob in {blob for blob, _ in known.values()} if blobs.keep(blob)}
    places = {sha256: place for sha256, place in known.items() if place[0] in present}
    small: dict[str, bytes] = {}
    for path, content in contents.items():
        if content.sha256 in places or not content.size:
            continue
        if content.data is not None:
            small[content.sha256] = content.data
        elif blobs.keep(content.sha256):
            places[content.sha256] = (content.sha256, 0)
        else:
            try:
                name, size = blobs.put_pieces(read_pieces(root, path, max_bytes))
            except OSError:  # it was removed before it was read again
                del stored[path]
                continue
            stored[path] = Content(name, size, None)
            places[name] = (name, 0)
    if not small:
        return Stored(stored, places)
    pack, within = _pack(small)
    return Stored(stored, places | within, pack)


def _pack(contents: Mapping[str, bytes]) -> tuple[bytes, dict[str, tuple[str, int]]]:
    """One blob for all of them, in the order of their hashes, so that equal files give equal packs."""
    order = sorted(contents)
    pack = b"".join(contents[sha256] for sha256 in order)
    name = hashlib.sha256(pack).hexdigest()
    places: dict[str, tuple[str, int]] = {}
    offset = 0
    for sha256 in order:
        places[sha256] = (name, offset)
        offset += len(contents[sha256])
    return pack, places
