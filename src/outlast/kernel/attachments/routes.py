"""Attachments: upload whole or in pieces, open."""

from fastapi import File, Query, Request, UploadFile
from starlette.responses import Response

from outlast.kernel.attachments import actions
from outlast.kernel.attachments.kinds import SVG
from outlast.kernel.attachments.shapes import MAX_BYTES, UploadAnswer, UploadRequest
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import DRAWING, LOCKED_DOWN, nothing, reply, stored_file_reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.projects.actions import project_or_default
from outlast.kernel.threads.shapes import AttachmentAnswer

router = noun_router("Attachments")


@router.post("/attachments", status_code=201, response_model=AttachmentAnswer)
async def upload_attachment(
    services: Svc, actor: Signed, file: UploadFile = File(), project_id: str | None = None
) -> Response:
    """Store a file of at most `limits.image_bytes` in a project (editors), as multipart field `file`. Upload larger
    files in pieces: `POST /v1/uploads`."""
    content = await file.read()
    project = await project_or_default(services, actor, project_id)
    made = await actions.upload_attachment(services, actor, project, file.filename or "", content)
    return reply(made, 201)


@router.get("/attachments/{attachment_id}", response_class=Response)
async def open_attachment(attachment_id: str, services: Svc, actor: Signed, download: bool = False) -> Response:
    """Get the file's bytes. Browsers show images and SVG drawings unless `download` is set, and save other files; none
    is sent with a type that a browser would run, and a drawing runs nothing."""
    shown, file = await actions.open_attachment(services, actor, attachment_id)
    media_type = shown.media_type if shown.width is not None or shown.media_type == SVG else ""
    policy = DRAWING if media_type == SVG else LOCKED_DOWN
    return stored_file_reply(shown.name, file, media_type, inline=bool(media_type) and not download, policy=policy)


@router.post("/uploads", status_code=201, response_model=UploadAnswer)
async def create_upload(body: UploadRequest, services: Svc, actor: Signed) -> Response:
    """Begin an upload of at most `limits.attachment_bytes` (editors). Send its bytes with `PATCH`, from `offset` on,
    then complete it. An upload that is not completed is removed after a day."""
    project = await project_or_default(services, actor, body.project_id)
    return reply(await actions.create_upload(services, actor, project, body.name, body.size_bytes), 201)


@router.get("/uploads/{upload_id}", response_model=UploadAnswer)
async def read_upload(upload_id: str, services: Svc, actor: Signed) -> Response:
    """Get the `offset` at which the upload continues, after a lost connection or a restart of the server."""
    return reply(await actions.read_upload(services, actor, upload_id))


@router.patch(
    "/uploads/{upload_id}",
    response_model=UploadAnswer,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def add_upload_piece(
    upload_id: str, request: Request, services: Svc, actor: Signed, offset: int = Query(ge=0, le=MAX_BYTES)
) -> Response:
    """Send the bytes at `offset`, as `application/octet-stream`: 64 KiB to 8 MB, the last piece any size. They are
    stored when this answers. With another `offset` than the upload's, it answers 409 with the right one in
    `fields.offset`."""
    content = await request.body()
    return reply(await actions.add_upload_piece(services, actor, upload_id, offset, content))


@router.post("/uploads/{upload_id}/complete", status_code=201, response_model=AttachmentAnswer)
async def complete_upload(upload_id: str, services: Svc, actor: Signed) -> Response:
    """Make an attachment of an upload whose bytes were all sent. A repeated request returns the same attachment, whose
    id is the upload's."""
    return reply(await actions.complete_upload(services, actor, upload_id), 201)


@router.delete("/uploads/{upload_id}", status_code=204)
async def delete_upload(upload_id: str, services: Svc, actor: Signed) -> Response:
    """Cancel an upload."""
    await actions.delete_upload(services, actor, upload_id)
    return nothing()
