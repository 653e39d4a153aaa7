"""What is new in a document since a version that somebody has. First argument: the open transaction."""

from collections.abc import Mapping

from outlast.apps.documents import store
from outlast.apps.documents.content.records import Record
from outlast.apps.documents.history.versions import changes_between
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.shapes import DocumentChanges, SectionHead
from outlast.base.errors import MalformedInput
from outlast.db.database import Tx
from outlast.kernel.locks.store import locks_of


def changes_since(tx: Tx, document: DocumentRow, since: int, made: Mapping[str, str] | None = None) -> DocumentChanges:
    """Everything that differs between version `since` and now. Only the sections concerned are read. Raises
    `MalformedInput` for a version that is not there yet."""
    version = int(document.version)
    if not 0 <= since <= version:
        raise MalformedInput(
            f"The document is at version {version}; there is nothing since version {since}.",
            hint="Read the document again.",
            field="since",
            version=version,
        )
    changes = [one for step in changes_between(tx, document.id, since, version) for one in step]
    named = {noun: {one["id"] for one in changes if _told(one, noun)} for noun in ("section", "block")}
    homes = {record["section_id"] for one in changes if one["noun"] == "block" for record in _sides(one)}
    content = store.partial_tree(tx, document, homes | named["section"], preamble=False)
    heads = [section for section in content.sections if section.id in named["section"]]
    texts = [block for block in content.blocks() if block.id in named["block"]]
    held = locks_of(tx, [section.id for section in heads])
    names = store.names_of(tx, {block.editor_id for block in texts})
    there = {one.id for one in heads} | {one.id for one in texts}
    return DocumentChanges(
        version=version,
        made=dict(made or {}),
        sections=[
            SectionHead(
                id=one.id,
                document_id=content.document_id,
                heading=one.heading,
                level=one.level,
                version=one.version,
                lock=held.get(one.id),
            )
            for one in heads
        ],
        blocks=[store.block_data(block, names) for block in texts],
        removed=sorted((named["section"] | named["block"]) - there),
        section_order=[one.id for one in content.sections] if named["section"] else None,
        block_order={one.id: [block.id for block in one.blocks] for one in content.sections if one.id in homes},
    )


def _told(change: Record, noun: str) -> bool:
    return change["noun"] == noun and not change.get("quiet")


def _sides(change: Record) -> list[Record]:
    return [record for record in (change["before"], change["after"]) if record is not None]
