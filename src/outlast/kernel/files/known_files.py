"""The files that an agent may read: those of its thread's messages, and those of the project. First argument: the open
transaction."""

from typing import Final

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.agents.resources import KnownFile
from outlast.kernel.attachments.rules import FOLDER
from outlast.kernel.attachments.store import ThreadFile, thread_file, thread_files_of
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.tables import artifacts

MAX_LISTED: Final = 500


def find_file(tx: Tx, thread_id: str, project_id: str, wanted: str) -> ThreadFile:
    """A file of the thread by its name, or one of the project by its name or id; the newest of that name. Raises
    `NotFound`."""
    attached = thread_file(tx, thread_id, wanted.removeprefix(f"{FOLDER}/"))
    if attached is not None:
        return attached
    mine = artifacts.c.project_id == project_id, sa.or_(artifacts.c.id == wanted, artifacts.c.name == wanted)
    row = tx.row(ArtifactRow, sa.select(artifacts).where(*mine).order_by(artifacts.c.id.desc()).limit(1))
    if row is None:
        raise NotFound("Neither the thread nor the project has such a file.", id=wanted)
    return ThreadFile(row.name, row.id, row.media_type, row.size_bytes, row.blob)


def list_files(tx: Tx, thread_id: str, project_id: str) -> list[KnownFile]:
    """The thread's files by name, then the project's, newest first; at most 500 of each."""
    own = [
        KnownFile(file.name, file.attachment_id, file.media_type, file.size_bytes, "thread")
        for file in thread_files_of(tx, thread_id, MAX_LISTED)
    ]
    mine = sa.select(artifacts).where(artifacts.c.project_id == project_id)
    rows = tx.rows(ArtifactRow, mine.order_by(artifacts.c.id.desc()).limit(MAX_LISTED))
    return own + [KnownFile(row.name, row.id, row.media_type, row.size_bytes, "project") for row in rows]
