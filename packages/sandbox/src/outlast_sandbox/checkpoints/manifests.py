"""Manifests as blobs: writes, reads and checks them, and lists the blobs that they need."""

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
    """Store the tree's manifest, as a difference to that of `before` if this is shorter; return the tree with its name.
    Blocks."""
    manifest, base = encode(tree, before and (before.base or (before if before.name else None)))
    return replace(tree, name=blobs.put(manifest), base=base)


def read_tree(blobs: Blobs, name: str) -> Tree:
    """The tree of a stored manifest. Raises `StoredFileDamaged` if it is damaged, and the error of the blobs if it is
    missing. Blocks."""
    manifest = blobs.read(name, 0, None)
    if hashlib.sha256(manifest).hexdigest() != name:
        raise StoredFileDamaged("A checkpoint's manifest is damaged.", blob=name)
    return replace(decode(manifest, partial(read_tree, blobs)), name=name)


def needed_blobs(blobs: Blobs, manifests: Iterable[str]) -> set[str]:
    """The blobs that manifests need besides themselves; only their first lines are read. Errors as for `read_tree`.
    Blocks."""
    heads = [_head(blobs, name) for name in manifests]
    bases = {head.base for head in heads if head.base}
    heads += [_head(blobs, name) for name in bases]  # a base is always complete: it has no base itself
    return bases.union(*(head.blobs for head in heads))


def _head(blobs: Blobs, name: str) -> Header:
    line = b""
    while b"\n" not in line:
        piece = blobs.read(name, len(line), HEAD_BYTES)
        if not piece:
            break
        line += piece
    return header(line)
