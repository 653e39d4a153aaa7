"""A `ModelRequest` as the JSON body of an OpenAI-compatible `POST /chat/completions`."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from outlast.base.records import dataclass
from outlast.kernel.models.protocol import (
    NOTE_MARK,
    ImagePiece,
    ModelMessage,
    ModelRequest,
    ReasoningPiece,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
)
from outlast.kernel.models.settings import ProviderConfig, ReasoningSettings
from outlast.kernel.models.tool_choice import AUTO, REQUIRED

OPAQUE_VERSION = 1
THINKING_PARTS: Final = "thinking"
"""The `reasoning_field` of a provider that sends reasoning as parts of `content` (Mistral)."""
_DEMANDED: Final = "reasoning_content"
_DEMANDS: Final = re.compile(
    r"reasoning_content\W[^.]{0,80}(?:must be|passed back|required|missing)|missing[^.]{0,40}reasoning_content",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    r"unsupported|not supported|unknown|unexpected|unrecognized|extra|not permitted", re.IGNORECASE
)
_CHOICE: Final = re.compile(r"tool.?choice", re.IGNORECASE)
_MISLIKES: Final = re.compile(r"reasoning(?!_effort|\.effort)|thinking|signature", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format that a server understands. `with_usage`: it knows `stream_options`. `names_tools`: a `tool_choice` can
    name a tool; otherwise this tool is the only one that is offered. `reasoning`: earlier reasoning is returned
    unchanged; or on every call, empty if there is none; or not in this request; or never."""

    with_usage: bool = True
    names_tools: bool = True
    reasoning: Literal["as_it_came", "always", "not_now", "never"] = "as_it_came"

    def lasting(self) -> "Dialect":
        """The part to remember. Reasoning that was missing in one transcript says nothing about the next."""
        return replace(self, reasoning="as_it_came") if self.reasoning == "not_now" else self


USUAL_DIALECT: Final = Dialect()


def adapted(
    dialect: Dialect, status: int, said: str, *, reasoning_sent: bool, tool_named: bool = False
) -> Dialect | None:
    """The dialect for a retry after a refusal with a known reason, or None if a retry does not help."""
    if status not in (400, 422):
        return None
    if dialect.with_usage and "stream_options" in said:
        return replace(dialect, with_usage=False)
    if tool_named and _CHOICE.search(said):
        return replace(dialect, names_tools=False)
    if dialect.reasoning != "as_it_came":
        return None
    if _DEMANDS.search(said):
        return replace(dialect, reasoning="always")
    if reasoning_sent and _MISLIKES.search(said):
        return replace(dialect, reasoning="never" if _UNKNOWN.search(said) else "not_now")
    return None


def reasoning_sent(body: dict[str, Any]) -> bool:
    """True if an assistant message of the body contains earlier reasoning."""
    return any(
        _DEMANDED in message
        or "reasoning" in message
        or "reasoning_details" in message
        or (message["role"] == "assistant" and isinstance(message["content"], list))
        for message in body["messages"]
    )


def chat_body(config: ProviderConfig, request: ModelRequest, *, dialect: Dialect = USUAL_DIALECT) -> dict[str, Any]:
    """The body, in the server's dialect."""
    body: dict[str, Any] = {
        "model": request.model.name,
        "messages": list(_messages(config, request, dialect)),
        "stream": True,
    }
    if dialect.with_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body |= _tools(request, dialect)
    bound = request.max_output_tokens or request.model.max_output_tokens
    if bound > 0:
        body[config.max_tokens_field] = bound
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return {**body, **_thinking(config, request.model.reasoning), **config.extra_body}


def _tools(request: ModelRequest, dialect: Dialect) -> dict[str, Any]:
    choice = request.tool_choice
    if choice in (AUTO, REQUIRED):
        chosen = {} if choice == AUTO else {"tool_choice": choice}
        return {"tools": [_tool(tool) for tool in request.tools], **chosen}
    if dialect.names_tools:
        named = {"type": "function", "function": {"name": choice}}
        return {"tools": [_tool(tool) for tool in request.tools], "tool_choice": named}
    return {"tools": [_tool(tool) for tool in request.tools if tool.name == choice], "tool_choice": REQUIRED}


def tool_named(body: dict[str, Any]) -> bool:
    """True if the body names the tool that must be called."""
    return isinstance(body.get("tool_choice"), dict)


