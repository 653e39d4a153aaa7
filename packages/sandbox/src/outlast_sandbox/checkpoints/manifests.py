"""Manifests as blobs: written, read back and checked, and which blobs they need."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.tree import Header, Tree, decode, encode, header
from outlast_sandbox.errors import StoredFileDamaged

HEAD_BYTES: Final = 64 * 1024


def write_tree(blobs: Blobs, tree: Tree, before: Tree | None = None) -> Tree:
    """Store the tree's manifest, against the one that `before` has where that is shorter: the tree with its name.
    Blocks."""
    manifest, base = encode(tree, before and (before.base or (before if before.name else None)))
    return replace(tree, name=blobs.put(manifest), base=base)


def read_tree(blobs: Blobs, name: str) -> Tree:
    """The tree of a stored manifest. Raises `StoredFileDamaged` when it is not what was stored, and what the blobs
    raise where it is missing. Blocks."""
    manifest = blobs.read(name, 0, None)
    if hashlib.sha256(manifest).hexdigest() != name:
        raise StoredFileDamaged("A checkpoint's manifest is damaged.", blob=name)
    return replace(decode(manifest, partial(read_tree, blobs)), name=name)


def needed_blobs(blobs: Blobs, manifests: Iterable[str]) -> set[str]:
    """The blobs that manifests need besides themselves; only their first lines are read. Errors as of `read_tree`.
    Blocks."""
    heads = [_head(blobs, name) for name in manifests]
    bases = {head.base for head in heads if head.base}
    heads += [_head(blobs, name) for name in bases]  # a base is always whole: it has none itself
    return bases.union(*(head.blobs for head in heads))


def _head(blobs: Blobs, name: str) -> Header:
    line = b""
    while b"\n" not in line:
        piece = blobs.read(name, len(line), HEAD_BYTES)
        if not piece:
            break
        line += piece
    return header(line)
