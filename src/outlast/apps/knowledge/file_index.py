"""Index the texts of project files, each file as a source of its project. See
`kernel.files.index.FileIndex`."""

from collections.abc import Sequence
from typing import NamedTuple

from outlast.apps.knowledge import source_store
from outlast.apps.knowledge.passage_changes import Contents, Exchange, exchange
from outlast.apps.knowledge.source_documents import Document, Reading, cut_documents, document_of
from outlast.apps.knowledge.source_store import NewSource
from outlast.apps.knowledge.sources import cut_name
from outlast.db.database import Tx
from outlast.kernel.files.index import PACKAGE
from outlast.kernel.files.kinds import PDF, paged
from outlast.kernel.files.rows import ArtifactRow


class _Planned(NamedTuple):
    contents: Contents
    exchange: Exchange


def plan(name: str, media_type: str, texts: Sequence[str], passage_chars: int) -> object | None:
    if media_type == PDF:
        documents = [
            Document(url=paged(name, number), text=text, title=f"{name}, page {number}")
            for number, text in enumerate(texts, start=1)
            if text.strip()
        ]
        cuts = cut_documents(documents, passage_chars)
    elif texts:
        document, own = document_of(name, texts[0], passage_chars)
        documents, cuts = [document], {document.url: own}
    else:
        return None
    if not any(cuts.values()):
        return None
    contents = Contents(Reading(documents=documents), cuts, cut_name(passage_chars))
    return _Planned(contents, exchange(0, (), contents))


def add(tx: Tx, file: ArtifactRow, planned: object) -> str:
    assert isinstance(planned, _Planned)
    new = NewSource(PACKAGE, "artifact", file.id, file.project_id, file.created_by)
    source_id = source_store.add(tx, new, None)
    source_store.fill(tx, source_id, planned.contents, None, planned.exchange)
    return source_id


def remove(tx: Tx, source_id: str) -> None:
    source_store.remove(tx, source_id)
