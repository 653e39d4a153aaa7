"""A `ModelRequest` as the JSON body of an OpenAI-compatible `POST /chat/completions`."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

from outlast.core.models.config import ProviderConfig
from outlast.core.models.protocol import (
    ImagePiece,
    ModelMessage,
    ModelRequest,
    Piece,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
)

OPAQUE_VERSION = 1


def chat_body(config: ProviderConfig, request: ModelRequest, *, with_usage: bool) -> dict[str, Any]:
    """The body. `with_usage` asks for token counts at the end of the stream, which a few servers do not understand."""
    body: dict[str, Any] = {
        "model": request.model.name,
        "messages": list(_messages(config, request)),
        "stream": True,
    }
    if with_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    bound = request.max_output_tokens or request.model.max_output_tokens
    if bound > 0:
        body[config.max_tokens_field] = bound
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return {**body, **config.extra_body}


def _messages(config: ProviderConfig, request: ModelRequest) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        if message.role == "assistant":
            yield _assistant(config, message)
            continue
        yield from (_tool_result(piece) for piece in message.pieces if isinstance(piece, ToolResultPiece))
        spoken = [piece for piece in message.pieces if isinstance(piece, TextPiece | ImagePiece)]
        if spoken:
            yield {"role": "user", "content": _content(spoken, vision=request.model.vision)}


def _assistant(config: ProviderConfig, message: ModelMessage) -> dict[str, Any]:
    text = "".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))
    calls = [piece for piece in message.pieces if isinstance(piece, ToolCallPiece)]
    opaque = _own_opaque(config, message.opaque)
    body: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        extras = opaque.get("call_extras", {})
        body["tool_calls"] = [_tool_call(call, extras.get(call.call_id)) for call in calls]
    if "reasoning_details" in opaque:
        body["reasoning_details"] = opaque["reasoning_details"]
    return body


def _own_opaque(config: ProviderConfig, opaque: dict[str, Any] | None) -> dict[str, Any]:
    """What this provider gave us to hand back; another provider's signatures would be refused, so they stay here."""
    if opaque and opaque.get("provider") == config.name and opaque.get("v") == OPAQUE_VERSION:
        return opaque
    return {}


def _tool_call(call: ToolCallPiece, extra: Any) -> dict[str, Any]:
    body = {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    return {**body, "extra_content": extra} if extra else body


def _tool_result(piece: ToolResultPiece) -> dict[str, Any]:
    content = f"Error: {piece.content}" if piece.is_error else piece.content  # the format has no flag for it
    return {"role": "tool", "tool_call_id": piece.call_id, "content": content}


def _content(pieces: Iterable[Piece], *, vision: bool) -> str | list[dict[str, Any]]:
    """Plain text where there is only text (every server takes that), else parts with images as data URLs."""
    parts = [_part(piece, vision=vision) for piece in pieces]
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _part(piece: Piece, *, vision: bool) -> dict[str, Any]:
    if isinstance(piece, ImagePiece):
        if not vision:
            return {"type": "text", "text": unseen_image(piece)}
        url = f"data:{piece.media_type};base64,{b64encode(piece.data).decode()}"
        return {"type": "image_url", "image_url": {"url": url}}
    assert isinstance(piece, TextPiece)
    return {"type": "text", "text": piece.text}


def unseen_image(piece: ImagePiece) -> str:
    """What stands in an older message for an image that the model chosen now cannot see."""
    return f"[An image ({piece.media_type}) is not shown to this model.]"


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
