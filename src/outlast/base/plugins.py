"""Plugins of other installed packages, by the group of their entry points."""

from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any


def plugins(group: str) -> EntryPoints:
    """The entry points of a group. The installed packages are read once, since each read opens a file per package."""
    found: EntryPoints = _installed().select(group=group)
    return found


@cache
def _installed() -> Any:  # its type differs from Python 3.12 on
    return entry_points()
