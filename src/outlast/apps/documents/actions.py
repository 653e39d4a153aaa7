"""Documents: create, list, read, rename, delete, export as Markdown. Their changes and history:
`edits/actions.py`, `history/`; locks of sections: `section_locks.py`."""

from typing import Any

import anyio.to_thread

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import store
from outlast.apps.documents.content.markdown_parse import Cuts
from outlast.apps.documents.content.markdown_render import join
from outlast.apps.documents.edits.write import Author, commit
from outlast.apps.documents.history import summaries, versions
from outlast.apps.documents.settings import DocumentSettings
from outlast.apps.documents.shapes import DocumentData, DocumentView, InsertBlockChange
from outlast.apps.documents.store import require_document
from outlast.apps.documents.tables import documents as documents_table
from outlast.base.errors import TooManyDocuments
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_line, checked_markdown
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.services import Services, in_read
from outlast.kernel.subjects.deletion import demand_idle
from outlast.kernel.subjects.rules import demand_room
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.called_threads import delete_called
from outlast.kernel.threads.shapes import ThreadData

UNTITLED = "Untitled document"


async def create_document(
    services: Services,
    actor: Actor,
    project_id: str,
    *,
    title: str | None = None,
    markdown: str = "",
    key: str | None = None,
) -> DocumentView:
    """Create a document with its own conversation (editors). Without a title it gets that of its first heading. A
    repeated `key` returns the first answer. Raises `MalformedInput`, `InputTooLarge`, `TooManyDocuments`,
    `DocumentFull`, `RateLimited`; then nothing was created."""
    title_chars = services.settings.limits.title_chars
    chosen = None if title is None else checked_line("The title", title, title_chars)
    text = whole_text(services, markdown)
    await services.db.read(require, actor, project_id, Right.EDIT)  # before the slow part
    cuts = Cuts()
    parts = await anyio.to_thread.run_sync(cuts.cut, text)  # seconds, in the worst case
    heading = " ".join(next((part.heading for part in parts if part.heading), "").split())
    shown = chosen or heading[:title_chars].strip() or UNTITLED
    asked = request_hash("document", project_id, chosen, text)

    def produce(tx: Tx) -> dict[str, Any]:
        check_made_rate(tx, documents_table, actor.user_id, services.settings.limits.documents_per_minute_per_user)
        most = services.settings.of(DocumentSettings).most_per_project
        demand_room(TooManyDocuments, "documents", project_id, store.count(tx, project_id), most)
        return {"id": _add(tx, services, actor, project_id, shown, text, cuts)}

    def run(tx: Tx) -> DocumentView:
        require(tx, actor, project_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx))
        return view(tx, made["id"])

    return await services.db.write(run)


@in_read
def list_documents(
    tx: Tx, actor: Actor, project_id: str, after: str | None = None, limit: int = 100
) -> Listed[DocumentData, str]:
    """The project's documents, oldest first, without their text."""
    require(tx, actor, project_id, Right.READ)
    return store.list_documents(tx, project_id, after, limit)


@in_read
def read_document(tx: Tx, actor: Actor, document_id: str) -> DocumentView:
    """One document with its text, and the locks of its sections."""
    require_document(tx, actor, document_id, Right.READ)
    return view(tx, document_id)


def whole_text(services: Services, markdown: str) -> str:
    """A text for creation or import, cleaned. Raises `InputTooLarge`."""
    most = services.settings.of(DocumentSettings).text_chars
    return checked_markdown(markdown, most, "Import it in parts, or create several documents.")


def view(tx: Tx, document_id: str) -> DocumentView:
    """Like `read_document`, inside a transaction."""
    data = store.document_data(tx, document_id)
    sections = store.sections_data(tx, store.tree(tx, document_id))
    return DocumentView.model_construct(**dict(data), sections=sections)


async def rename_document(services: Services, actor: Actor, document_id: str, title: str) -> DocumentData:
    """Give a document and its own conversation another title (editors). Raises `MalformedInput`, `InputTooLarge`."""
    line = checked_line("The title", title, services.settings.limits.title_chars)

    def run(tx: Tx) -> DocumentData:
        require_document(tx, actor, document_id, Right.EDIT)
        row = store.hold(tx, document_id)
        if row.title != line:
            store.update(tx, document_id, title=line)
            threads.rename(tx, row.thread_id, row.project_id, line)
            threads.announce(tx, row.thread_id)
            store.announce(tx, document_id, by=actor.user_id)
        return store.document_data(tx, document_id)

    return await services.db.write(run)


async def delete_document(services: Services, actor: Actor, document_id: str) -> None:
    """Remove a document with its history, comments, proposals and all conversations about it (owners). Raises
    `ThreadBusy` while a run of one of them, or of an agent that they called, has not ended; then nothing was removed,
    unless the run began meanwhile."""

    def demand(tx: Tx) -> list[str]:
        require_document(tx, actor, document_id, Right.OWN)
        about = store.threads_about(tx, store.hold(tx, document_id))  # held before its threads
        for thread_id in about:
            demand_idle(tx, thread_id, "in a conversation about this document")
        return about

    def run(tx: Tx) -> None:
        about = demand(tx)
        project_id = store.document_of(tx, document_id).project_id
        unasked = locking.drop_all(tx, [section.id for section in store.tree(tx, document_id).sections])
        store.delete(tx, document_id)
        store.tell_inbox(tx, project_id, unasked)
        for thread_id in about:
            give_up(tx, project_id, thread_id)
            threads.delete_thread(tx, thread_id)

    await delete_called(services.db, demand)
    await services.db.write(run)


@in_read
def export_markdown(tx: Tx, actor: Actor, document_id: str, version: int | None = None) -> tuple[str, str]:
    """A document's title and its text as Markdown, current or at a version. Raises `NotFound`."""
    row = require_document(tx, actor, document_id, Right.READ)
    content = versions.tree_at(tx, document_id, version)
    return row.title, join((section, section.blocks) for section in content.sections)


@in_read
def list_document_threads(tx: Tx, actor: Actor, document_id: str) -> list[ThreadData]:
    """The document's own conversation and those about parts of it, archived ones included, oldest first."""
    row = require_document(tx, actor, document_id, Right.READ)
    return [threads.thread_data(tx, thread_id) for thread_id in store.threads_about(tx, row)]


def _add(tx: Tx, services: Services, actor: Actor, project_id: str, title: str, text: str, cuts: Cuts) -> str:
    document_id = new_id("document")
    anchor = {"type": "document", "id": document_id, "document_id": document_id}
    thread_id = threads.add_thread(tx, project_id, actor.user_id, title=title, profile="document", anchor=anchor)
    store.add(tx, document_id, project_id, actor.user_id, thread_id=thread_id, title=title)
    threads.announce(tx, thread_id)
    store.announce(tx, document_id, actor.user_id, created=True)
    if any(part.level or part.pieces for part in cuts.cut(text)):
        row = store.hold(tx, document_id)
        author = Author("created", actor.user_id, summary=summaries.CREATED)
        whole = InsertBlockChange(op="insert_block", section_id=None, after=None, markdown=text)
        commit(tx, row, [whole], author, services.settings, cuts)
    return document_id