def _thinking(config: ProviderConfig, reasoning: ReasoningSettings) -> dict[str, Any]:
    """The reasoning settings: OpenRouter takes an effort or a budget, the others an effort."""
    if config.kind != "openrouter":
        return {"reasoning_effort": reasoning.effort} if reasoning.effort is not None else {}
    if reasoning.budget_tokens is not None:
        return {"reasoning": {"max_tokens": reasoning.budget_tokens}}
    return {"reasoning": {"effort": reasoning.effort}} if reasoning.effort is not None else {}


def _messages(config: ProviderConfig, request: ModelRequest, dialect: Dialect) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        if message.role == "assistant":
            yield _assistant(message, _own_opaque(config, request, message.opaque), dialect)
            continue
        results = [piece for piece in message.pieces if isinstance(piece, ToolResultPiece)]
        yield from (_tool_result(piece) for piece in results)
        yield from (_images_of_result(piece, vision=request.model.vision) for piece in results if piece.images)
        spoken = [piece for piece in message.pieces if isinstance(piece, TextPiece | ImagePiece)]
        if spoken:
            yield {"role": "user", "content": _content(spoken, vision=request.model.vision)}


def _assistant(message: ModelMessage, opaque: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    text = "".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))
    calls = [piece for piece in message.pieces if isinstance(piece, ToolCallPiece)]
    body: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        extras = opaque.get("call_extras", {})
        body["tool_calls"] = [_tool_call(call, extras.get(call.call_id)) for call in calls]
    thoughts = "".join(piece.text for piece in message.pieces if isinstance(piece, ReasoningPiece))
    return body | _reasoning(body, thoughts, opaque, dialect)


def _reasoning(body: dict[str, Any], thoughts: str, opaque: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """Put earlier reasoning into the field it came in. Plain text is returned only with calls: DeepSeek and similar
    providers refuse a transcript whose calls lack it, and do not need the rest."""
    if dialect.reasoning in ("not_now", "never"):
        return {}
    if dialect.reasoning == "always" and "tool_calls" in body:
        return {_DEMANDED: thoughts}
    if details := opaque.get("reasoning_details"):
        return {"reasoning_details": details}
    field = opaque.get("reasoning_field")
    if not thoughts or not isinstance(field, str):
        return {}
    if field == THINKING_PARTS:
        spoken = [{"type": "text", "text": body["content"]}] if body["content"] else []
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": thoughts}]}
        return {"content": [thinking, *spoken]}
    return {field: thoughts} if "tool_calls" in body else {}


def _own_opaque(config: ProviderConfig, request: ModelRequest, opaque: dict[str, Any] | None) -> dict[str, Any]:
    """The opaque record if this model made it; another model's signatures would be refused, so they are not sent."""
    if opaque is None or not is_own_opaque(config.name, request.model.name, opaque):
        return {}
    if request.model.send_reasoning == "never":
        return {"call_extras": opaque.get("call_extras", {})}
    return opaque


def is_own_opaque(provider: str, model: str, opaque: dict[str, Any] | None) -> bool:
    """True if this provider's model made the record. Records of older servers do not name the model."""
    return (
        opaque is not None
        and opaque.get("provider") == provider
        and opaque.get("v") == OPAQUE_VERSION
        and opaque.get("model", model) == model
    )


def _tool_call(call: ToolCallPiece, extra: Any) -> dict[str, Any]:
    body = {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {**body, "extra_content": extra} if extra else body


def _tool_result(piece: ToolResultPiece) -> dict[str, Any]:
    content = f"Error: {piece.content}" if piece.is_error else piece.content  # the format has no flag for it
    return {"role": "tool", "tool_call_id": piece.call_id, "content": content}


def _images_of_result(piece: ToolResultPiece, *, vision: bool) -> dict[str, Any]:
    """The images as a message behind the step's results: those take only text in this format."""
    told = TextPiece(f"{NOTE_MARK} The images that {piece.name} returned (call {piece.call_id}):")
    return {"role": "user", "content": _content([told, *piece.images], vision=vision)}


def _content(pieces: Iterable[TextPiece | ImagePiece], *, vision: bool) -> str | list[dict[str, Any]]:
    """Plain text if there is only text (every server accepts that), else parts with images as data URLs."""
    parts = [_part(piece, vision=vision) for piece in pieces]
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _part(piece: TextPiece | ImagePiece, *, vision: bool) -> dict[str, Any]:
    if isinstance(piece, TextPiece):
        return {"type": "text", "text": piece.text}
    if not vision:
        return {"type": "text", "text": unseen_image(piece)}
    url = f"data:{piece.media_type};base64,{b64encode(piece.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def unseen_image(piece: ImagePiece) -> str:
    """The text in place of an image in an older message, for a model that cannot see."""
    return f"[An image ({piece.media_type}) is not shown to this model.]"


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
