"""Pages: create, list, read, rename, delete. Actions on them: `user_actions.py`; their history: `version_actions.py`;
copies: `copies.py`; public links: `link_actions.py`; code that ran for them: `code_actions.py`."""

from typing import Any, Final

import anyio.to_thread

from outlast.apps.pages import store, versions
from outlast.apps.pages.clean_cache import MIN_CHARS
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.shapes import PageData
from outlast.apps.pages.store import require_page
from outlast.apps.pages.tables import pages as pages_table
from outlast.apps.pages.versions import Rules
from outlast.base.errors import TooManyPages
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_line, clean
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read
from outlast.kernel.subjects.deletion import delete_with_files
from outlast.kernel.subjects.new_subject import new_subject
from outlast.kernel.subjects.rules import demand_room
from outlast.kernel.threads import store as threads

UNTITLED: Final = "Untitled page"


async def create_page(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    title: str | None = None,
    html: str = "",
    key: str | None = None,
) -> PageData:
    """Create a page with its conversation and the workspace for its code (editors); no sandbox is created yet.
    `html` is sanitised. A repeated `key` returns the first answer. Raises `MalformedInput`, `InputTooLarge`,
    `TooManyPages`, `RateLimited`; then nothing was created."""
    chosen = None if title is None else _checked_title(services, title)
    given = clean(html)
    asked = request_hash("page", project_id, chosen, given)

    def produce(tx: Tx) -> dict[str, Any]:
        check_room(tx, services, actor, project_id)
        return {"id": _add(tx, services, actor, project_id, chosen, given)}

    def run(tx: Tx) -> PageData:
        require(tx, actor, project_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx))
        return store.page_data(tx, made["id"])

    if len(given) >= MIN_CHARS:
        await services.db.read(require, actor, project_id, Right.EDIT)
        await anyio.to_thread.run_sync(services.state(Rules).clean.prepare, given, services.state(Rules).html_bytes)
    data = await services.db.write(run)
    services.sandboxes.warm(data.thread_id)
    return data


@in_read
def list_pages(
    tx: Tx, actor: Actor, project_id: str, after: str | None = None, limit: int = 100
) -> Listed[PageData, str]:
    """The project's pages, oldest first, without their HTML."""
    require(tx, actor, project_id, Right.READ)
    return store.list_pages(tx, project_id, after, limit)


@in_read
def read_page(tx: Tx, actor: Actor, page_id: str) -> PageData:
    """One page with its HTML."""
    require_page(tx, actor, page_id, Right.READ)
    return store.page_data(tx, page_id)


async def rename_page(services: Services, actor: Actor, page_id: str, title: str) -> PageData:
    """Rename a page and its conversation (editors); titles by the agent are ignored from then on. Raises
    `MalformedInput`, `InputTooLarge`."""
    line = _checked_title(services, title)

    def run(tx: Tx) -> PageData:
        require_page(tx, actor, page_id, Right.EDIT)
        row = store.hold(tx, page_id)
        if row.title != line or not row.named:
            store.update(tx, page_id, title=line, named=True)
            threads.rename(tx, row.thread_id, row.project_id, line)
            threads.announce(tx, row.thread_id)
            store.announce(tx, page_id, by=actor.user_id)
        return store.page_data(tx, page_id)

    return await services.db.write(run)


async def delete_page(services: Services, actor: Actor, page_id: str) -> None:
    """Remove a page with its history, conversation, files, links and sandbox (owners). Published modules
    stay. Raises `ThreadBusy` while a run of it has not ended. When this returns, the page is gone; a sandbox that could
    not be ended now is ended later."""
    await delete_with_files(services, store.PAGES, actor, page_id)
    services.state(Rules).live.forget(page_id)


def _checked_title(services: Services, title: str) -> str:
    return checked_line("The title", title, services.settings.limits.title_chars)


def check_room(tx: Tx, services: Services, actor: Actor, project_id: str) -> None:
    """Raise `RateLimited` or `TooManyPages` if the actor may not create another page in the project."""
    check_made_rate(tx, pages_table, actor.user_id, services.settings.limits.pages_per_minute_per_user)
    most = services.settings.of(PageSettings).most_per_project
    demand_room(TooManyPages, "pages", project_id, store.count(tx, project_id), most)


def _add(tx: Tx, services: Services, actor: Actor, project_id: str, title: str | None, html: str) -> str:
    new = new_subject(tx, actor, "page", project_id, title, UNTITLED)
    store.add(tx, new)
    if html.strip():
        versions.begin(tx, new.id, services.state(Rules), html, by=actor.user_id)
    threads.announce(tx, new.thread_id)
    store.announce(tx, new.id, actor.user_id, created=True)
    return new.id
