"""The subject of a conversation: a document, or a part of it. The anchor is checked when the thread is created
(`resolved`) and shown with it (`about`). First argument: the open transaction.

Each query filters by the project, or by the project's document: an anchor may name anything."""

from collections.abc import Mapping
from typing import Any, Final

from outlast.apps.documents.rows import CommentRow, SectionRow
from outlast.apps.documents.tables import blocks, comments, documents, sections
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.database import Tx
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.subjects.subject import About
from outlast.kernel.threads.rules import document_of

TYPES: Final = ("document", "section", "comment", "selection")
PLACES: Final = ("document_id", "section_id", "block_id")  # one of them places selected text
_DOCUMENT_OF: Final = {
    "document": documents.c.id,
    "section": sections.c.document_id,
    "block": blocks.c.document_id,
    "comment": comments.c.document_id,
}


def resolved(tx: Tx, project_id: str, profile: str, anchor: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The anchor with its document (and, for selected text, its section) filled in. In a thread of another profile than
    the documents' it is unchanged if it names none (a screen, a page, words selected elsewhere). Raises
    `MalformedInput` for an anchor that a conversation about a document cannot have, `NotFound` for something that is
    not in this project."""
    if anchor is None or anchor.get("type") not in TYPES:
        if profile != "document":
            return anchor
        raise MalformedInput(
            "A thread of the profile `document` must be about a document or a part of it.",
            hint=f"Give an anchor of the type {', '.join(TYPES[:-1])} or {TYPES[-1]}; "
            "POST /v1/projects/{id}/documents creates a document with its own thread.",
            field="anchor",
        )
    if profile != "document" and anchor["type"] == "selection" and all(anchor.get(name) is None for name in PLACES):
        return anchor
    if anchor["type"] == "selection":
        return {**anchor, **_selection(tx, project_id, anchor)}
    return {**anchor, "document_id": _document_of(tx, project_id, anchor["type"], anchor.get("id"), "anchor.id")}


def _selection(tx: Tx, project_id: str, anchor: Mapping[str, Any]) -> dict[str, Any]:
    if not str(anchor.get("text", "")).strip():
        raise MalformedInput("The selected text is empty.", field="anchor.text")
    if anchor.get("block_id") is not None:
        found = _document_of(tx, project_id, "block", anchor["block_id"], "anchor.block_id")
        return {"document_id": found, "section_id": tx.value(blocks.c.section_id, {"id": anchor["block_id"]})}
    noun = "section" if anchor.get("section_id") is not None else "document"
    return {"document_id": _document_of(tx, project_id, noun, anchor.get(f"{noun}_id"), f"anchor.{noun}_id")}


def _document_of(tx: Tx, project_id: str, noun: str, wanted: Any, field: str) -> str:
    if not isinstance(wanted, str):
        raise MalformedInput(f"The anchor names no {noun}.", field=field)
    found: str | None = tx.value(_DOCUMENT_OF[noun], {"id": wanted})
    if found is None or not tx.exists(documents, {"id": found, "project_id": project_id}):
        raise NotFound(f"The {noun} that the anchor names is not in this project.", noun=noun, id=wanted, field=field)
    return found


def about(tx: Tx, project_id: str, anchor: Mapping[str, Any]) -> About | None:
    """The title of the document, the heading of the section and the words in question, for the anchor of this project's
    thread. None if the anchor names no document, or one that is gone or in another project."""
    document_id = document_of(anchor)
    title = tx.value(documents.c.title, {"id": document_id, "project_id": project_id})
    if document_id is None or title is None:
        return None
    match anchor.get("type"):
        case "section":
            section_id, heading = _section(tx, document_id, anchor.get("id"))
            return About(document_id, title, section_id, heading, gone=section_id is None)
        case "comment":
            return _comment(tx, document_id, title, str(anchor.get("id")))
        case "selection":
            block_id = anchor.get("block_id")
            home = tx.value(blocks.c.section_id, {"id": block_id, "document_id": document_id})
            section_id, heading = _section(tx, document_id, home or anchor.get("section_id"))
            words, gone = one_line(str(anchor.get("text", ""))), block_id is not None and home is None
            shown_block = None if home is None else block_id
            return About(document_id, title, section_id, heading, shown_block, text=words, gone=gone)
        case _:
            return About(document_id, title)


def _comment(tx: Tx, document_id: str, title: str, comment_id: str) -> About:
    row = tx.find(CommentRow, comments, {"id": comment_id, "document_id": document_id})
    if row is None:
        return About(document_id, title, gone=True)
    section_id, heading = _section(tx, document_id, row.section_id)
    return About(document_id, title, section_id, heading, comment_id=comment_id, text=one_line(row.body))


def _section(tx: Tx, document_id: str, section_id: str | None) -> tuple[str | None, str | None]:
    row = tx.find(SectionRow, sections, {"id": section_id, "document_id": document_id})
    return (None, None) if row is None else (row.id, row.heading)
