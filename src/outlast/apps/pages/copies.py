"""Copies of pages: duplicated, or with a fork of their conversation. HTML, files, modules and messages are copied;
the copy is independent from then on."""

from outlast.apps.pages import store, versions
from outlast.apps.pages.actions import check_room
from outlast.apps.pages.rows import PageRow
from outlast.apps.pages.shapes import PageData
from outlast.apps.pages.versions import Rules
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry
from outlast.kernel.library.modules import LIBRARY, ModuleOrigin, NewModule
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import copy_conversation, duplicate
from outlast.kernel.subjects.subject import NewSubject
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.message_store import message_in


async def duplicate_page(services: Services, actor: Actor, page_id: str, *, key: str | None = None) -> PageData:
    """Copy a page with its current HTML, files and conversation (editors). While a run works there, the files are those
    after its last tool call. Actions and links are not copied. A repeated `key` returns the first answer. Raises
    `TooManyPages`, `RateLimited`; then nothing was created."""

    def copy(tx: Tx, title: str) -> NewSubject:
        return copy_page(tx, services, actor, page_id, title, None)

    return await duplicate(services, actor, store.PAGES, page_id, copy, store.page_data, key)


def copy_page(tx: Tx, services: Services, actor: Actor, page_id: str, title: str, message_id: str | None) -> NewSubject:
    """Copy a page with the conversation up to a message, and HTML and files as they were then; without a message all of
    it, and the files as last saved. Publishes to followers. Raises `NotFound` for a message of another thread,
    `TooManyPages`, `RateLimited`."""
    source = store.hold(tx, page_id)
    threads.hold(tx, source.thread_id)  # before the project
    check_room(tx, services, actor, source.project_id)
    new = copy_conversation(tx, actor, "page", source, title=title, message_id=message_id)
    store.add(tx, new)
    html = source.html if message_id is None else _html_then(tx, source, message_id)
    if html:
        versions.begin(tx, new.id, services.state(Rules), html, kind="copy", by=actor.user_id)
    if message_id is None:
        store.update(tx, new.id, problems=source.problems)
    _copy_modules(tx, source, new)
    threads.announce(tx, new.thread_id)
    store.announce(tx, new.id, actor.user_id, created=True)
    return new


def _copy_modules(tx: Tx, source: PageRow, copy: NewSubject) -> None:
    """Copy the announced modules, because the files are copied too. Rows whose files the copy does not have are removed
    by the next search."""
    library = registry.implementation(LIBRARY)
    for one in library.of_workspace(tx, source.workspace_id):
        known = one.verified_at is not None
        said = NewModule(one.path, one.description, one.exports, one.usage, one.content_hash, known)
        origin = ModuleOrigin(source.project_id, copy.id, one.user_id, one.run_id)
        library.save(tx, [said], origin, copy.workspace_id, one.dependencies or "")


def _html_then(tx: Tx, source: PageRow, message_id: str) -> str:
    """The page as it was when a message was written."""
    moment = message_in(tx, source.thread_id, message_id).created_at
    version = store.version_at(tx, source.id, moment)
    return versions.html_at(tx, source.id, version) if version else ""
