"""Attachments: upload whole or in pieces, open."""

from collections.abc import Iterator

import anyio.to_thread

from outlast.base.errors import Conflict, MalformedInput
from outlast.db.blobs.port import Blobs, LentFile
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.attachments import store
from outlast.kernel.attachments.recognition import read_beginning, recognise_file
from outlast.kernel.attachments.rows import AttachmentRow, UploadRow
from outlast.kernel.attachments.rules import check_piece, shown_name
from outlast.kernel.attachments.shapes import UploadAnswer
from outlast.kernel.attachments.store import StoredFile
from outlast.kernel.attachments.tables import attachments, uploads
from outlast.kernel.limits.rules import check_bytes
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.services import Services
from outlast.kernel.threads.shapes import AttachmentAnswer


async def upload_attachment(
    services: Services, actor: Actor, project_id: str, name: str, content: bytes
) -> AttachmentAnswer:
    """Store a file of at most `limits.image_bytes` in a project (editors); larger ones are uploaded in pieces. Raises
    `InputTooLarge`, `MalformedInput`, `DiskFull`. The file is written before the row: a failure between the two leaves
    an unnamed blob, never a row without a file."""
    await services.db.read(require, actor, project_id, Right.EDIT)
    _check_size(len(content), services.settings.limits.image_bytes)
    blob = await anyio.to_thread.run_sync(services.blobs.put, content)
    file = await _recognise(services, name, blob, len(content))

    def run(tx: Tx) -> AttachmentAnswer:
        require(tx, actor, project_id, Right.EDIT)
        _check_rate(tx, services, actor)
        return store.add_file(tx, project_id, actor.user_id, file)

    return await services.db.write(run)


async def create_upload(services: Services, actor: Actor, project_id: str, name: str, size_bytes: int) -> UploadAnswer:
    """Begin the upload of a file in pieces (editors). Raises `InputTooLarge`, `MalformedInput`, `RateLimited`."""

    def run(tx: Tx) -> UploadAnswer:
        require(tx, actor, project_id, Right.EDIT)
        _check_size(size_bytes, services.settings.limits.attachment_bytes)
        _check_rate(tx, services, actor)
        most = services.settings.limits.attachments_per_minute_per_user
        check_made_rate(tx, uploads, actor.user_id, most)
        return _upload(store.add_upload(tx, project_id, actor.user_id, shown_name(name), size_bytes))

    return await services.db.write(run)


async def read_upload(services: Services, actor: Actor, upload_id: str) -> UploadAnswer:
    """The state of an upload, with the offset at which it continues (editors)."""
    return _upload(await _find_upload(services, actor, upload_id))


async def add_upload_piece(
    services: Services, actor: Actor, upload_id: str, offset: int, content: bytes
) -> UploadAnswer:
    """Store the bytes that follow those received so far (editors). They are stored for good when this returns: neither
    a killed server nor a lost connection takes them back. Raises `Conflict` with the right `offset`, `InputTooLarge`,
    `MalformedInput`, `DiskFull`."""
    row = await _find_upload(services, actor, upload_id)
    check_piece(row.size_bytes, row.received_bytes, offset, len(content))
    blob = await anyio.to_thread.run_sync(services.blobs.put, content)
    received = await services.db.write(store.add_piece, upload_id, offset, blob, len(content))
    return _upload(row._replace(received_bytes=received))


async def complete_upload(services: Services, actor: Actor, upload_id: str) -> AttachmentAnswer:
    """Make a file of a complete upload (editors); its kind and its beginning are read. A repeated call returns the same
    file. Raises `Conflict` while bytes are missing, `DiskFull`."""

    def find(tx: Tx) -> tuple[UploadRow, list[str]] | AttachmentAnswer:
        made = tx.find(AttachmentRow, attachments, {"id": upload_id})
        if made is not None:
            require(tx, actor, made.project_id, Right.EDIT)
            return shape_of(AttachmentAnswer, made)
        row = require_owned(tx, actor, UploadRow, uploads, "upload", upload_id, Right.EDIT)
        return row, store.pieces_of(tx, upload_id)

    found = await services.db.read(find)
    if isinstance(found, AttachmentAnswer):
        return found
    row, pieces = found
    if row.received_bytes < row.size_bytes:
        raise Conflict(
            f"{row.size_bytes - row.received_bytes:,} bytes of the upload are missing.",
            hint="Send them from `offset` on.",
            offset=row.received_bytes,
        )
    blob = pieces[0] if len(pieces) == 1 else await anyio.to_thread.run_sync(_join, services.blobs, pieces)
    file = await _recognise(services, row.name, blob, row.size_bytes)

    def run(tx: Tx) -> AttachmentAnswer:
        store.hold_upload(tx, upload_id)  # a second request waits here, and then finds the attachment
        again = find(tx)
        if isinstance(again, AttachmentAnswer):
            return again
        store.remove_upload(tx, upload_id)
        return store.add_file(tx, row.project_id, row.created_by, file, upload_id)

    return await services.db.write(run)


async def delete_upload(services: Services, actor: Actor, upload_id: str) -> None:
    """Cancel an upload (editors)."""

    def run(tx: Tx) -> None:
        require_owned(tx, actor, UploadRow, uploads, "upload", upload_id, Right.EDIT)
        store.remove_upload(tx, upload_id)

    await services.db.write(run)


async def open_attachment(services: Services, actor: Actor, attachment_id: str) -> tuple[AttachmentAnswer, LentFile]:
    """An attachment and its content, for members of its project. Raises `StoredFileMissing`."""
    row = await services.db.read(
        require_owned, actor, AttachmentRow, attachments, "attachment", attachment_id, Right.READ
    )
    return shape_of(AttachmentAnswer, row), await anyio.to_thread.run_sync(services.blobs.lend, row.blob)


async def _recognise(services: Services, name: str, blob: str, size_bytes: int) -> StoredFile:
    blobs, image_bytes = services.blobs, services.settings.limits.image_bytes
    return await read_beginning(blobs, await recognise_file(blobs, name, blob, size_bytes, image_bytes))


def _join(blobs: Blobs, pieces: list[str]) -> str:
    def read() -> Iterator[bytes]:
        for piece in pieces:
            yield blobs.get(piece)

    return blobs.put_pieces(read())[0]


async def _find_upload(services: Services, actor: Actor, upload_id: str) -> UploadRow:
    return await services.db.read(require_owned, actor, UploadRow, uploads, "upload", upload_id, Right.EDIT)


def _upload(row: UploadRow) -> UploadAnswer:
    return shape_of(UploadAnswer, row, offset=row.received_bytes)


def _check_size(size_bytes: int, limit_bytes: int) -> None:
    if size_bytes < 1:
        raise MalformedInput("The file is empty.", hint="Attach a file with content.", field="file")
    check_bytes("The file", size_bytes, limit_bytes)


def _check_rate(tx: Tx, services: Services, actor: Actor) -> None:
    check_made_rate(
        tx, attachments, actor.user_id, services.settings.limits.attachments_per_minute_per_user, things="files"
    )
