"""The contents of a checkpoint: every file, folder and symbolic link, and their encoding.

A manifest is one line of JSON with the totals and the blobs that it needs, then the entries as one JSON array, sorted
by path. It is a blob itself, so a checkpoint is named by the hash of everything in it. A file's content is a part of a
blob: small files that were saved together are stored one after the other in one blob. If there are many entries and few
differ from an earlier manifest, only the differences are written, with the name of that manifest, which is always
complete.
"""

import json
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from outlast_sandbox.errors import StoredFileDamaged

VERSION: Final = 1
MANY: Final = 500  # entries; with fewer, a manifest is always written completely
FEW: Final = 4  # a difference is written if at most 1 in 4 entries differs
EntryKind = Literal["file", "directory", "symlink"]


class Entry(NamedTuple):
    """One entry of a workspace (a named tuple, as there may be 100,000 of them). `path` is relative; bytes that are not
    UTF-8 are surrogates in it. `mode` has the permission bits. `sha256` is that of a file's content, which is `size`
    bytes from `offset` of `blob` (an empty file has no blob); `target` is that of a link. `mtime_ms` does not count as
    a difference."""

    path: str
    kind: EntryKind
    mode: int
    size: int = 0
    mtime_ms: int = 0
    sha256: str = ""
    blob: str = ""
    offset: int = 0
    target: str = ""

    def same_as(self, other: "Entry") -> bool:
        """True if both describe the same path equally, wherever the content is stored."""
        return (self.path, self.kind, self.mode, self.sha256, self.target) == (
            other.path,
            other.kind,
            other.mode,
            other.sha256,
            other.target,
        )


@dataclass(frozen=True)
class Tree:
    """The entries of a checkpoint, sorted by path: a folder before its contents. `name` is its manifest's ("" before it
    is stored), `base` the manifest that it is a difference to (None if it is complete)."""

    entries: tuple[Entry, ...] = ()
    name: str = field(default="", compare=False)
    base: "Tree | None" = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(entries: Iterable[Entry]) -> "Tree":
        """A tree from entries in any order, each path once."""
        return Tree(tuple(sorted(entries)))

    @cached_property
    def by_path(self) -> Mapping[str, Entry]:
        return {entry.path: entry for entry in self.entries}

    @cached_property
    def places(self) -> Mapping[str, tuple[str, int]]:
        """The place of each content: hash to (blob, offset)."""
        return {entry.sha256: (entry.blob, entry.offset) for entry in self.entries if entry.blob}

    @property
    def files(self) -> int:
        """The number of files, links included, folders not."""
        return sum(entry.kind != "directory" for entry in self.entries)

    @property
    def size_bytes(self) -> int:
        return sum(entry.size for entry in self.entries if entry.kind == "file")

    def same_as(self, other: "Tree") -> bool:
        """True if both have equal entries."""
        return len(self.entries) == len(other.entries) and all(map(Entry.same_as, self.entries, other.entries))


EMPTY: Final = Tree()


@dataclass(frozen=True, slots=True)
class Header:
    """A manifest's first line: its totals, the blobs that hold its contents, and the manifest that it is a difference
    to, whose blobs it may need too ("" if it is complete)."""

    files: int
    size_bytes: int
    blobs: tuple[str, ...]
    base: str = ""


Load = Callable[[str], Tree]
"""Returns the complete tree of a manifest, by name."""


def encode(tree: Tree, base: Tree | None = None) -> tuple[bytes, Tree | None]:
    """(the manifest, the base that it is a difference to or None for a complete one). Equal trees, stored in the same
    places and against the same base, give equal bytes."""
    differing = None if base is None or len(tree.entries) < MANY else _differing(tree, base)
    if differing is None:
        return _manifest(tree, list(tree.entries)), None
    assert base is not None
    entries, removed = differing
    return _manifest(tree, entries, base.name, removed), base


def decode(manifest: bytes, load: Load | None = None) -> Tree:
    """The tree of a manifest; `load` returns its base. Raises `StoredFileDamaged` for invalid data."""
    try:
        head, body = manifest.split(b"\n", 1)
        facts = _checked_head(head)
        entries = [_lengthened(row, facts["blobs"]) for row in json.loads(body)]
        if not facts.get("base"):
            return Tree(tuple(entries))
        if load is None:
            raise ValueError("a base is needed")
        base = load(facts["base"])
        removed = set(facts["removed"]).union(entry.path for entry in entries)
        unchanged = (entry for entry in base.entries if entry.path not in removed)
        return replace(Tree.of([*unchanged, *entries]), base=base)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise StoredFileDamaged("A checkpoint's manifest is damaged.") from error


def header(manifest: bytes) -> Header:
    """The first line alone; the rest may be missing. Raises `StoredFileDamaged`."""
    try:
        facts = _checked_head(manifest.split(b"\n", 1)[0])
        sums = int(facts["files"]), int(facts["size_bytes"])
        return Header(*sums, tuple(facts["blobs"]), facts.get("base", ""))
    except (ValueError, KeyError, TypeError) as error:
        raise StoredFileDamaged("A checkpoint's manifest is damaged.") from error


def kind_of(mode: int) -> EntryKind | None:
    """The kind that `st_mode` encodes, or None if a checkpoint does not keep it (a socket, pipe or device)."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else None


def _manifest(tree: Tree, entries: list[Entry], base: str = "", removed: Sequence[str] = ()) -> bytes:
    blobs = sorted({entry.blob for entry in entries if entry.blob})
    number = {blob: at for at, blob in enumerate(blobs)}
    head: dict[str, Any] = {"version": VERSION, "files": tree.files, "size_bytes": tree.size_bytes}
    head["blobs"] = blobs
    if base:
        head |= {"base": base, "removed": list(removed)}
    return b"%b\n%b\n" % (_json(head), _json([_shortened(entry, number) for entry in entries]))


def _differing(tree: Tree, base: Tree) -> tuple[list[Entry], list[str]] | None:
    """(new or changed entries, removed paths), or None if there are too many."""
    old, new = base.by_path, tree.by_path
    entries = [entry for entry in tree.entries if old.get(entry.path) != entry]
    removed = [entry.path for entry in base.entries if entry.path not in new]
    return (entries, removed) if (len(entries) + len(removed)) * FEW <= len(tree.entries) else None


def _checked_head(line: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(line)
    if facts["version"] != VERSION:
        raise ValueError(f"version {facts['version']}")
    return facts


def _shortened(entry: Entry, number: Mapping[str, int]) -> list[Any]:
    if entry.kind == "directory":
        return [entry.path, "d", entry.mode, entry.mtime_ms]
    if entry.kind == "symlink":
        return [entry.path, "l", entry.mode, entry.mtime_ms, entry.target]
    place = [number[entry.blob], entry.offset] if entry.blob else []
    return [entry.path, "f", entry.mode, entry.mtime_ms, entry.size, entry.sha256, *place]


def _lengthened(row: list[Any], blobs: list[str]) -> Entry:
    path, letter, mode, mtime_ms = row[:4]
    if letter == "d":
        return Entry(path, "directory", mode, 0, mtime_ms)
    if letter == "l":
        return Entry(path, "symlink", mode, len(row[4]), mtime_ms, target=row[4])
    size, sha256, *place = row[4:]
    return Entry(path, "file", mode, size, mtime_ms, sha256, *((blobs[place[0]], place[1]) if place else ()))


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode("ascii")
