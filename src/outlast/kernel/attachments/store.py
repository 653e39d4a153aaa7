"""Attachments, uploads and the files of threads in the database. First argument: the open transaction."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import Conflict
from outlast.base.ids import new_id
from outlast.base.image_formats import Image
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.attachments.rows import AttachmentRow, UploadRow
from outlast.kernel.attachments.rules import check_piece
from outlast.kernel.attachments.tables import attachments, thread_files, upload_pieces, uploads
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.threads.shapes import AttachmentAnswer

KEPT: Final = timedelta(days=1)  # an unfinished upload


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A stored file as it was recognised. `image` is None unless people and models can be shown it; `about` and
    `beginning` describe it to models."""

    name: str
    media_type: str
    size_bytes: int
    blob: str
    image: Image | None = None
    about: str = ""
    beginning: str = ""


def add_file(
    tx: Tx, project_id: str, user_id: str, file: StoredFile, attachment_id: str | None = None
) -> AttachmentAnswer:
    """Record a stored file, under this id or a new one."""
    row = AttachmentRow(
        id=attachment_id or new_id("attachment"),
        project_id=project_id,
        blob=file.blob,
        name=file.name,
        media_type=file.media_type,
        size_bytes=file.size_bytes,
        width=None if file.image is None else file.image.width,
        height=None if file.image is None else file.image.height,
        about=file.about,
        beginning=file.beginning,
        created_by=user_id,
        created_at=tx.now,
    )
    tx.insert(attachments, **row._asdict())
    return shape_of(AttachmentAnswer, row)


def add_attachment(
    tx: Tx, project_id: str, user_id: str, name: str, image: Image, size_bytes: int, blob: str
) -> AttachmentAnswer:
    """Record a stored image."""
    return add_file(tx, project_id, user_id, StoredFile(name, image.media_type, size_bytes, blob, image))


def add_upload(tx: Tx, project_id: str, user_id: str, name: str, size_bytes: int) -> UploadRow:
    """Begin an upload."""
    row = UploadRow(new_id("attachment"), project_id, name, size_bytes, 0, user_id, tx.now)
    tx.insert(uploads, **row._asdict())
    return row


def hold_upload(tx: Tx, upload_id: str) -> UploadRow | None:
    """Lock an upload; None if it is complete or was removed."""
    return tx.row(UploadRow, sa.select(uploads).where(uploads.c.id == upload_id).with_for_update())


def add_piece(tx: Tx, upload_id: str, offset: int, blob: str, count: int) -> int:
    """Add a stored piece; returns the number of bytes received. Raises `Conflict` if another request was faster, or
    the upload is over."""
    row = hold_upload(tx, upload_id)
    if row is None:
        raise Conflict("This upload is complete, or was cancelled.", id=upload_id)
    check_piece(row.size_bytes, row.received_bytes, offset, count)
    tx.insert(upload_pieces, upload_id=upload_id, start=offset, blob=blob)
    tx.update(uploads, {"id": upload_id}, received_bytes=offset + count)
    return offset + count


def pieces_of(tx: Tx, upload_id: str) -> list[str]:
    """The blobs of an upload's pieces, in order."""
    mine = sa.select(upload_pieces.c.blob).where(upload_pieces.c.upload_id == upload_id)
    return list(tx.execute(mine.order_by(upload_pieces.c.start)).scalars())


def remove_upload(tx: Tx, upload_id: str) -> None:
    """Remove an upload and its pieces, whose blobs are collected later."""
    tx.execute(sa.delete(uploads).where(uploads.c.id == upload_id))


def remove_old_uploads(tx: Tx) -> None:
    """Remove uploads that were begun more than a day ago."""
    tx.execute(sa.delete(uploads).where(uploads.c.created_at < tx.now - KEPT))


class ThreadFile(NamedTuple):
    """A file of a thread's messages."""

    name: str
    attachment_id: str
    media_type: str
    size_bytes: int
    blob: str


_FILES: Final = sa.select(
    thread_files.c.name,
    thread_files.c.attachment_id,
    attachments.c.media_type,
    attachments.c.size_bytes,
    attachments.c.blob,
).join(attachments, attachments.c.id == thread_files.c.attachment_id)


def names_in(tx: Tx, thread_id: str) -> set[str]:
    """The names of the thread's files."""
    return set(tx.execute(sa.select(thread_files.c.name).where(thread_files.c.thread_id == thread_id)).scalars())


def add_thread_files(tx: Tx, thread_id: str, names: Mapping[str, str]) -> None:
    """Add files to a thread: attachment ids by name."""
    for name, attachment_id in names.items():
        tx.insert(thread_files, thread_id=thread_id, name=name, attachment_id=attachment_id)


def copy_thread_files(tx: Tx, fork_id: str, parts: Sequence[Mapping[str, Any]]) -> None:
    """Give a fork the files of the messages that were copied into it."""
    named = {str(part["file_name"]): str(part["attachment_id"]) for part in parts if part.get("file_name")}
    known = sa.select(attachments.c.id).where(attachments.c.id.in_(named.values()))
    alive = set(tx.execute(known).scalars()) if named else set()
    add_thread_files(tx, fork_id, {name: at for name, at in named.items() if at in alive})


def thread_file(tx: Tx, thread_id: str, name: str) -> ThreadFile | None:
    """A file of the thread by its name."""
    return tx.row(ThreadFile, _FILES.where(thread_files.c.thread_id == thread_id, thread_files.c.name == name))


def thread_files_of(tx: Tx, thread_id: str, limit: int) -> list[ThreadFile]:
    """The files of the thread by name."""
    mine = _FILES.where(thread_files.c.thread_id == thread_id)
    return tx.rows(ThreadFile, mine.order_by(thread_files.c.name).limit(limit))


def unplaced(tx: Tx, thread_id: str, sandbox_id: str) -> list[ThreadFile]:
    """The thread's files that were not written to this sandbox."""
    elsewhere = sa.or_(thread_files.c.placed_in.is_(None), thread_files.c.placed_in != sandbox_id)
    return tx.rows(ThreadFile, _FILES.where(thread_files.c.thread_id == thread_id, elsewhere))


def set_placed(tx: Tx, thread_id: str, names: Sequence[str], sandbox_id: str) -> None:
    """Note that the sandbox has these files."""
    mine = thread_files.c.thread_id == thread_id, thread_files.c.name.in_(names)
    tx.execute(sa.update(thread_files).where(*mine).values(placed_in=sandbox_id))
