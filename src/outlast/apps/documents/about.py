"""What a conversation's anchor shows: the document's title, the section's heading, the words in question."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents.rows import CommentRow
from outlast.apps.documents.tables import blocks, comments, documents, sections
from outlast.db.database import Tx
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.subjects.about import About

# Each asks for the project or for the document, which is the project's: an anchor may name anything.
_DOCUMENT: Final[sa.BindParameter[str]] = sa.bindparam("document")
_TITLE: Final = sa.select(documents.c.title).where(
    documents.c.id == _DOCUMENT, documents.c.project_id == sa.bindparam("project")
)
_HEADING: Final = sa.select(sections.c.id, sections.c.heading).where(
    sections.c.id == sa.bindparam("section"), sections.c.document_id == _DOCUMENT
)
_COMMENT: Final = sa.select(comments).where(
    comments.c.id == sa.bindparam("comment"), comments.c.document_id == _DOCUMENT
)
_HOME: Final = sa.select(blocks.c.section_id).where(
    blocks.c.id == sa.bindparam("block"), blocks.c.document_id == _DOCUMENT
)


def about(tx: Tx, project_id: str, document_id: str | None, anchor: Mapping[str, Any] | None) -> About | None:
    """What the anchor of this project's thread about this document shows; None: it is about none, or the document is
    gone, or another project's."""
    asked = {"document": document_id, "project": project_id}
    title = None if document_id is None else tx.execute(_TITLE, asked).scalar()
    if title is None or document_id is None or anchor is None:
        return None
    match anchor.get("type"):
        case "section":
            section_id, heading = _section(tx, document_id, anchor.get("id"))
            return About(document_id, title, section_id, heading, gone=section_id is None)
        case "comment":
            return _comment(tx, document_id, title, str(anchor.get("id")))
        case "selection":
            block_id = anchor.get("block_id")
            home = _home(tx, document_id, block_id)
            section_id, heading = _section(tx, document_id, home or anchor.get("section_id"))
            words, gone = one_line(str(anchor.get("text", ""))), block_id is not None and home is None
            kept = None if home is None else block_id
            return About(document_id, title, section_id, heading, kept, text=words, gone=gone)
        case _:
            return About(document_id, title)


def _comment(tx: Tx, document_id: str, title: str, comment_id: str) -> About:
    row = tx.row(CommentRow, _COMMENT, {"comment": comment_id, "document": document_id})
    if row is None:
        return About(document_id, title, gone=True)
    section_id, heading = _section(tx, document_id, row.section_id)
    return About(document_id, title, section_id, heading, comment_id=comment_id, text=one_line(row.body))


def _home(tx: Tx, document_id: str, block_id: str | None) -> str | None:
    """The section that a block is in; None: it is not in this document."""
    asked = {"block": block_id, "document": document_id}
    found: str | None = None if block_id is None else tx.execute(_HOME, asked).scalar()
    return found


class _Heading(NamedTuple):
    id: str
    heading: str


def _section(tx: Tx, document_id: str, section_id: str | None) -> tuple[str | None, str | None]:
    asked = {"section": section_id, "document": document_id}
    row = None if section_id is None else tx.row(_Heading, _HEADING, asked)
    return (None, None) if row is None else (row.id, row.heading)
