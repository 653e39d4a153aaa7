"""What can wait in an inbox: the kernel's own kinds, and those that apps add when they are loaded."""

from collections.abc import Callable, Sequence

from outlast.db.database import Tx
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.items import InboxPart, Waiting
from outlast.kernel.runs import inbox as runs
from outlast.kernel.threads import driver

Source = Callable[[Tx, str, str | None, InboxPart | None], list[Waiting]]
"""Given the open transaction, a user's id, a project (None: all of theirs) and a part: what waits for the user."""

_sources: list[Source] = [runs.waiting, driver.waiting, mentions.waiting]


def register(source: Source) -> None:
    """Add an app's kind of item; again is fine."""
    if source not in _sources:
        _sources.append(source)


def sources() -> Sequence[Source]:
    """Every kind."""
    return tuple(_sources)
