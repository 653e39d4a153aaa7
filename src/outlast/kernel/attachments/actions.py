"""Images: upload, open."""

from typing import Final

import anyio.to_thread

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.attachments import store as attachments
from outlast.kernel.attachments.rows import AttachmentRow
from outlast.kernel.attachments.rules import checked_image
from outlast.kernel.attachments.tables import attachments as table
from outlast.kernel.files.kinds import file_name
from outlast.kernel.limits.rules import clean
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.services import Services
from outlast.kernel.threads.shapes import AttachmentAnswer

NAME_CHARS: Final = 120


async def upload_attachment(
    services: Services, actor: Actor, project_id: str, name: str, content: bytes
) -> AttachmentAnswer:
    """Store an image in a project (editors). Raises `InputTooLarge`, `MalformedInput`, `DiskFull`. The file is written
    before the row: a failure between the two leaves an unnamed blob, never a row without a file."""
    await services.db.read(require, actor, project_id, Right.EDIT)
    limits = services.settings.limits
    image = await anyio.to_thread.run_sync(checked_image, content, limits.image_bytes)
    blob = await anyio.to_thread.run_sync(services.blobs.put, content)

    def run(tx: Tx) -> AttachmentAnswer:
        require(tx, actor, project_id, Right.EDIT)
        check_made_rate(tx, table, actor.user_id, limits.attachments_per_minute_per_user)
        shown = file_name(clean(name), NAME_CHARS, "image")
        return attachments.add_attachment(tx, project_id, actor.user_id, shown, image, len(content), blob)

    return await services.db.write(run)


async def open_attachment(services: Services, actor: Actor, attachment_id: str) -> tuple[AttachmentAnswer, bytes]:
    """An attachment and its content, for members of its project."""
    row = await services.db.read(require_owned, actor, AttachmentRow, table, "attachment", attachment_id, Right.READ)
    content = await anyio.to_thread.run_sync(services.blobs.get, row.blob)
    return shape_of(AttachmentAnswer, row), content
