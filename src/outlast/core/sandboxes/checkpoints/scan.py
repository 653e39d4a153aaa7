"""Looking at a workspace's folder and saving what is new in it: the tree that a checkpoint is made of.

A file whose size, times and inode are as they were when it was last read is not read again. That memory is only a
short cut: whatever is not in it, or was touched too shortly before it was looked at, is read.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast.core.sandboxes.checkpoints.beneath import open_folder
from outlast.core.sandboxes.checkpoints.folder import Content, Found, Seen, Walk, settled, walk_folder
from outlast.core.sandboxes.checkpoints.packing import Places, batches, read_batch, store_batch
from outlast.core.sandboxes.checkpoints.tree import Entry, Tree
from outlast.db.blobs import FolderBlobs

AT_ONCE: Final = 4  # batches read side by side: a pack's worth of memory each

Memory = dict[str, tuple[Seen, str]]
"""What was read of each path: how the file looked then, and its content's hash."""
Locate = Callable[[Iterable[str]], Awaitable[Mapping[str, tuple[str, int]]]]
"""Where contents of these hashes may lie, as far as is known."""


@dataclass(slots=True)
class Scan:
    """A folder as it is now. `packed`: where small files were newly stored together. `whole` is False when something
    could not be read: then the tree keeps what the one before it knew of that."""

    tree: Tree
    memory: Memory
    packed: dict[str, tuple[str, int]] = field(default_factory=dict)
    whole: bool = True


async def scan_folder(
    root: Path, before: Tree, memory: Memory, blobs: FolderBlobs, locate: Locate, max_bytes: int
) -> Scan:
    """Look at everything, and store what is in no blob yet. Raises `InputTooLarge`, `DiskFull`, `OSError` (the folder
    is gone). A cancelled call leaves blobs that nobody names."""
    walk, sorted_ = await anyio.to_thread.run_sync(_look, root, before, memory, max_bytes)
    work = _Work(walk, sorted_, before, blobs, locate, max_bytes)
    if sorted_.todo:
        await work.read(root)
    return await anyio.to_thread.run_sync(work.scan)


@dataclass(slots=True)
class _Sorted:
    """What a walk found: entries that need no reading, and files that do."""

    entries: list[Entry]
    memory: Memory
    todo: list[Found]


def _look(root: Path, before: Tree, memory: Memory, max_bytes: int) -> tuple[Walk, _Sorted]:
    walk = walk_folder(root, max_bytes)
    places = before.places
    result = _Sorted([], {}, [])
    for found in walk.found:
        if found.kind != "file":
            result.entries.append(_entry(found))
            continue
        known = memory.get(found.path)
        if known is None or known[0] != found.seen or (found.seen.size and known[1] not in places):
            result.todo.append(found)
            continue
        blob, offset = places.get(known[1], ("", 0))
        result.entries.append(_file(found, known[1], found.seen.size, blob, offset))
        result.memory[found.path] = known
    return walk, result


class _Work:
    """The reading of one scan; batches run side by side."""

    def __init__(
        self, walk: Walk, sorted_: _Sorted, before: Tree, blobs: FolderBlobs, locate: Locate, max_bytes: int
    ) -> None:
        self._walk, self._sorted, self._before = walk, sorted_, before
        self._blobs, self._locate, self._max_bytes = blobs, locate, max_bytes
        self._read: dict[str, Content] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._packed: dict[str, tuple[str, int]] = {}
        self._refused = list(walk.unreadable)

    async def read(self, root: Path) -> None:
        descriptor = open_folder(root)
        limiter = anyio.Semaphore(AT_ONCE)
        try:
            async with anyio.create_task_group() as tasks:
                for batch in batches(self._sorted.todo):
                    await limiter.acquire()
                    tasks.start_soon(self._save, descriptor, batch, limiter)
        finally:
            os.close(descriptor)

    def scan(self) -> Scan:
        entries, memory = self._sorted.entries, self._sorted.memory
        for found in self._sorted.todo:
            content = self._read.get(found.path)
            if content is None:
                continue
            blob, offset = self._places.get(content.sha256, ("", 0))
            entries.append(_file(found, content.sha256, content.size, blob, offset))
            if settled(found.seen, self._walk.began_ns) and content.size == found.seen.size:
                memory[found.path] = (found.seen, content.sha256)
        entries += self._kept_of(self._refused, {entry.path for entry in entries})
        return Scan(Tree.of(entries), memory, self._packed, not self._refused)

    async def _save(self, root: int, batch: list[Found], limiter: anyio.Semaphore) -> None:
        try:
            contents, refused = await anyio.to_thread.run_sync(read_batch, root, batch)
            self._refused += refused
            known = self._before.places
            unknown = {content.sha256 for content in contents.values() if content.sha256 not in known}
            found = dict(await self._locate(unknown)) if unknown else {}
            new = {path: content for path, content in contents.items() if content.sha256 in unknown}
            stored, places = await anyio.to_thread.run_sync(
                partial(store_batch, self._blobs, root, new, found, self._max_bytes)
            )
            self._note(contents, new, stored, places, found)
        finally:
            limiter.release()

    def _note(
        self,
        contents: Mapping[str, Content],
        new: Mapping[str, Content],
        stored: Mapping[str, Content],
        places: Mapping[str, tuple[str, int]],
        found: Places,
    ) -> None:
        known = self._before.places
        for path, content in contents.items():
            if path not in new:
                self._read[path] = content
                if content.size:
                    self._places[content.sha256] = known[content.sha256]
        self._read |= stored
        self._places |= places
        fresh = (item for item in places.items() if found.get(item[0]) != item[1])
        self._packed |= {sha256: place for sha256, place in fresh if place[0] != sha256}

    def _kept_of(self, refused: list[str], taken: set[str]) -> list[Entry]:
        """What the checkpoint before knows of paths that cannot be looked at now."""
        return [
            entry
            for entry in (self._before.entries if refused else ())
            if entry.path not in taken
            and any(entry.path == path or entry.path.startswith(f"{path}/") for path in refused)
        ]


def _entry(found: Found) -> Entry:
    mtime_ms = found.seen.mtime_ns // 1_000_000
    if found.kind == "directory":
        return Entry(found.path, "directory", found.mode, 0, mtime_ms)
    target = found.target
    return Entry(found.path, "symlink", found.mode, len(target), mtime_ms, target=target)


def _file(found: Found, sha256: str, size: int, blob: str, offset: int) -> Entry:
    mtime_ms = found.seen.mtime_ns // 1_000_000
    return Entry(found.path, "file", found.mode, size, mtime_ms, sha256, blob, offset)
