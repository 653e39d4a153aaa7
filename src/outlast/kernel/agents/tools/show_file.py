"""`show_file`: gives people a file of the workspace with the answer. It stays when the sandbox is gone."""

from typing import Annotated, Final

import anyio.to_thread
from pydantic import Field

from outlast.base.errors import ArgumentsInvalid, NotFound
from outlast.base.ids import new_id
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.attachments.recognition import recognise_file
from outlast.kernel.attachments.store import StoredFile, add_file
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.threads.parts import FilePart, ImagePart

MAX_BYTES: Final = 64_000_000  # what a sandbox gives in one piece
WORKSPACE: Final = "/workspace/"


def show_file_tool(workspaces: Workspaces, db: Database, blobs: Blobs, limits: LimitSettings) -> Tool:
    """`show_file` over these workspaces."""

    @tool(repeatable=True)
    async def show_file(
        ctx: Context,
        path: Annotated[str, Field(min_length=1, max_length=500, description="Relative to the workspace.")],
    ) -> ToolResult:
        """Give the person a file of the workspace with your answer: an image is shown, any other file can be
        downloaded. It stays when the sandbox is gone. Call it for each result that the person should keep."""
        path = path.removeprefix(WORKSPACE)
        sandbox = (await workspaces.open(ctx)).sandbox
        try:
            content = await sandbox.read_file(path, min(limits.attachment_bytes, MAX_BYTES) + 1)
        except NotFound:
            return ToolResult(f"There is no file {path!r} in the workspace.", is_error=True)
        file = await store_file(blobs, limits, path, content)
        made = await db.write(add_file, ctx.this_run.project_id, ctx.this_run.started_by, file)
        return ToolResult(f"Shown to the person: {file.name} ({file.about}).", parts=(file_part(made.id, file),))

    return show_file


async def store_file(blobs: Blobs, limits: LimitSettings, path: str, content: bytes) -> StoredFile:
    """Store a file that is to be shown. Raises `ArgumentsInvalid` for an empty one, and for one that is too large."""
    most = min(limits.attachment_bytes, MAX_BYTES)
    if not content or len(content) > most:
        raise ArgumentsInvalid(
            "The file is empty." if not content else f"The file is larger than {most:,} bytes.",
            hint="Show a file with content." if not content else "Show a smaller file, or compress it first.",
            field="path",
            tool="show_file",
        )
    blob = await anyio.to_thread.run_sync(blobs.put, content)
    return await recognise_file(blobs, path, blob, len(content), limits.image_bytes)


def file_part(attachment_id: str, file: StoredFile) -> ImagePart | FilePart:
    """The part that shows a stored file: an image, or a file to download."""
    if file.image is None:
        return FilePart(
            id=new_id("part"),
            attachment_id=attachment_id,
            media_type=file.media_type,
            name=file.name,
            size_bytes=file.size_bytes,
            about=file.about,
        )
    return ImagePart(
        id=new_id("part"),
        attachment_id=attachment_id,
        media_type=file.media_type,
        name=file.name,
        width=file.image.width,
        height=file.image.height,
    )
