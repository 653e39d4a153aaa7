"""Edits by people, new content since a version, and earlier versions: changes, import, versions, restore."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio.to_thread

from outlast.apps.documents import shapes, store
from outlast.apps.documents.actions import whole_text
from outlast.apps.documents.content.markdown_parse import Cuts
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits.conflict_check import demand_document_seen
from outlast.apps.documents.edits.diff_view import difference
from outlast.apps.documents.edits.replacement import replaced
from outlast.apps.documents.edits.tree_diff import deltas
from outlast.apps.documents.edits.write import Author, Committed, commit, commit_tree
from outlast.apps.documents.history import summaries
from outlast.apps.documents.history import versions as history
from outlast.apps.documents.history.versions import changes_since
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.shapes import CHANGE_CHARS, CHANGES_CHARS
from outlast.apps.documents.store import require_document
from outlast.apps.documents.tables import document_versions
from outlast.base.errors import InputTooLarge, MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.rules import checked_markdown, clean
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read

TEXTS = ("markdown", "old", "heading")
FEW_CHARS = 2_000  # parsing this little is faster than switching to another thread
_BY_PEOPLE = document_versions.c.kind != "agent"


async def change_document(
    services: Services, actor: Actor, document_id: str, wanted: shapes.ChangesRequest, *, key: str | None = None
) -> shapes.DocumentChanges:
    """Make changes together, as one version, or none at all (editors). Returns everything new since the version `since`
    (None: only these changes). A repeated `key` changes nothing again. Raises `NotFound`, `TextChanged`,
    `SectionLocked`, `DocumentFull`, `MalformedInput`, `InputTooLarge`, `RateLimited`."""
    changes = [_checked(one) for one in wanted.changes]
    size = _demand_size(changes)
    author = Author("edit", actor.user_id, summary=clean(wanted.summary))
    asked = request_hash("changes", document_id, [one.model_dump() for one in changes], wanted.summary)
    if size > FEW_CHARS:  # before the slow part
        await services.db.read(require_document, actor, document_id, Right.EDIT)
    cuts = _cut(changes) if size <= FEW_CHARS else await anyio.to_thread.run_sync(_cut, changes)

    def write(tx: Tx, row: DocumentRow) -> Committed:
        return commit(tx, row, changes, author, services.settings, cuts)

    return await _write(services, actor, document_id, write, key, asked, wanted.since)


@in_read
def read_changes(tx: Tx, actor: Actor, document_id: str, since: int) -> shapes.DocumentChanges:
    """Everything new since a version. Raises `MalformedInput` for a version that does not exist yet."""
    return changes_since(tx, require_document(tx, actor, document_id, Right.READ), since)


async def import_markdown(
    services: Services, actor: Actor, document_id: str, wanted: shapes.ImportRequest, *, key: str | None = None
) -> shapes.DocumentChanges:
    """Insert a Markdown text behind a section (at the end if None), or replace the document (`replace`; unchanged parts
    keep their ids; `seen`: the version that the caller saw, newer text is not replaced). Editors. Raises as
    `change_document`."""
    if wanted.replace and wanted.after_section_id is not None:
        raise MalformedInput("A text that replaces the whole document cannot have a place.", field="after_section_id")
    text = whole_text(services, wanted.markdown)
    await services.db.read(require_document, actor, document_id, Right.EDIT)  # before the slow part
    cuts = Cuts()
    parts = await anyio.to_thread.run_sync(cuts.cut, text)  # seconds, in the worst case
    asked = request_hash("import", document_id, wanted.model_dump())

    def write(tx: Tx, row: DocumentRow) -> Committed:
        content = store.tree(tx, row.id)
        author = Author("import", actor.user_id, summaries.REPLACED if wanted.replace else summaries.IMPORTED)
        if not wanted.replace:
            return commit(tx, row, [_behind(content, wanted.after_section_id, text)], author, services.settings, cuts)
        demand_document_seen(document_id, row.version, wanted.seen)
        return commit_tree(tx, row, content, replaced(content, parts), author, services.settings)

    return await _write(services, actor, document_id, write, key, asked)


@in_read
def list_versions(
    tx: Tx, actor: Actor, document_id: str, before: int | None = None, limit: int = 50
) -> Listed[shapes.DocumentVersion, int]:
    """A document's history, newest first; with `before`, older versions only."""
    require_document(tx, actor, document_id, Right.READ)
    return history.list_versions(tx, document_id, before, limit)


