"""The keeper's caches in memory and on disk: trees, and the state of files when they were last read.

All of it can be deleted at any time; missing entries are read again.
"""

import json
import os
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Final

from outlast_sandbox.checkpoints.folder_save import Memory
from outlast_sandbox.checkpoints.folder_walk import Seen
from outlast_sandbox.checkpoints.tree import Tree

MAX_ENTRIES: Final = 300_000


class Trees:
    """The trees used last, by manifest; together at most 300,000 entries, but at least one tree."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, Tree] = OrderedDict()
        self._entries = 0

    def get(self, name: str) -> Tree | None:
        tree = self._trees.get(name)
        if tree is not None:
            self._trees.move_to_end(name)
        return tree

    def put(self, name: str, tree: Tree) -> None:
        if name in self._trees:
            return
        self._trees[name] = tree
        self._entries += len(tree.entries)
        while self._entries > MAX_ENTRIES and len(self._trees) > 1:
            _, oldest = self._trees.popitem(last=False)
            self._entries -= len(oldest.entries)


class Memories:
    """The state of each workspace's files when they were last read, kept in one file per workspace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._memories: OrderedDict[str, Memory] = OrderedDict()
        self._unwritten: set[str] = set()

    def held(self, workspace_id: str) -> Memory | None:
        """The entry in memory, or None; it may be on disk."""
        return self._memories.get(workspace_id)

    def of(self, workspace_id: str) -> Memory:
        """Blocks if it has to be read from disk."""
        memory = self._memories.get(workspace_id)
        if memory is None:
            memory = self._memories[workspace_id] = _read(self._file(workspace_id))
        self._memories.move_to_end(workspace_id)
        return memory

    def put(self, workspace_id: str, memory: Memory) -> None:
        self._memories[workspace_id] = memory
        self._memories.move_to_end(workspace_id)
        self._unwritten.add(workspace_id)

    def forget(self, workspace_id: str) -> None:
        """Drop all entries of a workspace whose files were replaced."""
        self._memories.pop(workspace_id, None)
        self._unwritten.discard(workspace_id)
        self._file(workspace_id).unlink(missing_ok=True)

    def write(self) -> None:
        """Write new entries to disk, and drop those used longest ago from memory. Blocks; if the disk is full, only the
        next checkpoint after a restart is slower."""
        for workspace_id in list(self._unwritten):
            self._unwritten.discard(workspace_id)
            memory = self._memories.get(workspace_id)
            if memory is not None:
                with suppress(OSError):
                    _write(self._file(workspace_id), memory)
        while sum(map(len, self._memories.values())) > MAX_ENTRIES and len(self._memories) > 1:
            self._memories.popitem(last=False)

    def known(self) -> list[str]:
        """The workspaces that have a file here."""
        return [path.name.removesuffix(".json") for path in self._folder.glob("*.json")]

    def _file(self, workspace_id: str) -> Path:
        return self._folder / f"{workspace_id}.json"


def _read(path: Path) -> Memory:
    try:
        rows = json.loads(path.read_bytes())
        return {name: (Seen(*seen), sha256) for name, seen, sha256 in rows}
    except (OSError, ValueError, TypeError):
        return {}


def _write(path: Path, memory: Memory) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    rows = [(name, seen, sha256) for name, (seen, sha256) in list(memory.items())]
    temporary.write_text(json.dumps(rows), "ascii")
    os.replace(temporary, path)
