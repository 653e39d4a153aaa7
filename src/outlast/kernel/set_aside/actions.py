"""What administrators do with items that are set aside: see them, have them tried again, delete them. Each verb
takes `ServerRight.ADMINISTER`.
"""

from collections.abc import Callable, Mapping
from typing import Final

from outlast.base.errors import NotDeletable
from outlast.base.supervision.items import SetAside
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_administrator
from outlast.kernel.runs import timers
from outlast.kernel.sandboxes import store as sandbox_rows
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.set_aside import kinds, store


@in_read
def list_set_aside(tx: Tx, actor: Actor) -> list[SetAside]:
    """The items, newest first, at most 500; `kinds.TITLES` names their kinds."""
    require_administrator(tx, actor)
    return store.listed(tx)


def is_deletable(kind: str) -> bool:
    """Whether items of this kind can be given up here."""
    return kind in _GIVE_UP


async def try_again(services: Services, actor: Actor, kind: str, item_id: str) -> SetAside:
    """Have an item tried again, as if it had never failed; on every node. What it was. Raises `NotFound`."""

    def change(tx: Tx) -> SetAside:
        require_administrator(tx, actor)
        return store.remove(tx, kind, item_id)

    found = await services.db.write(change)
    services.supervisor.guard.forget(kind, item_id)
    return found


@in_write
def delete_set_aside(tx: Tx, actor: Actor, kind: str, item_id: str) -> SetAside:
    """Give an item up for good: a timer is removed, the files of a deleted workspace stay on disk and nobody looks at
    them again. What it was. Raises `NotFound`, and `NotDeletable` for a kind that is deleted where it is made (a
    source, a file, a sandbox)."""
    require_administrator(tx, actor)
    found = store.remove(tx, kind, item_id)
    give_up = _GIVE_UP.get(kind)
    if give_up is None:
        raise NotDeletable("Items of this kind are not deleted here.", kind=kind)
    give_up(tx, item_id)
    return found


def _give_up_timer(tx: Tx, item_id: str) -> None:
    kind, _, subject_id = item_id.partition(":")
    timers.forget(tx, kind, subject_id)


_GIVE_UP: Final[Mapping[str, Callable[[Tx, str], None]]] = {
    kinds.TIMER: _give_up_timer,
    kinds.WORKSPACE_REMOVAL: sandbox_rows.collected,
}
