"""Turns a user's input into the parts of a message: cleaned, measured, with images and files looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from outlast.base.errors import EmptyMessage, MalformedInput, VisionUnsupported
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.attachments.rows import AttachmentRow
from outlast.kernel.attachments.rules import name_in_workspace
from outlast.kernel.attachments.store import add_thread_files, names_in
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.limits.rules import check_bytes, check_count, clean, is_blank
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.threads.parts import FilePart, ImagePart, NoticePart, TextPart

Given = TextPart | ImagePart | FilePart


@dataclass(frozen=True, slots=True)
class Draft:
    """A user's input: `content` is a text, `parts` a list of `{type: "text", text}` and `{type: "image" or "file",
    attachment_id}` in their order, `images` ids of attachments of any kind that come last. Any of them may be missing.
    `mentions` are users that the writer picked; names in the text count too, except users in `told`, who were already
    notified by the message's source. `note` is shown before the rest, and makes an empty message possible."""

    content: str | None = None
    parts: Sequence[Mapping[str, Any]] = ()
    images: Sequence[str] = field(default=())
    mentions: Sequence[str] = field(default=())
    told: Sequence[str] = field(default=())
    note: NoticePart | None = None

    @property
    def text(self) -> str:
        """All texts, joined by line breaks."""
        texts = [part.get("text") for part in self.parts]
        return "\n".join([self.content or "", *(text for text in texts if isinstance(text, str))])


def compose(tx: Tx, project_id: str, thread_id: str, draft: Draft, limits: LimitSettings) -> list[dict[str, Any]]:
    """The parts of a new message, with new ids; its files become files of the thread, whose row the caller holds.
    Raises `EmptyMessage`, `InputTooLarge`, `MalformedInput`, and `NotFound` for an attachment of another project."""
    given = [
        *({"type": "text", "text": text} for text in [draft.content] if text is not None),
        *draft.parts,
        *({"type": "file", "attachment_id": at} for at in draft.images),
    ]
    parts = [_part(tx, project_id, part) for part in given]
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    check_bytes("The message", sum(len(text.encode()) for text in texts), limits.message_bytes)
    check_count("images", sum(isinstance(part, ImagePart) for part in parts), limits.images_per_message)
    check_count("files", sum(isinstance(part, FilePart) for part in parts), limits.files_per_message)
    kept = [part for part in parts if not isinstance(part, TextPart) or not is_blank(part.text)]
    if not kept and draft.note is None:
        raise EmptyMessage("The message is empty.")
    noted = [] if draft.note is None else [draft.note]
    return [part.model_dump() for part in (*noted, *_into_thread(tx, thread_id, kept))]


def demand_vision(model: ModelSpec, parts: Sequence[Mapping[str, Any]]) -> None:
    """Raise `VisionUnsupported` if the message has an image and the model cannot read images."""
    if not model.vision and any(part["type"] == "image" for part in parts):
        raise VisionUnsupported(f"{model.label} cannot see images.", model=model.id)


def _part(tx: Tx, project_id: str, part: Mapping[str, Any]) -> Given:
    match part:
        case {"type": "text", "text": str(text)}:
            return TextPart(id=new_id("part"), text=clean(text))
        case {"type": "image" | "file", "attachment_id": str(attachment_id)}:
            return _attached(tx, project_id, attachment_id)
        case _:
            raise MalformedInput(
                'A part must be {"type": "text", "text": …}, {"type": "image", "attachment_id": …} or '
                '{"type": "file", "attachment_id": …}.',
                field="parts",
            )


def _attached(tx: Tx, project_id: str, attachment_id: str) -> ImagePart | FilePart:
    """An attachment by its kind: an image that can be shown is an image, whatever the client calls it."""
    row = demand_found(
        tx.find(AttachmentRow, attachments, {"id": attachment_id, "project_id": project_id}),
        "There is no such attachment in this project.",
        hint="Upload the file to the thread's project first.",
        attachment_id=attachment_id,
    )
    shape: type[ImagePart | FilePart] = FilePart if row.width is None else ImagePart
    return shape_of(shape, row, id=new_id("part"), attachment_id=attachment_id)


def _into_thread(tx: Tx, thread_id: str, parts: Sequence[Given]) -> list[Given]:
    """The parts, with names in the thread's workspace for images and files."""
    if all(isinstance(part, TextPart) for part in parts):
        return list(parts)
    taken = names_in(tx, thread_id)
    named: dict[str, str] = {}
    made: list[Given] = []
    for part in parts:
        if isinstance(part, TextPart):
            made.append(part)
        else:
            name = name_in_workspace(part.name, {*taken, *named})
            named[name] = part.attachment_id
            made.append(part.model_copy(update={"file_name": name}))
    add_thread_files(tx, thread_id, named)
    return made
