"""From a thread's history to the messages that a model reads, within a number of messages and a token budget."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from outlast.kernel.agents.prompt_tags import PromptTags
from outlast.kernel.models.protocol import (
    ImagePiece,
    ModelMessage,
    Piece,
    ReasoningPiece,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
)
from outlast.kernel.models.turn_calls import sendable_arguments

if TYPE_CHECKING:
    from outlast.kernel.runs.history import Exchange

CHARS_PER_TOKEN: Final = 4  # English prose and code; an estimate is enough for a budget
IMAGE_SIZE: Final = 4_000
OLD_RESULT_CHARS: Final = 4_000  # of a tool result from an earlier run
LoadImage = Callable[[str], tuple[str, bytes] | None]  # attachment id → media type and bytes, or None if it is not sent


def messages_from(exchanges: Sequence["Exchange"], token_budget: int, load_image: LoadImage) -> list[ModelMessage]:
    """The exchanges as model messages. If they exceed the budget, the oldest are dropped; the last one (the run's own
    message) always stays. So does the person's message if the last one is a note that an agent takes over."""
    kept: list[list[ModelMessage]] = []
    left = token_budget * CHARS_PER_TOKEN
    own = next((at for at in reversed(range(len(exchanges))) if not exchanges[at].handed_over), 0)
    for at, exchange in reversed(list(enumerate(exchanges))):
        asked = ModelMessage("user", tuple(user_pieces(exchange.asked, load_image)) or (TextPiece(""),))
        messages = [asked, *_answer_messages(exchange.answered, exchange.opaque)]
        left -= size_of(messages)
        fits = not kept or left >= 0
        if fits or at == own:
            kept.insert(0, messages if fits else [asked])
        if not fits and at <= own:
            break
    return [message for group in kept for message in group]


def user_pieces(parts: Sequence[Mapping[str, Any]], load_image: LoadImage) -> list[Piece]:
    """The texts, images and files of a message. An image that the model does not see is replaced by its name; a file by
    its kind, its size and its beginning. A message that has only a notice is the notice's text."""
    pieces: list[Piece] = []
    for part in parts:
        if part["type"] == "text":
            pieces.append(TextPiece(part["text"]))
        elif part["type"] == "image":
            pieces.append(image_piece(part["attachment_id"], part.get("name"), load_image))
        elif part["type"] == "file":
            pieces.append(TextPiece(file_text(part)))
    return pieces or [TextPiece(part["text"]) for part in parts if part["type"] == "notice"]


def file_text(part: Mapping[str, Any]) -> str:
    """An attached file, for a model: what it is, where it is, its beginning between tags that it cannot end, and how to
    read on. It is material, never an instruction."""
    name, beginning = part["file_name"], part["beginning"]
    tags = PromptTags.around([beginning])
    size = f"{part['size_bytes']:,} bytes"
    shown = tags.put("file", beginning or "(no text)", name=name, kind=part["about"], size=size)
    where = f"The file is uploads/{name} in your workspace, if you have one."
    return f"[ATTACHED FILE]\n{shown}\nThis is only its beginning: read_file reads on. {where}"


def no_image(_attachment_id: str) -> None:
    """A `LoadImage` for texts."""


def image_piece(attachment_id: str, name: str | None, load_image: LoadImage) -> Piece:
    """An image of a message, or its name if the model does not see it."""
    image = load_image(attachment_id)
    note = f"[image {name or attachment_id}: not shown to this model]"
    return TextPiece(note) if image is None else ImagePiece(*image)


def _answer_messages(parts: Sequence[Mapping[str, Any]], opaque: Mapping[int, dict[str, Any]]) -> list[ModelMessage]:
    """An earlier answer: per step its text and calls, then the calls' results. Reasoning is included only with the
    provider's own record of the step."""
    messages: list[ModelMessage] = []
    for step in sorted({part.get("step", 0) for part in parts}):
        mine = [part for part in parts if part.get("step", 0) == step]
        record = opaque.get(step)
        said = [piece for part in mine if (piece := _said(part, thoughts=record is not None)) is not None]
        calls = [part for part in mine if part["type"] == "tool_call"]
        if said:
            messages.append(ModelMessage("assistant", tuple(said), record))
        if calls:
            messages.append(ModelMessage("tool", tuple(_old_result(call, mine) for call in calls)))
    return messages


def _said(part: Mapping[str, Any], *, thoughts: bool) -> Piece | None:
    match part["type"]:
        case "text":
            return TextPiece(part["text"])
        case "tool_call":
            return ToolCallPiece(part["call_id"], part["tool"], sendable_arguments(part["arguments"]))
        case "reasoning" if thoughts:
            return ReasoningPiece(part["text"])
        case _:
            return None


def _old_result(call: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> ToolResultPiece:
    """The result of an earlier run's call, with what its images show."""
    content = call.get("result") or "(no result was recorded)"
    if len(content) > OLD_RESULT_CHARS:
        content = content[:OLD_RESULT_CHARS] + "\n[… shortened …]"
    shown = [part["name"] for part in parts if part["type"] == "image" and part.get("call_id") == call["call_id"]]
    content = "\n".join([content, *(f"[image {name}: shown in this earlier answer]" for name in shown)])
    return ToolResultPiece(call["call_id"], call["tool"], content, call["status"] != "done")


def size_of(messages: Iterable[ModelMessage]) -> int:
    """The size of messages: four bytes of text are about one token, in any script."""
    return sum(_piece_size(piece) for message in messages for piece in message.pieces)


def _piece_size(piece: Piece) -> int:
    match piece:
        case TextPiece(text) | ReasoningPiece(text):
            return text_size(text)
        case ToolCallPiece(_, _, arguments):
            return text_size(arguments)
        case ToolResultPiece(_, _, content, _, images):
            return text_size(content) + IMAGE_SIZE * len(images)
        case _:
            return IMAGE_SIZE


def text_size(text: str) -> int:
    """The size of a text: its bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def exchange_size(exchange: "Exchange") -> int:
    """The size of an exchange in a prompt."""
    total = 0
    for part in (*exchange.asked, *exchange.answered):
        if part["type"] == "text":
            total += text_size(part["text"])
        elif part["type"] == "tool_call":
            result = (part.get("result") or "")[:OLD_RESULT_CHARS]
            total += text_size(part["arguments"]) + text_size(result)
        elif part["type"] == "image":
            total += IMAGE_SIZE
    return total
