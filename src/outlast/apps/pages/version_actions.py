"""Earlier versions of pages: list, read, undo, restore."""

from collections.abc import Callable

from outlast.apps.pages import store, versions
from outlast.apps.pages.shapes import PageData, PageVersion, VersionAnswer
from outlast.apps.pages.store import require_page
from outlast.apps.pages.versions import Rules
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.locks import thread_locks
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read
from outlast.kernel.subjects.deletion import demand_idle


@in_read
def list_versions(
    tx: Tx, actor: Actor, page_id: str, before: int | None = None, limit: int = 50
) -> Listed[PageVersion, int]:
    """A page's history, newest first; with `before`, older versions only."""
    require_page(tx, actor, page_id, Right.READ)
    return versions.list_versions(tx, page_id, before, limit)


@in_read
def read_version(tx: Tx, actor: Actor, page_id: str, version: int) -> VersionAnswer:
    """An earlier version of a page. Raises `NotFound` if it never existed or is no longer stored."""
    require_page(tx, actor, page_id, Right.READ)
    line = versions.version_of(tx, page_id, version)
    return VersionAnswer(**line.model_dump(), html=versions.html_at(tx, page_id, version))


async def undo_page(services: Services, actor: Actor, page_id: str) -> PageData:
    """Undo the changes of the last run, or of the last person, to a page (editors; refused if another member holds the
    again: what came before. Raises `ThreadBusy` while a run of it has not ended, `ThreadLocked`, `NothingToUndo`."""
    rules = services.state(Rules)
    return await services.db.write(
        _go_back, actor, page_id, lambda tx: versions.undo(tx, page_id, rules, actor.user_id)
    )


async def restore_page(services: Services, actor: Actor, page_id: str, version: int) -> PageData:
    """Restore a version of a page (editors; refused if another member holds the lock). Repeating is harmless.
    Raises as `undo_page`, and `NotFound` if the version never existed or is no longer stored."""
    rules, by = services.state(Rules), actor.user_id
    return await services.db.write(
        _go_back, actor, page_id, lambda tx: versions.restore(tx, page_id, rules, version, by)
    )


def _go_back(tx: Tx, actor: Actor, page_id: str, change: Callable[[Tx], int]) -> PageData:
    require_page(tx, actor, page_id, Right.EDIT)
    row = store.hold(tx, page_id)
    thread_locks.demand_not_locked(tx, row.thread_id, actor)
    demand_idle(tx, row.thread_id, "on this page")
    if change(tx) != row.version:
        store.update(tx, page_id, problems=[])  # the problems of a page that was replaced
        store.announce(tx, page_id, by=actor.user_id)
    return store.page_data(tx, page_id)
