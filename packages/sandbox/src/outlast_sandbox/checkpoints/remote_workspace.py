"""Workspaces whose files are on another machine: read and written through the sandbox itself.

Modes and symbolic links are not known there: files come back readable and writable, links as the files they point to.
"""

import hashlib
import shlex
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import uuid4

import anyio.to_thread

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.contents import content_of
from outlast_sandbox.checkpoints.folder_save import Locate, Memory, Saved
from outlast_sandbox.checkpoints.folder_walk import MAX_ENTRIES, Content, Seen
from outlast_sandbox.checkpoints.packs import PACK_BYTES, Places, store_batch
from outlast_sandbox.checkpoints.tree import Entry, Tree
from outlast_sandbox.errors import InputTooLarge, NotFound, PathRefused
from outlast_sandbox.interface import Command, FileEntry, Sandbox

FILE_MODE: Final = 0o644
FOLDER_MODE: Final = 0o755
MAX_BYTES: Final = 64 * 1024 * 1024  # the most that one read of a file may return
SETTLED_S: Final = 5.0  # tolerance for the other machine's clock
AT_ONCE: Final = 200  # files in one write, names in one command
NO_FOLDER: Final = -1


async def save_sandbox(
    sandbox: Sandbox, before: Tree, memory: Memory, blobs: Blobs, locate: Locate, max_bytes: int
) -> Saved:
    """As `save_folder`, through the sandbox. A file above 64 MiB cannot be read, and makes the save incomplete. Raises
    `SandboxLost`, `InputTooLarge`, `DiskFull`."""
    listed = await sandbox.list_files("", MAX_ENTRIES)
    if sum(one.size for one in listed) > max_bytes:
        raise InputTooLarge(
            f"The workspace's files take more than {max_bytes} bytes; a checkpoint holds no more.",
            hint="Remove files that you do not need, or raise sandbox.disk_mb.",
            limit_bytes=max_bytes,
        )
    saved, began, places = Saved(Tree(), {}), time.time(), before.places
    entries: list[Entry] = []
    for one in listed:
        if one.is_dir:
            entries.append(Entry(one.path, "directory", FOLDER_MODE, 0, int(one.mtime * 1000)))
            continue
        state = _state_of(one)
        known = memory.get(one.path)
        if known is not None and known[0] == state and (known[1] in places or not one.size):
            sha256 = known[1]
        else:
            content = await _read(sandbox, one)
            if content is None:
                old = before.by_path.get(one.path)
                saved.whole = False
                entries += [old] if old is not None else []
                continue
            sha256 = content.sha256
            if sha256 not in places and content.size:
                found = await locate([sha256])
                save = partial(_save, blobs, {one.path: content}, found, max_bytes)
                places = {**places, **await anyio.to_thread.run_sync(save)}
        if 0 < one.mtime < began - SETTLED_S:  # some services report no time
            saved.memory[one.path] = (state, sha256)
        blob, offset = places.get(sha256, ("", 0))
        entries.append(Entry(one.path, "file", FILE_MODE, one.size, int(one.mtime * 1000), sha256, blob, offset))
    saved.tree = Tree.of(entries)
    return await anyio.to_thread.run_sync(saved.store, before, blobs)


async def fill_sandbox(sandbox: Sandbox, tree: Tree, blobs: Blobs) -> None:
    """Make the sandbox's workspace hold the tree's files and no others. Raises `SandboxLost`, `DiskFull`, `NotFound`
    and `InternalError` (a blob is missing or damaged). Idempotent."""
    wanted = tree.by_path
    extra = [one.path for one in await sandbox.list_files("", MAX_ENTRIES) if one.path not in wanted]
    for at in range(0, len(extra), AT_ONCE):
        names = " ".join(shlex.quote(f"./{path}") for path in extra[at : at + AT_ONCE])
        await _command(sandbox, f"rm -rf {names}")
    folders = [entry.path for entry in tree.entries if entry.kind == "directory"]
    for at in range(0, len(folders), AT_ONCE):
        names = " ".join(shlex.quote(f"./{path}") for path in folders[at : at + AT_ONCE])
        await _command(sandbox, f"mkdir -p {names}")
    for batch in _batches(tree):
        contents = [(entry.path, await anyio.to_thread.run_sync(content_of, blobs, entry)) for entry in batch]
        await sandbox.write_files(contents)


async def _command(sandbox: Sandbox, script: str) -> None:
    effect_id = f"fill_{uuid4().hex}"
    await sandbox.run(Command(effect_id, 1, script, timeout_s=60))
    await sandbox.acknowledge(effect_id)


async def _read(sandbox: Sandbox, one: FileEntry) -> Content | None:
    """The file's content, or None if it is gone or cannot be read completely."""
    with suppress(NotFound, PathRefused):
        data = await sandbox.read_file(one.path, MAX_BYTES)
        if len(data) < MAX_BYTES or len(data) >= one.size:
            return Content(hashlib.sha256(data).hexdigest(), len(data), data)
    return None


def _save(blobs: Blobs, contents: dict[str, Content], found: Places, max_bytes: int) -> dict[str, tuple[str, int]]:
    stored = store_batch(blobs, NO_FOLDER, contents, found, max_bytes)
    if stored.pack is not None:
        blobs.put(stored.pack)
    return stored.places


def _state_of(one: FileEntry) -> Seen:
    moment = int(one.mtime * 1_000_000_000)
    return Seen(one.size, moment, 0, moment)


def _batches(tree: Tree) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in tree.entries:
        if entry.kind != "file":
            continue
        if batch and (size + entry.size > PACK_BYTES or len(batch) >= AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch
