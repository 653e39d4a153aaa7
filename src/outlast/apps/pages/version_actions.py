"""What pages were, and making them so again: versions, undo, restore."""

from collections.abc import Callable

from outlast.apps.pages import store, versions
from outlast.apps.pages.actions import demand_idle
from outlast.apps.pages.permissions import require_page
from outlast.apps.pages.shapes import PageData, PageVersion
from outlast.apps.pages.versions import Rules
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services
from outlast.kernel.threads import driver as driving


async def list_versions(
    services: Services, actor: Actor, page_id: str, before: int | None = None, limit: int = 50
) -> Listed[PageVersion, int]:
    """A page's history, newest first; those before a version."""

    def run(tx: Tx) -> Listed[PageVersion, int]:
        require_page(tx, actor, page_id, Right.READ)
        return Listed(*versions.list_versions(tx, page_id, before, limit))

    return await services.db.read(run)


async def read_version(services: Services, actor: Actor, page_id: str, version: int) -> tuple[PageVersion, str]:
    """A page as it was: the line of its history, and the HTML. Raises `NotFound` for a version that never was, or is
    not kept any more."""

    def run(tx: Tx) -> tuple[PageVersion, str]:
        require_page(tx, actor, page_id, Right.READ)
        return versions.version_of(tx, page_id, version), versions.html_at(tx, page_id, version)

    return await services.db.read(run)


async def undo_page(services: Services, actor: Actor, page_id: str) -> PageData:
    """Take back what the last run, or the last person, made of a page (editors who are not kept out by another's lock);
    again: what came before. Raises `ThreadBusy` while a run of it has not ended, `ThreadLocked`, `NothingToUndo`."""
    return await _go_back(services, actor, page_id, lambda tx: _undo(tx, services, actor, page_id))


async def restore_page(services: Services, actor: Actor, page_id: str, version: int) -> PageData:
    """Make a page what it was at a version (editors who are not kept out by another's lock). Repeating is harmless.
    Raises as `undo_page`, and `NotFound` for a version that never was, or is not kept any more."""
    return await _go_back(
        services,
        actor,
        page_id,
        lambda tx: versions.restore(tx, page_id, services.state(Rules), version, actor.user_id),
    )


async def _go_back(services: Services, actor: Actor, page_id: str, change: Callable[[Tx], int]) -> PageData:
    def run(tx: Tx) -> PageData:
        require_page(tx, actor, page_id, Right.EDIT)
        row = store.hold(tx, page_id)
        driving.demand_not_locked(tx, row.thread_id, actor)
        demand_idle(tx, row.thread_id)
        if change(tx) != row.version:
            store.update(tx, page_id, problems=[])  # of a page that is not there any more
            store.announce(tx, page_id, by=actor.user_id)
        return store.page_data(tx, page_id, html=True)

    return await services.db.write(run)


def _undo(tx: Tx, services: Services, actor: Actor, page_id: str) -> int:
    return versions.undo(tx, page_id, services.state(Rules), actor.user_id)
