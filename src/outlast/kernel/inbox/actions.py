"""The actor's inbox."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from outlast.base.errors import CursorUnknown
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry
from outlast.kernel.lists import Listed
from outlast.kernel.locks import thread_locks
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.inbox_items import InboxItem, InboxPart, InboxSource, Waiting
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import inbox as runs
from outlast.kernel.schedules import inbox as schedules
from outlast.kernel.services import Services

_OWN: Final[Sequence[InboxSource]] = (runs.waiting, thread_locks.waiting, mentions.waiting, schedules.waiting)


def sources() -> Sequence[InboxSource]:
    """The sources of inbox items: the kernel's own, and those of the apps."""
    return (*_OWN, *registry.load().inbox)


async def read_inbox(
    services: Services, actor: Actor, project_id: str | None, limit: int, before: str | None
) -> Listed[InboxItem, str]:
    """The inbox of the actor in one project (None for all of theirs), newest first: open approvals and questions where
    the actor may edit; open proposals of conversations that the actor began, drives or asked; requests to hand over
    threads and sections; mentions of the actor and comments assigned to them. At most `limit` items from a position on:
    of each kind at most `limit` rows and one more are read. Items that disappear meanwhile do not shift the page.
    Raises `CursorUnknown`."""
    part = InboxPart(limit + 1, None if before is None else _place(before))
    found = await services.db.read(_waiting, actor, project_id, part)
    shown = found[:limit]
    last = _named(*shown[-1]) if len(found) > limit else None
    return Listed([item for _, item in shown], last)


def _waiting(tx: Tx, actor: Actor, project_id: str | None, part: InboxPart) -> list[Waiting]:
    if project_id is not None:
        require(tx, actor, project_id, Right.READ)
    found = [one for find in sources() for one in find(tx, actor.user_id, project_id, part)]
    return sorted(found, key=lambda one: (one[0], one[1].id), reverse=True)


def _named(moment: datetime, item: InboxItem) -> str:
    """A position as text that needs no quoting in a URL."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat()}Z~{item.id}"


def _place(before: str) -> tuple[datetime, str]:
    moment, separator, item_id = before.partition("~")
    with suppress(ValueError):
        at = datetime.fromisoformat(moment)
        if separator and at.tzinfo is not None:
            return at, item_id
    raise CursorUnknown(f"{before[:100]!r} is not a cursor of an inbox.")
