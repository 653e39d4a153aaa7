"""Which nodes may work on one database. Pure."""

from collections.abc import Iterable
from typing import Final, NamedTuple

LOCAL: Final = "local"  # the provider whose sandboxes only their own server reaches


class Fit(NamedTuple):
    """What has to fit: the id of a node, the name of its machine, its store of files, its provider of sandboxes (or
    empty)."""

    id: str
    host: str
    blobs: str
    sandbox: str


class Misfit(NamedTuple):
    """Why a node may not start, and what to do. `other`: the node that is in the way."""

    other: str
    reason: str
    hint: str


def find_misfit(mine: Fit, living: Iterable[Fit]) -> Misfit | None:
    """The first reason why a node may not work beside the living ones; None if it may."""
    for other in living:
        if other.id == mine.id:
            continue
        if other.blobs != mine.blobs:
            return Misfit(
                other.id,
                f"Another server of this database, on {other.host}, keeps stored files elsewhere: neither finds the "
                "other's.",
                "Give both the same blobs.url: a bucket (s3://BUCKET/PREFIX), or one folder that all machines mount.",
            )
        if mine.sandbox and other.sandbox and LOCAL in (mine.sandbox, other.sandbox):
            theirs = "there" if other.sandbox == LOCAL else "here"
            return Misfit(
                other.id,
                f"Another server of this database, on {other.host}, has sandboxes too, and those of the provider "
                f'"{LOCAL}" can be reached only {theirs}.',
                'Let sandboxes run where every server reaches them, or set sandbox.provider = "none" on all but one.',
            )
    return None
