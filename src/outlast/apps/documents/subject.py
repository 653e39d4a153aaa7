"""A document as what a conversation is about."""

from typing import Final

from outlast.apps.documents import store
from outlast.apps.documents.tables import documents
from outlast.base.errors import ThreadOfDocument
from outlast.db.database import Tx
from outlast.kernel.subjects.subject import Subject


def _rename(tx: Tx, document_id: str, title: str) -> None:
    store.update(tx, document_id, title=title)


def _announce(tx: Tx, document_id: str, by: str | None) -> None:
    store.announce(tx, document_id, by=by)


DOCUMENT: Final = Subject(
    noun="document",
    table=documents,
    thread_does="belongs to",
    thread_error=ThreadOfDocument,
    rename=_rename,
    announce=_announce,
)
