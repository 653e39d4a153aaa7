"""The adapter from comments to mentions."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.tables import comments, documents
from outlast.db.database import Tx
from outlast.kernel.mentions.ports import CommentPlace
from outlast.kernel.mentions.tables import mentions
from outlast.kernel.threads.tables import threads

_PLACES: Final = (
    sa.select(
        mentions.c.id,
        documents.c.title.label("document_title"),
        comments.c.section_id,
        comments.c.block_id,
        comments.c.thread_id,
        threads.c.title.label("thread_title"),
    )
    .select_from(mentions)
    .outerjoin(comments, comments.c.id == mentions.c.source_id)
    .outerjoin(threads, threads.c.id == comments.c.thread_id)
    .outerjoin(documents, documents.c.id == mentions.c.document_id)
)


class _Place(NamedTuple):
    id: str
    place: CommentPlace


class DocumentComments:
    """See `kernel.mentions.ports.Comments`."""

    def hold(self, tx: Tx, document_id: str) -> None:
        store.hold(tx, document_id)

    def places(self, tx: Tx, mention_ids: Sequence[str]) -> Mapping[str, CommentPlace]:
        rows = tx.rows(_Place, _PLACES.where(mentions.c.id.in_(list(mention_ids))))
        return {row.id: row.place for row in rows}
