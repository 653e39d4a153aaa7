"""Saves a workspace's folder: walks it, stores its new files, and returns the tree that a checkpoint is made of.

A file is not read again if its size, times and inode have not changed since it was last read. That memory is only a
cache: files that it lacks, or that were modified shortly before they were read, are read again.
"""

import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.folder_walk import Content, Found, Seen, settled, walk_folder
from outlast_sandbox.checkpoints.packs import Places, batches, read_batch, store_batch
from outlast_sandbox.checkpoints.safe_open import open_folder
from outlast_sandbox.checkpoints.tree import Entry, Tree, encode

T = TypeVar("T")
AT_ONCE: Final = 4  # batches read concurrently: each holds one pack in memory

Memory = dict[str, tuple[Seen, str]]
"""The last read of each path: the file's state then, and its content's hash."""
Locate = Callable[[Iterable[str]], Awaitable[Mapping[str, tuple[str, int]]]]
"""Possible places of these hashes, as far as known."""


@dataclass(slots=True)
class Saved:
    """The result of a save: the folder's tree. `packed`: the new places of small files that were stored together.
    `whole` is False if something could not be read: then the tree keeps the entries of the tree before it."""

    tree: Tree
    memory: Memory
    packed: dict[str, tuple[str, int]] = field(default_factory=dict)
    whole: bool = True

    def store(self, before: Tree, blobs: Blobs, packs: Sequence[bytes] = ()) -> "Saved":
        """Store the manifest, if anything has changed, and the packs that it needs. Blocks. Raises `DiskFull`."""
        if self.tree.same_as(before):
            blobs.put_all(packs)
            return self
        manifest, base = encode(self.tree, before.base or (before if before.name else None))
        *_, name = blobs.put_all([*packs, manifest])
        self.tree = replace(self.tree, name=name, base=base)
        return self

    @property
    def manifest(self) -> str:
        """The name of its tree's manifest once stored, or "" if nothing has changed."""
        return self.tree.name


async def save_folder(
    root: Path,
    before: Tree,
    memory: Memory,
    blobs: Blobs,
    locate: Locate,
    max_bytes: int,
    without: Collection[str] = (),
) -> Saved:
    """Save everything except the folders `without`: store contents that are in no blob yet. Raises `InputTooLarge`,
    `DiskFull`, `OSError` (the folder is gone). A cancelled call leaves unreferenced blobs."""
    descriptor = open_folder(root)
    try:
        work = _Work(descriptor, before, blobs, max_bytes)
        # Switches between threads are kept to a minimum: on a busy machine each one waits for its turn.
        first = await _in_thread(work.look, root, memory, without)
        if len(work.batches) > 1:
            await work.save_all(first, locate)
            return await _in_thread(work.finish)
        places = dict(await locate(first.unknown)) if first.unknown else {}
        return await _in_thread(work.save_and_finish, first, places)
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class _Batch:
    """Contents of one batch, and the hashes that the previous tree does not have."""

    contents: dict[str, Content] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)


