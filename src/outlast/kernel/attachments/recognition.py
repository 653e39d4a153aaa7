"""Recognises a stored file: its kind, found from its content, and its beginning."""

from dataclasses import replace
from typing import Final

import anyio.to_thread

from outlast.db.blobs.port import Blobs
from outlast.kernel.attachments.excerpts import read_excerpt
from outlast.kernel.attachments.kinds import LOOKED_AT, image_of, label_of, media_type_of
from outlast.kernel.attachments.read_program import Place
from outlast.kernel.attachments.rules import MAX_PIXELS, shown_name
from outlast.kernel.attachments.store import StoredFile

IMAGE_HEAD_BYTES: Final = 300_000
BEGINNING_CHARS: Final = 2_000


async def recognise_file(blobs: Blobs, name: str, blob: str, size_bytes: int, image_bytes: int) -> StoredFile:
    """A stored file with its kind. An image of more than `image_bytes`, or of too many pixels, is a file like any
    other."""

    def recognise() -> StoredFile:
        head, tail = blobs.read(blob, 0, IMAGE_HEAD_BYTES), blobs.read(blob, max(0, size_bytes - LOOKED_AT), LOOKED_AT)
        image = image_of(blobs.get(blob), MAX_PIXELS) if size_bytes <= image_bytes else None
        media_type = image.media_type if image is not None else media_type_of(name, head, tail)
        shown = shown_name(name, "image" if image else "file")
        return StoredFile(shown, media_type, size_bytes, blob, image, label_of(media_type))

    return await anyio.to_thread.run_sync(recognise)


async def read_beginning(blobs: Blobs, file: StoredFile) -> StoredFile:
    """The file with the beginning of its text, for models; images have none."""
    if file.image is not None:
        return file
    found = await read_excerpt(blobs, file.blob, file.media_type, Place(BEGINNING_CHARS))
    beginning = "\n".join(one for one in (found.text, found.trouble) if one)
    return replace(file, about=found.about, beginning=beginning)
