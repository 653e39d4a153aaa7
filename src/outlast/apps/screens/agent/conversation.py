"""A screen's conversation for its agent: the messages, without the tool calls of earlier runs. Pure.

The file changes of an earlier answer are in its `<files_summary>`, which stays in the text for the model and is never
shown to people; an answer that was cut off before it wrote one gets it from the files that it had written.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import orjson

from outlast.apps.screens.agent.captures import bounded, captures_in
from outlast.apps.screens.agent.tags import generate_files_summary, parse_files_summary
from outlast.base.records import dataclass
from outlast.kernel.agents.context_window import CHARS_PER_TOKEN, LoadImage, file_text, image_piece
from outlast.kernel.models.protocol import ModelMessage, Piece, TextPiece
from outlast.kernel.runs.history import Exchange

IMAGE_CHARS: Final = 4_000  # the size of an image in the budget
WRITES: Final = "create_or_update_files"
EXACTLY: Final = (
    "Replicate each captured element exactly: its HTML and CSS as they are, its exact colours instead of the theme's, "
    "its dimensions and spacing, its external image URLs. The goal is a pixel-perfect replica."
)


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """One message for the agent; `images` maps attachment ids to their names."""

    role: Literal["user", "assistant"]
    content: str
    images: tuple[tuple[str, str | None], ...] = ()


def format_messages_for_agent(records: Sequence[Mapping[str, Any]]) -> list[AgentMessage]:
    """Each message of a person or an agent (`role`, `parts`), in the same order, with the texts of its parts as its
    content, tags included. Messages of other roles are skipped."""
    return [_formatted(record) for record in records if record["role"] in ("user", "assistant")]


def records_of(exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    """The exchanges as messages, oldest first."""
    records: list[dict[str, Any]] = []
    for exchange in exchanges:
        records.append({"role": "user", "parts": exchange.asked})
        if exchange.answered:
            records.append({"role": "assistant", "parts": exchange.answered})
    return records


def told(exchanges: Sequence[Exchange], context: str, token_budget: int, load_image: LoadImage) -> list[ModelMessage]:
    """The conversation for the model: `context` precedes the text of the last message, the run's own, and the rule
    about captured elements follows it. The oldest messages are left out when the budget is used up; the last one always
    stays."""
    messages = format_messages_for_agent(records_of(exchanges))
    if not messages:
        return [ModelMessage("user", (TextPiece(context),))]
    *earlier, own = within(messages, token_budget * CHARS_PER_TOKEN - len(context))
    words = f"{own.content}\n\n{EXACTLY}" if captures_in(own.content) else own.content
    told_own = ModelMessage("user", (TextPiece(context), *_pieces(words, own, load_image)))
    return [*(ModelMessage(one.role, _pieces(one.content, one, load_image)) for one in earlier), told_own]


def within(messages: Sequence[AgentMessage], chars: int) -> list[AgentMessage]:
    """The last messages that fit, at least one, starting with a person's message if there is one."""
    kept: list[AgentMessage] = []
    for message in reversed(messages):
        chars -= len(message.content) + IMAGE_CHARS * len(message.images)
        if kept and chars < 0:
            break
        kept.insert(0, message)
    while len(kept) > 1 and kept[0].role == "assistant":
        del kept[0]
    return kept


def _formatted(record: Mapping[str, Any]) -> AgentMessage:
    parts = record["parts"]
    texts = [part["text"] for part in parts if part["type"] == "text" and part["text"].strip()]
    if record["role"] == "user":
        texts += [file_text(part) for part in parts if part["type"] == "file"]
        images = tuple((part["attachment_id"], part.get("name")) for part in parts if part["type"] == "image")
        return AgentMessage("user", bounded("\n\n".join(texts)), images)
    content = "\n\n".join(texts)
    if parse_files_summary(content) is None:
        content = "\n\n".join(text for text in (content, _written_by(parts)) if text)
    return AgentMessage("assistant", content or "(no answer was given)")


def _written_by(parts: Sequence[Mapping[str, Any]]) -> str:
    """A summary of the written files for an answer without one, from its calls."""
    done = (part for part in parts if part["type"] == "tool_call" and part["status"] == "done")
    paths = [path for part in done if part["tool"] == WRITES for path in _paths(part["arguments"])]
    return generate_files_summary(dict.fromkeys(paths, "written before the answer was cut off"))


def _paths(arguments: str) -> list[str]:
    try:
        return [str(file["path"]) for file in orjson.loads(arguments)["files"]]
    except (ValueError, KeyError, TypeError):
        return []


def _pieces(words: str, message: AgentMessage, load_image: LoadImage) -> tuple[Piece, ...]:
    return TextPiece(words), *(image_piece(id_, name, load_image) for id_, name in message.images)
