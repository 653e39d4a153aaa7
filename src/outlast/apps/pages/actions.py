"""Pages: make, list, read, rename, delete them. What people do on them: `page_actions.py`; their history:
`version_actions.py`; copies: `copies.py`; links for others: `link_actions.py`; what ran for them: `code_actions.py`."""

from contextlib import suppress
from typing import Any

import anyio.to_thread

from outlast.apps.pages import store, versions
from outlast.apps.pages.clean_pages import LEAST_CHARS
from outlast.apps.pages.permissions import require_page
from outlast.apps.pages.rules import UNTITLED, demand_room
from outlast.apps.pages.shapes import PageData
from outlast.apps.pages.tables import pages as pages_table
from outlast.apps.pages.versions import Rules
from outlast.base.errors import OutlastError, ThreadBusy
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_line, clean
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.orphans import collect
from outlast.kernel.sandboxes.seeds import empty_workspace
from outlast.kernel.sandboxes.store import announce_to_project, give_up
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import new_subject
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.rows import ThreadRow


async def create_page(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    title: str | None = None,
    html: str = "",
    key: str | None = None,
) -> PageData:
    """Make a page with its conversation and the workspace where its code will run (editors); no sandbox is made for it.
    `html` is sanitised. A repeated `key` gets the first answer. Raises `MalformedInput`, `InputTooLarge`,
    `TooManyPages`, `RateLimited`; then nothing was made."""
    chosen = None if title is None else checked_title(services, title)
    given = clean(html)
    asked = request_hash("page", project_id, chosen, given)

    def produce(tx: Tx) -> dict[str, Any]:
        demand_page(tx, services, actor, project_id)
        return {"id": _add(tx, services, actor, project_id, chosen, given)}

    def run(tx: Tx) -> PageData:
        require(tx, actor, project_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx))
        return store.page_data(tx, made["id"], html=True)

    if len(given) >= LEAST_CHARS:
        await services.db.read(require, actor, project_id, Right.EDIT)
        await anyio.to_thread.run_sync(services.state(Rules).clean.prepare, given, services.state(Rules).html_bytes)
    data = await services.db.write(run)
    services.warm(data.thread_id)
    return data


async def list_pages(
    services: Services, actor: Actor, project_id: str, after: str | None = None, limit: int = 100
) -> Listed[PageData, str]:
    """The project's pages, oldest first, without their HTML."""

    def run(tx: Tx) -> Listed[PageData, str]:
        require(tx, actor, project_id, Right.READ)
        return Listed(*store.list_pages(tx, project_id, after, limit))

    return await services.db.read(run)


async def read_page(services: Services, actor: Actor, page_id: str) -> PageData:
    """One page with its HTML."""

    def run(tx: Tx) -> PageData:
        require_page(tx, actor, page_id, Right.READ)
        return store.page_data(tx, page_id, html=True)

    return await services.db.read(run)


async def rename_page(services: Services, actor: Actor, page_id: str, title: str) -> PageData:
    """Give a page and its conversation a title of one's own choice (editors); the agent's is not taken any more. Raises
    `MalformedInput`, `InputTooLarge`."""
    line = checked_title(services, title)

    def run(tx: Tx) -> PageData:
        require_page(tx, actor, page_id, Right.EDIT)
        row = store.hold(tx, page_id)
        if row.title != line or not row.named:
            store.update(tx, page_id, title=line, named=True)
            threads.rename(tx, row.thread_id, row.project_id, line)
            threads.announce(tx, row.thread_id)
            store.announce(tx, page_id, by=actor.user_id)
        return store.page_data(tx, page_id, html=True)

    return await services.db.write(run)


async def delete_page(services: Services, actor: Actor, page_id: str) -> None:
    """Remove a page with its history, conversation, files, links and sandbox (owners). Modules that were published
    stay. Raises `ThreadBusy` while a run of it has not ended. Once this returns it is gone; a sandbox that could not be
    ended now is ended later."""

    def run(tx: Tx) -> None:
        require_page(tx, actor, page_id, Right.OWN)
        row = store.hold(tx, page_id)  # before its thread, as everywhere
        demand_idle(tx, row.thread_id)
        store.delete(tx, page_id)
        give_up(tx, row.project_id, None, announce_to_project, workspace_id=row.workspace_id)
        threads.delete_thread(tx, row.thread_id)

    await services.db.write(run)
    services.state(Rules).live.forget(page_id)
    if services.machines is not None:
        with suppress(OutlastError):  # noted in the tables, and tried again every few minutes
            await collect(services.machines)


def checked_title(services: Services, title: str) -> str:
    """A page's title. Raises `MalformedInput`, `InputTooLarge`."""
    return checked_line("The title", title, services.settings.limits.title_chars)


def demand_page(tx: Tx, services: Services, actor: Actor, project_id: str) -> None:
    """Raise `RateLimited` or `TooManyPages` where the actor may not make one more page in the project."""
    check_made_rate(tx, pages_table, actor.user_id, services.settings.limits.pages_per_minute_per_user)
    demand_room(store.count(tx, project_id), services.settings.pages.most_per_project)


def demand_idle(tx: Tx, thread_id: str) -> ThreadRow:
    """The thread's row, held until the transaction ends. Raises `ThreadBusy` while a run of it has not ended."""
    thread = threads.hold(tx, thread_id)
    if thread.active_run_id is not None:
        raise ThreadBusy(
            "The agent still works on this page, or waits for a person.",
            hint="Wait for it, or stop it first.",
            thread_id=thread_id,
            active_run_id=thread.active_run_id,
        )
    return thread


def _add(tx: Tx, services: Services, actor: Actor, project_id: str, title: str | None, html: str) -> str:
    def make_workspace(page_id: str, thread_id: str) -> str:
        return empty_workspace(tx, ("page", page_id), project_id=project_id, thread_id=thread_id)

    new = new_subject(tx, actor, "page", project_id, title, UNTITLED, make_workspace)
    store.add(tx, new)
    if html.strip():
        versions.begin(tx, new.id, services.state(Rules), html, by=actor.user_id)
    threads.announce(tx, new.thread_id)
    store.announce(tx, new.id, "page.created", by=actor.user_id)
    return new.id
