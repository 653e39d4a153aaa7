"""What a conversation's anchor shows: the document's title, the section's heading, the words in question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from outlast.core.mentions.rules import one_line
from outlast.db.database import Tx
from outlast.db.tables import blocks, comments, documents, sections

_TITLE: Final = sa.select(documents.c.title).where(documents.c.id == sa.bindparam("document"))
_HEADING: Final = sa.select(sections.c.id, sections.c.heading).where(sections.c.id == sa.bindparam("section"))
_COMMENT: Final = sa.select(comments).where(comments.c.id == sa.bindparam("comment"))
_HOME: Final = sa.select(blocks.c.section_id).where(blocks.c.id == sa.bindparam("block"))


@dataclass(frozen=True, slots=True)
class About:
    """An anchor in a document, to be shown and opened. `text`: the comment's or the selected words, on one line.
    `gone`: what the anchor names is not there any more."""

    document_id: str
    document_title: str
    section_id: str | None = None
    heading: str | None = None
    block_id: str | None = None
    comment_id: str | None = None
    text: str = ""
    gone: bool = False


def about(tx: Tx, document_id: str | None, anchor: Mapping[str, Any] | None) -> About | None:
    """What the anchor of a thread about this document shows; None: it is about none, or the document is gone."""
    title = None if document_id is None else tx.execute(_TITLE, {"document": document_id}).scalar()
    if title is None or document_id is None or anchor is None:
        return None
    match anchor.get("type"):
        case "section":
            section_id, heading = _section(tx, anchor.get("id"))
            return About(document_id, title, section_id, heading, gone=section_id is None)
        case "comment":
            return _comment(tx, document_id, title, str(anchor.get("id")))
        case "selection":
            block_id = anchor.get("block_id")
            home = None if block_id is None else tx.execute(_HOME, {"block": block_id}).scalar()
            section_id, heading = _section(tx, home or anchor.get("section_id"))
            words, gone = one_line(str(anchor.get("text", ""))), block_id is not None and home is None
            kept = None if home is None else block_id
            return About(document_id, title, section_id, heading, kept, text=words, gone=gone)
        case _:
            return About(document_id, title)


def _comment(tx: Tx, document_id: str, title: str, comment_id: str) -> About:
    row = tx.one(_COMMENT, {"comment": comment_id})
    if row is None:
        return About(document_id, title, gone=True)
    section_id, heading = _section(tx, row["section_id"])
    return About(document_id, title, section_id, heading, comment_id=comment_id, text=one_line(row["body"]))


def _section(tx: Tx, section_id: str | None) -> tuple[str | None, str | None]:
    row = None if section_id is None else tx.one(_HEADING, {"section": section_id})
    return (None, None) if row is None else (row["id"], row["heading"])