class _Work:
    """One save of a folder. `look` first, then `save` for every batch, then `finish`; each blocks."""

    def __init__(self, root: int, before: Tree, blobs: Blobs, max_bytes: int) -> None:
        self._root, self._before, self._blobs, self._max_bytes = root, before, blobs, max_bytes
        self._entries: list[Entry] = []
        self._memory: Memory = {}
        self._todo: list[Found] = []
        self._read: dict[str, Content] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._packed: dict[str, tuple[str, int]] = {}
        self._refused: list[str] = []
        self._began_ns = 0
        self.batches: list[list[Found]] = []

    def look(self, root: Path, memory: Memory, without: Collection[str]) -> _Batch:
        """Walk, sort the files that must be read into batches, and read the first."""
        walk = walk_folder(root, self._max_bytes, without)
        self._began_ns, self._refused = walk.began_ns, list(walk.unreadable)
        places = self._before.places
        for found in walk.found:
            known = memory.get(found.path)
            if found.kind != "file":
                self._entries.append(_entry(found))
            elif known is None or known[0] != found.seen or (found.seen.size and known[1] not in places):
                self._todo.append(found)
            else:
                blob, offset = places.get(known[1], ("", 0))
                self._entries.append(_file(found, known[1], found.seen.size, blob, offset))
                self._memory[found.path] = known
        self.batches = list(batches(self._todo))
        return self.read(self.batches[0]) if self.batches else _Batch()

    def read(self, batch: list[Found]) -> _Batch:
        contents, refused = read_batch(self._root, batch)
        self._refused += refused
        known = self._before.places
        unknown = {content.sha256 for content in contents.values() if content.sha256 not in known}
        return _Batch(contents, unknown)

    def save(self, batch: _Batch, found: Places) -> None:
        """Store the new contents of the batch; `found` has the possible places of known contents."""
        pack = self._save(batch, found)
        if pack is not None:
            self._blobs.put(pack)

    def _save(self, batch: _Batch, found: Places) -> bytes | None:
        """The batch's pack that is still to be put."""
        new = {path: content for path, content in batch.contents.items() if content.sha256 in batch.unknown}
        stored = store_batch(self._blobs, self._root, new, found, self._max_bytes)
        known = self._before.places
        for path, content in batch.contents.items():
            if path not in new:
                self._read[path] = content
                if content.size:
                    self._places[content.sha256] = known[content.sha256]
        self._read |= stored.contents
        self._places |= stored.places
        fresh = (item for item in stored.places.items() if found.get(item[0]) != item[1])
        self._packed |= {sha256: place for sha256, place in fresh if place[0] != sha256}
        return stored.pack

    async def save_all(self, first: _Batch, locate: Locate) -> None:
        """Save all batches, some of them concurrently."""
        turn = anyio.Semaphore(AT_ONCE)

        async def save(batch: list[Found] | None) -> None:
            async with turn:
                read = first if batch is None else await _in_thread(self.read, batch)
                places = dict(await locate(read.unknown)) if read.unknown else {}
                await _in_thread(self.save, read, places)

        async with anyio.create_task_group() as tasks:
            for batch in (None, *self.batches[1:]):
                tasks.start_soon(save, batch)

    def save_and_finish(self, only: _Batch, found: Places) -> Saved:
        pack = self._save(only, found)
        return self.finish([] if pack is None else [pack])

    def finish(self, packs: Sequence[bytes] = ()) -> Saved:
        for found in self._todo:
            content = self._read.get(found.path)
            if content is None:
                continue
            blob, offset = self._places.get(content.sha256, ("", 0))
            self._entries.append(_file(found, content.sha256, content.size, blob, offset))
            if settled(found.seen, self._began_ns) and content.size == found.seen.size:
                self._memory[found.path] = (found.seen, content.sha256)
        self._entries += self._unreadable_entries({entry.path for entry in self._entries})
        saved = Saved(Tree.of(self._entries), self._memory, packed=self._packed, whole=not self._refused)
        return saved.store(self._before, self._blobs, packs)

    def _unreadable_entries(self, taken: set[str]) -> list[Entry]:
        """The previous checkpoint's entries for paths that cannot be read now."""
        return [
            entry
            for entry in (self._before.entries if self._refused else ())
            if entry.path not in taken
            and any(entry.path == path or entry.path.startswith(f"{path}/") for path in self._refused)
        ]


async def _in_thread(call: Callable[..., T], *arguments: Any) -> T:
    return await anyio.to_thread.run_sync(call, *arguments)


def _entry(found: Found) -> Entry:
    mtime_ms = found.seen.mtime_ns // 1_000_000
    if found.kind == "directory":
        return Entry(found.path, "directory", found.mode, 0, mtime_ms)
    target = found.target
    return Entry(found.path, "symlink", found.mode, len(target), mtime_ms, target=target)


def _file(found: Found, sha256: str, size: int, blob: str, offset: int) -> Entry:
    mtime_ms = found.seen.mtime_ns // 1_000_000
    return Entry(found.path, "file", found.mode, size, mtime_ms, sha256, blob, offset)
