"""Writes the files of a thread's messages into its workspace, when its sandbox is next used: once for each sandbox, and
never over a file that is there already, which an agent may have changed."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

import anyio.to_thread

from outlast.base.errors import NotFound, OutlastError, SandboxLost, SandboxUnavailable
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database
from outlast.kernel.attachments import store
from outlast.kernel.attachments.rules import FOLDER
from outlast.kernel.attachments.store import ThreadFile
from outlast_sandbox.interface import Sandbox

PIECE_BYTES: Final = 1_000_000
WORKSPACE: Final = "/workspace"
log = logging.getLogger("outlast.agents")


async def place_uploads(
    db: Database, blobs: Blobs, sandbox: Sandbox, thread_id: str, files: Sequence[ThreadFile]
) -> None:
    """Write these files, in pieces if the sandbox takes them. A file that cannot be written (the workspace is
    full) is left out and not tried again in this sandbox: agents read it with `read_file`. Raises `SandboxLost`.
    Repeatable; a cancelled call leaves whole files only."""
    for file in files:
        try:
            await _place(blobs, sandbox, file)
        except SandboxLost:
            raise
        except OutlastError as error:
            log.warning("attached file not written", extra={"code": error.code, "thread_id": thread_id})
    await db.write(store.set_placed, thread_id, [file.name for file in files], sandbox.sandbox_id)


async def _place(blobs: Blobs, sandbox: Sandbox, file: ThreadFile) -> None:
    path = f"{FOLDER}/{file.name}"
    with suppress(NotFound):
        await sandbox.read_file(path, 1)
        return
    try:
        files = sandbox.files
    except SandboxUnavailable:  # it takes files only whole
        content = await anyio.to_thread.run_sync(blobs.get, file.blob)
        await sandbox.write_files([(path, content)])
    else:
        await files.write(f"{WORKSPACE}/{path}", _pieces(blobs, file))


async def _pieces(blobs: Blobs, file: ThreadFile) -> AsyncIterator[bytes]:
    for offset in range(0, file.size_bytes, PIECE_BYTES):
        yield await anyio.to_thread.run_sync(blobs.read, file.blob, offset, PIECE_BYTES)
