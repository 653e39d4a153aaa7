"""What a conversation is about: a document, or a part of it, that is there in its project. First argument: the open
transaction."""

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

from outlast.apps.documents.tables import blocks, comments, documents, sections
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.database import Tx

TYPES: Final = ("document", "section", "comment", "selection")
PLACES: Final = ("document_id", "section_id", "block_id")  # one of which says where selected text is
_DOCUMENT: Final = sa.select(documents.c.id.label("document_id")).where(
    documents.c.id == sa.bindparam("id"), documents.c.project_id == sa.bindparam("project")
)
_SECTION: Final = sa.select(sections.c.document_id).where(
    sections.c.id == sa.bindparam("id"), sections.c.project_id == sa.bindparam("project")
)
_COMMENT: Final = sa.select(comments.c.document_id).where(
    comments.c.id == sa.bindparam("id"), comments.c.project_id == sa.bindparam("project")
)
_BLOCK: Final = (
    sa.select(blocks.c.document_id)
    .join(documents, documents.c.id == blocks.c.document_id)
    .where(blocks.c.id == sa.bindparam("id"), documents.c.project_id == sa.bindparam("project"))
)
_NOUNS: Final = {"document": _DOCUMENT, "section": _SECTION, "comment": _COMMENT, "block": _BLOCK}


def kept(tx: Tx, project_id: str, anchor: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The anchor of a thread of any profile: resolved where it names a document or a part of one, as it is where it
    names none (a screen, a page, words that were selected anywhere). Raises as `resolved`."""
    if anchor is None or anchor.get("type") not in TYPES:
        return None if anchor is None else dict(anchor)
    if anchor["type"] == "selection" and all(anchor.get(name) is None for name in PLACES):
        return dict(anchor)
    return resolved(tx, project_id, anchor)


def resolved(tx: Tx, project_id: str, anchor: Mapping[str, Any] | None) -> dict[str, Any]:
    """The anchor with its document (and, for selected text, its section) filled in. Raises `MalformedInput` for one
    that no conversation about a document can have, `NotFound` for something that is not there in this project."""
    if anchor is None or anchor.get("type") not in TYPES:
        raise MalformedInput(
            "A thread of the profile document is about a document or a part of it.",
            hint=f"Give an anchor of the type {', '.join(TYPES[:-1])} or {TYPES[-1]}; "
            "POST /v1/projects/{id}/documents makes a document with a thread of its own.",
            field="anchor",
        )
    if anchor["type"] == "selection":
        return dict(anchor) | _selection(tx, project_id, anchor)
    found = _document_of(tx, project_id, anchor["type"], anchor.get("id"), "anchor.id")
    return dict(anchor) | {"document_id": found}


def _selection(tx: Tx, project_id: str, anchor: Mapping[str, Any]) -> dict[str, Any]:
    if not str(anchor.get("text", "")).strip():
        raise MalformedInput("Selected text is not empty.", field="anchor.text")
    if anchor.get("block_id") is not None:
        found = _document_of(tx, project_id, "block", anchor["block_id"], "anchor.block_id")
        return {"document_id": found, "section_id": tx.value(blocks.c.section_id, {"id": anchor["block_id"]})}
    noun = "section" if anchor.get("section_id") is not None else "document"
    return {"document_id": _document_of(tx, project_id, noun, anchor.get(f"{noun}_id"), f"anchor.{noun}_id")}


def _document_of(tx: Tx, project_id: str, noun: str, wanted: Any, field: str) -> str:
    if not isinstance(wanted, str):
        raise MalformedInput(f"The anchor names no {noun}.", field=field)
    found: str | None = tx.execute(_NOUNS[noun], {"id": wanted, "project": project_id}).scalar()
    if found is None:
        raise NotFound(f"The {noun} that the anchor names is not in this project.", noun=noun, id=wanted, field=field)
    return found
