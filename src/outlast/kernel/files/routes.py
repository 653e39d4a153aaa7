"""Files of projects: upload, list, open, read, search, delete."""

from typing import Final

from fastapi import File, Query, UploadFile
from starlette.responses import Response

from outlast.kernel.files import actions
from outlast.kernel.files.kinds import PDF
from outlast.kernel.files.shapes import ArtifactData, FileSearchAnswer, FileTextAnswer
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import LOCKED_DOWN, file_reply, nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page

router = noun_router("Files")
PDF_VIEWER: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"  # none runs in a sandbox


@router.post("/projects/{project_id}/artifacts", status_code=201, response_model=ArtifactData)
async def upload_artifact(project_id: str, services: Svc, actor: Signed, file: UploadFile = File()) -> Response:
    """Upload a text, Markdown, PDF or image file to a project (editors), as multipart field `file`. Its text is read in
    the background; `artifact.updated` reports when it can be searched."""
    content = await file.read()
    return reply(await actions.upload_artifact(services, actor, project_id, file.filename or "", content), 201)


@router.get("/projects/{project_id}/artifacts", response_model=Page[ArtifactData])
async def list_artifacts(
    project_id: str, services: Svc, actor: Signed, before: str | None = Query(None, max_length=100), limit: Limit = 50
) -> Response:
    """List the project's files, newest first."""
    found = await actions.list_artifacts(services, actor, project_id, before, limit)
    return reply(page(found.items, found.next))


@router.get("/projects/{project_id}/artifacts/search", response_model=FileSearchAnswer)
async def search_artifacts(
    project_id: str, services: Svc, actor: Signed, q: str = Query(max_length=2_000), limit: int = Query(10, ge=1, le=50)
) -> Response:
    """Search the texts of the project's files."""
    return reply(await actions.search_artifacts(services, actor, project_id, q, limit))


@router.get("/artifacts/{artifact_id}", response_model=ArtifactData)
async def read_artifact(artifact_id: str, services: Svc, actor: Signed) -> Response:
    """Get one file, and the state of reading its text."""
    return reply(await actions.read_artifact(services, actor, artifact_id))


@router.delete("/artifacts/{artifact_id}", status_code=204)
async def delete_artifact(artifact_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a file and its text (the user who uploaded it, and owners)."""
    await actions.delete_artifact(services, actor, artifact_id)
    return nothing()


@router.get("/artifacts/{artifact_id}/content", response_class=Response)
async def open_artifact(artifact_id: str, services: Svc, actor: Signed, download: bool = False) -> Response:
    """Get the file's bytes. Browsers show images and PDFs unless `download` is set; other files are never sent with a
    type that a browser would run."""
    shown, content = await actions.open_artifact(services, actor, artifact_id)
    policy = PDF_VIEWER if shown.media_type == PDF else LOCKED_DOWN
    opens = shown.media_type == PDF or shown.media_type.startswith("image/")
    kind = shown.media_type if opens else "text/plain; charset=utf-8"
    return file_reply(shown.name, content, kind, inline=opens and not download, policy=policy)


@router.get("/artifacts/{artifact_id}/text", response_model=FileTextAnswer)
async def read_artifact_text(
    artifact_id: str, services: Svc, actor: Signed, page: int = Query(1, ge=1, le=100_000)
) -> Response:
    """Get a page of the file's text, as agents and search see it."""
    return reply(await actions.read_artifact_text(services, actor, artifact_id, page))