@in_read
def read_version(tx: Tx, actor: Actor, document_id: str, version: int) -> shapes.DocumentVersionView:
    """A version with the text of the document then. Raises `NotFound`."""
    require_document(tx, actor, document_id, Right.READ)
    line = history.version_of(tx, document_id, version)
    content = store.sections_data(tx, history.tree_at(tx, document_id, version), past=True)
    return shapes.DocumentVersionView.model_construct(**dict(line), content=content)


@in_read
def compare_versions(
    tx: Tx, actor: Actor, document_id: str, before: int, after: int | None = None
) -> shapes.DocumentDifference:
    """The differences between two versions (0: the empty document; None: now), in either order. Raises
    `NotFound`."""
    require_document(tx, actor, document_id, Right.READ)
    return difference(history.tree_at(tx, document_id, before), history.tree_at(tx, document_id, after))


async def restore_version(
    services: Services, actor: Actor, document_id: str, version: int, *, seen: int | None = None
) -> shapes.DocumentChanges:
    """Restore the text of a version (editors), as a new version; sections and blocks get their ids back. `seen`: the
    version that the caller saw, newer text is not replaced. Repeating is harmless. Raises `NotFound`, `TextChanged`,
    `SectionLocked`, `RateLimited`."""

    def write(tx: Tx, row: DocumentRow) -> Committed:
        wanted, now = history.tree_at(tx, document_id, version), store.tree(tx, document_id)
        if deltas(now, wanted):
            demand_document_seen(document_id, row.version, seen)
        author = Author("restore", actor.user_id, summary=summaries.RESTORED.format(version=version))
        return commit_tree(tx, row, now, wanted, author, services.settings)

    return await _write(services, actor, document_id, write)


async def _write(
    services: Services,
    actor: Actor,
    document_id: str,
    write: Callable[[Tx, DocumentRow], Committed],
    key: str | None = None,
    asked: str = "",
    since: int | None = None,
) -> shapes.DocumentChanges:
    """Change a document in one transaction. Returns the content new since version `since` (None: only this change)."""

    def produce(tx: Tx, row: DocumentRow) -> dict[str, Any]:
        per_minute = services.settings.limits.changes_per_minute_per_user
        things = "changes of documents"
        check_made_rate(tx, document_versions, actor.user_id, per_minute, things=things, by="by", which=_BY_PEOPLE)
        return {"before": row.version, "made": dict(write(tx, row).made)}

    def run(tx: Tx) -> shapes.DocumentChanges:
        require_document(tx, actor, document_id, Right.EDIT)
        row = store.hold(tx, document_id)
        done = remember(tx, actor.user_id, key, asked, lambda: produce(tx, row))
        now = store.document_of(tx, document_id)
        return changes_since(tx, now, done["before"] if since is None else since, done["made"])

    return await services.db.write(run)


def _behind(content: Tree, section_id: str | None, text: str) -> shapes.InsertBlockChange:
    """Insert a text behind the last block of a section (of the last one if None). Raises `NotFound`."""
    home, after = section_id, None
    if section_id is not None or content.sections:
        section = content.sections[-1] if section_id is None else content.section(section_id)
        home, after = section.id, section.blocks[-1].id if section.blocks else None
    return shapes.InsertBlockChange(op="insert_block", section_id=home, after=after, markdown=text)


def _checked(change: shapes.Change) -> shapes.Change:
    """The change with texts that every database can store. Raises `InputTooLarge`."""
    hint = "Import it: POST /v1/documents/{id}/import accepts longer texts."
    cleaned = {name: checked_markdown(text, CHANGE_CHARS, hint) for name, text in _texts(change).items()}
    return change.model_copy(update=cleaned)


def _texts(change: shapes.Change) -> dict[str, str]:
    """The texts of a change, by field."""
    return {name: text for name in TEXTS if (text := getattr(change, name, None)) is not None}


def _demand_size(changes: Sequence[shapes.Change]) -> int:
    """The total length of the texts of all changes. Raises `InputTooLarge`."""
    size = sum(len(text) for change in changes for text in _texts(change).values())
    if size > CHANGES_CHARS:
        raise InputTooLarge(
            f"The changes have {size:,} characters; at most {CHANGES_CHARS:,} are accepted together.",
            hint="Send them one after the other, or import the text: POST /v1/documents/{id}/import.",
            size_chars=size,
            limit_chars=CHANGES_CHARS,
        )
    return size


def _cut(changes: Sequence[shapes.Change]) -> Cuts:
    cuts = Cuts()
    for change in changes:
        if (text := _texts(change).get("markdown")) is not None:
            cuts.cut(text)
    return cuts
