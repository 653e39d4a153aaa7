"""Our transcript as `pydantic_ai` messages. Imported only with the extra `providers`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_ai import messages as pai
from pydantic_ai.tools import ToolDefinition

from outlast.kernel.models.protocol import (
    ImagePiece,
    ModelMessage,
    ModelRequest,
    ModelSpec,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
)
from outlast.kernel.models.providers.openai_body import OPAQUE_VERSION, is_own_opaque, unseen_image


def to_messages(provider: str, request: ModelRequest) -> list[pai.ModelMessage]:
    """The whole transcript, the system prompt first."""
    messages: list[pai.ModelMessage] = []
    opening: list[pai.ModelRequestPart] = [pai.SystemPromptPart(request.system)] if request.system else []
    for message in request.messages:
        if message.role == "assistant":
            if opening:
                messages.append(pai.ModelRequest(parts=opening))
            messages.append(_response(provider, request.model, message))
        else:
            messages.append(pai.ModelRequest(parts=[*opening, *_request_parts(message, vision=request.model.vision)]))
        opening = []
    if opening:
        messages.append(pai.ModelRequest(parts=opening))
    return messages


def to_tool(tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)


def to_opaque(provider: str, model: str, response: pai.ModelResponse) -> dict[str, Any]:
    """The response as `pydantic_ai` needs it back (signatures, item ids), as plain JSON values."""
    dumped = pai.ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    kept = {key: value for key, value in dumped.items() if value is not None and key != "usage"}
    kept["parts"] = [{key: value for key, value in part.items() if value is not None} for part in dumped["parts"]]
    return {"provider": provider, "model": model, "v": OPAQUE_VERSION, "response": kept}


def _request_parts(message: ModelMessage, *, vision: bool) -> Iterator[pai.ModelRequestPart]:
    content: list[pai.UserContent] = []
    for piece in message.pieces:
        match piece:
            case ToolResultPiece(call_id, name, text, is_error, images):
                returned = [pai.BinaryContent(one.data, media_type=one.media_type) for one in images if vision]
                unseen = [unseen_image(one) for one in images if not vision]
                content_of_call = [text, *returned] if returned else "\n".join([text, *unseen])
                result = pai.ToolReturnPart(tool_name=name, content=content_of_call, tool_call_id=call_id)
                yield replace(result, outcome="failed") if is_error else result
            case TextPiece(text):
                content.append(text)
            case ImagePiece(media_type, data):
                content.append(pai.BinaryContent(data, media_type=media_type) if vision else unseen_image(piece))
            case _:
                continue
    if content:
        yield pai.UserPromptPart(content)


def _response(provider: str, model: ModelSpec, message: ModelMessage) -> pai.ModelResponse:
    own = is_own_opaque(provider, model.name, message.opaque) and model.send_reasoning != "never"
    kept = _kept_response(message) if own else None
    if kept is not None:
        return kept
    parts: list[pai.ModelResponsePart] = []
    for piece in message.pieces:
        if isinstance(piece, TextPiece) and piece.text:
            parts.append(pai.TextPart(piece.text))
        elif isinstance(piece, ToolCallPiece):
            parts.append(pai.ToolCallPart(piece.name, piece.arguments, tool_call_id=piece.call_id))
    return pai.ModelResponse(parts=parts)  # unsigned reasoning is left out: providers refuse or misread it


def _kept_response(message: ModelMessage) -> pai.ModelResponse | None:
    """The provider's own record, if it still loads and names the same calls as the transcript."""
    opaque = message.opaque or {}
    try:
        response = pai.ModelMessagesTypeAdapter.validate_python([opaque.get("response")])[0]
    except ValidationError:
        return None
    calls = {piece.call_id: piece for piece in message.pieces if isinstance(piece, ToolCallPiece)}
    if not isinstance(response, pai.ModelResponse):
        return None
    made = [part for part in response.parts if isinstance(part, pai.ToolCallPart)]
    if {part.tool_call_id for part in made} != set(calls):
        return None
    for part in made:
        part.args = calls[part.tool_call_id].arguments  # a user may have edited them at an approval
    return response
