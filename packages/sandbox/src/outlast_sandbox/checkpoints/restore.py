"""Makes a workspace's folder equal to a checkpoint.

All writes are made from outside, below a descriptor of the folder and never through a link, so that code running in it
meanwhile can damage only its own files. Each file appears whole (a temporary one, then a rename). All entries get the
folder's owner: the sandbox's own user, if it has one.
"""

import errno
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.contents import pieces_of
from outlast_sandbox.checkpoints.folder_walk import Found, read_content, walk_folder
from outlast_sandbox.checkpoints.safe_open import open_beneath, open_folder
from outlast_sandbox.checkpoints.tree import Entry, Tree
from outlast_sandbox.errors import DiskFull, SandboxUnavailable
from outlast_sandbox.folders import remove_tree

ANY_SIZE: Final = 1 << 62
OPEN_MODE: Final = 0o700
TRIES: Final = 100  # the deepest nesting of folders that their owner cannot open
PASSES: Final = 8  # over a folder that code changes meanwhile; each pass writes only the remaining differences
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_MOVED: Final = (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.EISDIR, errno.ENOTEMPTY, errno.EXDEV)


def place_tree(root: Path, tree: Tree, blobs: Blobs, without: Collection[str] = ()) -> int:
    """Write, change and remove until the folder equals the tree, except for sockets, pipes and devices, and the folders
    `without`, which are left unchanged; not synced yet. Returns the number of entries written by the last pass.
    Idempotent; an interrupted call leaves a mix of both.

    Raises `SandboxUnavailable` (running code keeps changing the folder), `DiskFull`, `NotFound` and `InternalError` (a
    blob is missing or damaged), `OSError`. Blocks.
    """
    root.mkdir(parents=True, exist_ok=True)
    place = _Place(root, blobs, frozenset(without))
    try:
        for _ in range(PASSES):
            try:
                return place.hold(tree)
            except OSError as error:
                if error.errno not in _MOVED:
                    raise
        raise SandboxUnavailable(
            "The files keep changing while they are restored.",
            hint="End the processes in the sandbox, then restore again.",
            retry_after_s=5,
        )
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(f"The files could not be restored: {error.strerror}.", retry_after_s=10) from error
        raise
    finally:
        place.close()


class _Place:
    """The folder being written, with one inner folder kept open: entries come sorted, so most are in the same folder as
    the one before."""

    def __init__(self, root: Path, blobs: Blobs, without: frozenset[str]) -> None:
        self._path, self._blobs, self._without = root, blobs, without
        self._root = open_folder(root)
        facts = os.fstat(self._root)
        self._owner = (facts.st_uid, facts.st_gid) if os.geteuid() == 0 and facts.st_uid else None
        self._parent: tuple[str, int] | None = None

    def close(self) -> None:
        self._leave()
        os.close(self._root)

    def hold(self, tree: Tree) -> int:
        self._leave()
        there = {current.path: current for current in self._walk()}
        self._remove_others(tree, there)
        written = 0
        for entry in tree.entries:
            current = there.get(entry.path)
            if current is None or not self._is_there(entry, current):
                self._put(entry)
                written += 1
        self._leave()
        for entry in reversed(tree.entries):  # a folder's mode may deny access once its contents are done
            if entry.kind == "directory":
                self._close_folder(entry)
        return written

    def _walk(self) -> list[Found]:
        """The current entries; every folder that denies access to its owner is opened."""
        walk = walk_folder(self._path, ANY_SIZE, self._without)
        for _ in range(TRIES):
            if not walk.unreadable:
                break
            for path in walk.unreadable:
                with suppress(OSError):
                    self._open_up(path)
            walk = walk_folder(self._path, ANY_SIZE, self._without)
        for found in walk.found:
            if found.kind == "directory" and found.mode & OPEN_MODE != OPEN_MODE:
                with suppress(OSError):
                    self._open_up(found.path)
        return walk.found

    def _open_up(self, path: str) -> None:
        descriptor = open_beneath(self._root, path, os.O_PATH | os.O_DIRECTORY)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", OPEN_MODE)
        finally:
            os.close(descriptor)

    def _remove_others(self, tree: Tree, there: dict[str, Found]) -> None:
        wanted = tree.by_path
        for path in sorted(there):
            entry = wanted.get(path)
            if entry is None or entry.kind != there[path].kind:
                self._remove(path)

    def _remove(self, path: str) -> None:
        """A missing entry counts as removed."""
        try:
            name, parent = self._at(path)
        except OSError:
            return
        with suppress(FileNotFoundError):
            try:
                os.unlink(name, dir_fd=parent)
            except (IsADirectoryError, PermissionError):
                remove_tree(name, dir_fd=parent)

    def _is_there(self, entry: Entry, found: Found) -> bool:
        if (found.kind, found.target) != (entry.kind, entry.target):
            return False
        if entry.kind != "file":
            return True
        if found.mode != entry.mode or found.seen.size != entry.size:
            return False
        content = read_content(self._root, entry.path, 0)
        return content is not None and content.sha256 == entry.sha256

    def _put(self, entry: Entry) -> None:
        name, parent = self._at(entry.path)
        if entry.kind == "directory":
            self._make_folder(name, parent)
        elif entry.kind == "symlink":
            self._clear(name, parent)
            os.symlink(entry.target, name, dir_fd=parent)
            if self._owner is not None:
                os.chown(name, *self._owner, dir_fd=parent, follow_symlinks=False)
        else:
            self._write(entry, name, parent)

    def _make_folder(self, name: str, parent: int) -> None:
        try:
            os.mkdir(name, OPEN_MODE, dir_fd=parent)
        except FileExistsError:  # a pipe or socket of that name
            self._clear(name, parent)
            os.mkdir(name, OPEN_MODE, dir_fd=parent)
        if self._owner is not None:
            os.chown(name, *self._owner, dir_fd=parent, follow_symlinks=False)

    def _write(self, entry: Entry, name: str, parent: int) -> None:
        temporary = f".{uuid4().hex}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600, dir_fd=parent)
        try:
            try:
                for piece in pieces_of(self._blobs, entry):
                    view = memoryview(piece)
                    while view:
                        view = view[os.write(descriptor, view) :]
                if self._owner is not None:
                    os.fchown(descriptor, *self._owner)
                os.fchmod(descriptor, entry.mode)
                os.utime(descriptor, ns=(entry.mtime_ms * 1_000_000,) * 2)
            finally:
                os.close(descriptor)
            try:
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except IsADirectoryError:
                remove_tree(name, dir_fd=parent)
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise

    def _clear(self, name: str, parent: int) -> None:
        with suppress(FileNotFoundError):
            try:
                os.unlink(name, dir_fd=parent)
            except (IsADirectoryError, PermissionError):
                remove_tree(name, dir_fd=parent)

    def _close_folder(self, entry: Entry) -> None:
        descriptor = open_beneath(self._root, entry.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fchmod(descriptor, entry.mode)
            os.utime(descriptor, ns=(entry.mtime_ms * 1_000_000,) * 2)
        finally:
            os.close(descriptor)

    def _at(self, path: str) -> tuple[str, int]:
        """The last part of a path, and a descriptor of its parent folder (valid until the next call)."""
        folder, _, name = path.rpartition("/")
        if not folder:
            return name, self._root
        if self._parent is None or self._parent[0] != folder:
            self._leave()
            opened = open_beneath(self._root, folder, os.O_RDONLY | os.O_DIRECTORY)
            self._parent = (folder, opened)
        return name, self._parent[1]

    def _leave(self) -> None:
        if self._parent is not None:
            os.close(self._parent[1])
            self._parent = None
