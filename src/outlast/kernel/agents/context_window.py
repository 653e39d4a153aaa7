"""From a thread's history to the messages that a model reads, within a number of messages and a token budget."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

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
OLD_RESULT_CHARS: Final = 4_000  # of a tool result from an earlier run
LoadImage = Callable[[str], tuple[str, bytes] | None]  # attachment id → media type and bytes, or None if it is not sent


def messages_from(exchanges: Sequence["Exchange"], token_budget: int, load_image: LoadImage) -> list[ModelMessage]:
    """The exchanges as model messages. If they exceed the budget, the oldest are dropped; the last one (the run's own
    message) always stays."""
    kept: list[list[ModelMessage]] = []
    left = token_budget * CHARS_PER_TOKEN
    for exchange in reversed(exchanges):
        messages = [ModelMessage("user", tuple(user_pieces(exchange.asked, load_image)) or (TextPiece(""),))]
        messages += _answer_messages(exchange.answered, exchange.opaque)
        left -= sum(_size(message) for message in messages)
        if kept and left < 0:
            break
        kept.insert(0, messages)
    return [message for group in kept for message in group]


def user_pieces(parts: Sequence[Mapping[str, Any]], load_image: LoadImage) -> list[Piece]:
    """The texts and images of a message. An image that the model does not see is replaced by its name."""
    pieces: list[Piece] = []
    for part in parts:
        if part["type"] == "text":
            pieces.append(TextPiece(part["text"]))
        elif part["type"] == "image":
            pieces.append(image_piece(part["attachment_id"], part.get("name"), load_image))
    return pieces


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
            messages.append(ModelMessage("tool", tuple(_old_result(call) for call in calls)))
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


def _old_result(call: Mapping[str, Any]) -> ToolResultPiece:
    content = call.get("result") or "(no result was recorded)"
    if len(content) > OLD_RESULT_CHARS:
        content = content[:OLD_RESULT_CHARS] + "\n[… shortened …]"
    return ToolResultPiece(call["call_id"], call["tool"], content, call["status"] != "done")


def _size(message: ModelMessage) -> int:
    total = 0
    for piece in message.pieces:
        match piece:
            case TextPiece(text) | ReasoningPiece(text):
                total += len(text)
            case ToolCallPiece(_, _, arguments):
                total += len(arguments)
            case ToolResultPiece(_, _, content, _):
                total += len(content)
            case _:
                total += 4_000
    return total
