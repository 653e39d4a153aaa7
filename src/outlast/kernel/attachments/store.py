"""Attachments in the database: the upload and its blob."""

from dataclasses import asdict

from outlast.base.ids import new_id
from outlast.base.image_formats import Image
from outlast.db.database import Tx
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.threads.shapes import AttachmentAnswer


def add_attachment(
    tx: Tx, project_id: str, user_id: str, name: str, image: Image, size_bytes: int, blob: str
) -> AttachmentAnswer:
    """Record an uploaded image."""
    data = AttachmentAnswer(id=new_id("attachment"), name=name, size_bytes=size_bytes, **asdict(image))
    owner = {"project_id": project_id, "created_by": user_id, "created_at": tx.now}
    tx.insert(attachments, **data.model_dump(), **owner, blob=blob)
    return data
