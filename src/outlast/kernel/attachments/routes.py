"""Images: upload, open."""

from fastapi import File, UploadFile
from starlette.responses import Response

from outlast.kernel.attachments import actions
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import file_reply, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.projects.actions import project_or_default
from outlast.kernel.threads.shapes import AttachmentAnswer

router = noun_router("Attachments", prefix="/v1/attachments")


@router.post("", status_code=201, response_model=AttachmentAnswer)
async def upload_attachment(
    services: Svc, actor: Signed, file: UploadFile = File(), project_id: str | None = None
) -> Response:
    """Store an image in a project (editors), as multipart field `file`."""
    content = await file.read()
    project = await project_or_default(services, actor, project_id)
    made = await actions.upload_attachment(services, actor, project, file.filename or "", content)
    return reply(made, 201)


@router.get("/{attachment_id}", response_class=Response)
async def open_attachment(attachment_id: str, services: Svc, actor: Signed) -> Response:
    """Get the image's bytes."""
    shown, content = await actions.open_attachment(services, actor, attachment_id)
    return file_reply(shown.name, content, shown.media_type, inline=True)
