"""Documents: create, list, read, rename, delete; Markdown import and export; changes, history, conversations,
presence."""

import re
from typing import Annotated
from urllib.parse import quote

from fastapi import Query
from starlette.responses import Response

from outlast.apps.documents import actions, shapes
from outlast.apps.documents import presence_actions as presence
from outlast.apps.documents.edits import actions as writing
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import MAX_INT, Before, Key, Limit, LongLimit, Version
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.presence.shapes import EphemeralPresence
from outlast.kernel.threads.shapes import ThreadData

router = noun_router("Documents")


@router.get("/projects/{project_id}/documents", response_model=Page[shapes.DocumentData])
async def list_documents(
    project_id: str, services: Svc, actor: Signed, after: str | None = None, limit: LongLimit = 100
) -> Response:
    """The project's documents, oldest first, without their text."""
    return reply(page(*await actions.list_documents(services, actor, project_id, after, limit)))


@router.post("/projects/{project_id}/documents", status_code=201, response_model=shapes.DocumentView)
async def create_document(
    project_id: str, body: shapes.DocumentRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Create a document with its conversation (editors)."""
    made = await actions.create_document(services, actor, project_id, title=body.title, markdown=body.markdown, key=key)
    return reply(made, 201)


@router.get("/documents/{document_id}", response_model=shapes.DocumentView)
async def read_document(document_id: str, services: Svc, actor: Signed) -> Response:
    """One document with its sections and blocks. Its changes are published in the project's events (`version.created`);
    read what is new with the version that you have."""
    return reply(await actions.read_document(services, actor, document_id))


@router.patch("/documents/{document_id}", response_model=shapes.DocumentData)
async def rename_document(document_id: str, body: shapes.DocumentPatch, services: Svc, actor: Signed) -> Response:
    """Rename a document and its conversation (editors)."""
    return reply(await actions.rename_document(services, actor, document_id, body.title))


@router.delete("/documents/{document_id}", status_code=204)
async def delete_document(document_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a document with its history, comments and all conversations about it (owners). Refused (409) while a run
    of one of them has not ended."""
    await actions.delete_document(services, actor, document_id)
    return nothing()


@router.get("/documents/{document_id}/markdown", response_class=Response)
async def export_document(
    document_id: str,
    services: Svc,
    actor: Signed,
    version: int | None = Query(None, ge=0, le=MAX_INT),
    download: bool = False,
) -> Response:
    """The document as Markdown, current or at a version."""
    title, text = await actions.export_markdown(services, actor, document_id, version)
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    if download:
        headers["content-disposition"] = _attachment(title)
    return Response(text, headers=headers, media_type="text/markdown; charset=utf-8")


@router.post("/documents/{document_id}/import", response_model=shapes.DocumentChanges)
async def import_document(
    document_id: str, body: shapes.ImportRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Add a Markdown text, or replace the document with it; unchanged parts keep their ids (editors). Refused (409
    `text_changed`) if the document is newer than the version in `seen`."""
    return reply(await writing.import_markdown(services, actor, document_id, body, key=key))


@router.post("/documents/{document_id}/changes", response_model=shapes.DocumentChanges)
async def change_document(
    document_id: str, body: shapes.ChangesRequest, services: Svc, actor: Signed, key: Key = None
) -> Response:
    """Apply several changes as one version, or none of them (editors). Refused (409) if a change would
    overwrite text that the caller has not seen (`text_changed`, with both texts), or if another member has locked
    the section (`section_locked`)."""
    return reply(await writing.change_document(services, actor, document_id, body, key=key))


@router.get("/documents/{document_id}/changes", response_model=shapes.DocumentChanges)
async def read_document_changes(
    document_id: str, services: Svc, actor: Signed, since: Annotated[int, Query(ge=0, le=MAX_INT)]
) -> Response:
    """Everything new since a version."""
    return reply(await writing.read_changes(services, actor, document_id, since))


@router.get("/documents/{document_id}/versions", response_model=shapes.DocumentVersionsAnswer)
async def list_document_versions(
    document_id: str, services: Svc, actor: Signed, before: Before = None, limit: Limit = 50
) -> Response:
    """The document's history, newest first."""
    return reply((await writing.list_versions(services, actor, document_id, before, limit))._asdict())


@router.get("/documents/{document_id}/versions/{version}", response_model=shapes.DocumentVersionView)
async def read_document_version(document_id: str, version: Version, services: Svc, actor: Signed) -> Response:
    """A version with the text of the document then."""
    return reply(await writing.read_version(services, actor, document_id, version))


@router.get("/documents/{document_id}/diff", response_model=shapes.DocumentDifference)
async def compare_document_versions(
    document_id: str,
    services: Svc,
    actor: Signed,
    before: Annotated[int, Query(alias="from", ge=0, le=MAX_INT)],
    after: Annotated[int | None, Query(alias="to", ge=0, le=MAX_INT)] = None,
) -> Response:
    """The differences between two versions (0: the empty document; without `to`: now)."""
    found = await writing.compare_versions(services, actor, document_id, before, after)
    return reply(found.model_dump(mode="json", by_alias=True))


@router.post("/documents/{document_id}/restore", response_model=shapes.DocumentChanges)
async def restore_document(
    document_id: str, body: shapes.RestoreDocumentRequest, services: Svc, actor: Signed
) -> Response:
    """Restore the text of an earlier version, as a new version (editors). Refused (409 `text_changed`) if the document
    is newer than the version in `seen`."""
    return reply(await writing.restore_version(services, actor, document_id, body.version, seen=body.seen))


@router.get("/documents/{document_id}/threads", response_model=Page[ThreadData])
async def list_document_threads(document_id: str, services: Svc, actor: Signed) -> Response:
    """The document's own conversation, and those about parts of it."""
    return reply(page(await actions.list_document_threads(services, actor, document_id)))


@router.get("/documents/{document_id}/presence", response_model=EphemeralPresence)
async def read_presence(document_id: str, services: Svc, actor: Signed) -> Response:
    """The users who have the document open now. Changes come as `presence` frames of the project's stream."""
    return reply(await presence.read_document_presence(services, actor, document_id))


@router.put("/documents/{document_id}/presence", status_code=204)
async def move_in_document(document_id: str, body: shapes.PlaceRequest, services: Svc, actor: Signed) -> Response:
    """Show other members that the caller has the document open, and in which block they are. Repeat the call
    while they type: typing ends after 6 seconds. A caller that does not follow the project's stream is shown
    as gone a few seconds later."""
    await presence.move_in_document(services, actor, document_id, body.block_id, body.typing)
    return nothing()


@router.delete("/documents/{document_id}/presence", status_code=204)
async def leave_document(document_id: str, services: Svc, actor: Signed) -> Response:
    """The caller closed the document. Repeating is harmless."""
    await presence.leave_document(services, actor, document_id)
    return nothing()


def _attachment(title: str) -> str:
    """A file name from a title, in the form that every browser reads."""
    name = re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", title).strip(" .") or "document"
    plain = name.encode("ascii", "ignore").decode().strip() or "document"
    return f"attachment; filename=\"{plain}.md\"; filename*=UTF-8''{quote(name, safe='')}.md"
