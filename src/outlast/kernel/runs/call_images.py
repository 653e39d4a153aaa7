"""The images in a tool's result: checked and stored before the transaction of the result, sent to the model from the
store, and shown to people with the call."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio.to_thread

from outlast.base.errors import OutlastError
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.db.database import Tx
from outlast.kernel.agents.images import MAX_IMAGE_BYTES, MAX_IMAGES, Image
from outlast.kernel.attachments.kinds import image_of
from outlast.kernel.attachments.rules import MAX_PIXELS, NAME_CHARS
from outlast.kernel.attachments.store import StoredFile, add_file
from outlast.kernel.limits.rules import clean
from outlast.kernel.runs.transcript import Effect, Run
from outlast.kernel.threads.parts import ImagePart

SENT_IMAGES: Final = 16
SENT_BYTES: Final = 20_000_000  # of a request; providers take 32 MB, and base64 adds a third


@dataclass(frozen=True, slots=True)
class StoredImages:
    """The images of one result that were stored, by the id that their attachment gets, and a note for the model about
    each that was left out."""

    files: Mapping[str, StoredFile]
    notes: Sequence[str] = ()

    def record(self, tx: Tx, run: Run) -> list[dict[str, Any]]:
        """Record the attachments; returns what the call's effect keeps of them."""
        for attachment_id, file in self.files.items():
            add_file(tx, run.project_id, run.started_by, file, attachment_id)
        return [
            {"attachment_id": attachment_id, "name": file.name, "size_bytes": file.size_bytes}
            for attachment_id, file in self.files.items()
        ]

    def parts(self, call_id: str) -> list[ImagePart]:
        """The parts that show them with the call."""
        return [
            ImagePart(
                id=new_id("part"),
                attachment_id=attachment_id,
                media_type=file.media_type,
                name=file.name,
                width=file.image.width if file.image else None,
                height=file.image.height if file.image else None,
                call_id=call_id,
            )
            for attachment_id, file in self.files.items()
        ]


async def store_images(blobs: Blobs, images: Sequence[Image]) -> StoredImages:
    """Store the files of images, in a thread; those that cannot be sent to models, or stored, are left out. A crash
    before their rows are written leaves files without a name, which are collected."""
    if not images:
        return StoredImages({})
    return await anyio.to_thread.run_sync(_store, blobs, images)


def _store(blobs: Blobs, images: Sequence[Image]) -> StoredImages:
    files: dict[str, StoredFile] = {}
    notes = []
    for number, image in enumerate(images[:MAX_IMAGES], start=1):
        try:
            files[new_id("attachment")] = _store_one(blobs, image)
        except (OutlastError, _LeftOut) as error:
            notes.append(f"[Image {number} was left out: {error}]")
    if len(images) > MAX_IMAGES:
        notes.append(f"[{len(images) - MAX_IMAGES} more images were left out: a result may have {MAX_IMAGES}.]")
    return StoredImages(files, notes)


class _LeftOut(Exception):
    """An image that models cannot be given, with the reason."""


def _store_one(blobs: Blobs, image: Image) -> StoredFile:
    size_bytes = len(image.data)
    if size_bytes > MAX_IMAGE_BYTES:
        raise _LeftOut(f"it has {size_bytes:,} bytes, and at most {MAX_IMAGE_BYTES:,} are accepted.")
    found = image_of(image.data, MAX_PIXELS)
    if found is None:
        raise _LeftOut(f"it is not a PNG, JPEG, GIF or WebP file of at most {MAX_PIXELS:,} pixels.")
    return StoredFile(_alt(image), found.media_type, size_bytes, blobs.put(image.data), found)


def _alt(image: Image) -> str:
    return " ".join(clean(image.alt).split())[:NAME_CHARS] or "image"


def sent_images(effects: Sequence[Effect]) -> frozenset[str]:
    """The attachments whose images a request contains: the newest ones of the run's calls, within the limits."""
    found: list[str] = []
    left = SENT_BYTES
    for effect in reversed(effects):
        for image in reversed(images_of(effect)):
            left -= image["size_bytes"]
            if left < 0 or len(found) == SENT_IMAGES:
                return frozenset(found)
            found.append(image["attachment_id"])
    return frozenset(found)


def images_of(call: Effect) -> Sequence[Mapping[str, Any]]:
    """What the effect of a call keeps of its images."""
    found: Sequence[Mapping[str, Any]] = (call.result or {}).get("images", ())
    return found
