"""What other installed packages bring, by the group of their entry points."""

from functools import cache
from importlib.metadata import EntryPoints, entry_points


def plugins(group: str) -> EntryPoints:
    """The entry points of a group. The installed packages are read once: each reading opens a file of every one."""
    return _installed().select(group=group)


@cache
def _installed() -> EntryPoints:
    return entry_points()
