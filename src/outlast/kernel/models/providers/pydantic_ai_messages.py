"""Our transcript as `pydantic_ai` messages, and its events as our deltas. Imported only with the extra `providers`."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import orjson
from pydantic import ValidationError
from pydantic_ai import messages as pai
from pydantic_ai.tools import ToolDefinition

from outlast.kernel.models.protocol import (
    Delta,
    Finish,
    ImagePiece,
    ModelMessage,
    ModelRequest,
    ModelSpec,
    ReasoningDelta,
    TextDelta,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
    Usage,
)
from outlast.kernel.models.provider_tools import provider_tool
from outlast.kernel.models.providers.openai_requests import OPAQUE_VERSION, is_own_opaque, unseen_image
from outlast.kernel.models.turn import TurnCalls, parse_arguments


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
    """The response as `pydantic_ai` wants it back (signatures, item ids), as plain JSON values."""
    dumped = pai.ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    kept = {key: value for key, value in dumped.items() if value is not None and key != "usage"}
    kept["parts"] = [{key: value for key, value in part.items() if value is not None} for part in dumped["parts"]]
    return {"provider": provider, "model": model, "v": OPAQUE_VERSION, "response": kept}


def _request_parts(message: ModelMessage, *, vision: bool) -> Iterator[pai.ModelRequestPart]:
    content: list[pai.UserContent] = []
    for piece in message.pieces:
        match piece:
            case ToolResultPiece(call_id, name, text, is_error):
                result = pai.ToolReturnPart(tool_name=name, content=text, tool_call_id=call_id)
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
    if {part.tool_call_id for part in response.parts if isinstance(part, pai.ToolCallPart)} != set(calls):
        return None
    for part in response.parts:
        if isinstance(part, pai.ToolCallPart):
            part.args = calls[part.tool_call_id].arguments  # a person may have edited them at an approval
    return response


class EventReader:
    """Turns `pydantic_ai` stream events into deltas, checking tool calls on the way."""

    def __init__(self) -> None:
        self.calls = TurnCalls()
        self._indexes: dict[int, int] = {}
        self._told: set[str] = set()  # ids of the provider's own calls

    def read(self, event: Any) -> list[Delta]:
        """The deltas of one event; none for the many kinds that only repeat."""
        if isinstance(event, pai.PartStartEvent):
            return self._start(event.index, event.part)
        if isinstance(event, pai.PartDeltaEvent):
            return self._delta(event.index, event.delta)
        if isinstance(event, pai.PartEndEvent):
            return self._provider_tool(event.part)
        return []

    def rest(self, parts: Iterable[Any]) -> list[Delta]:
        """What is still missing at the end, from the whole response's parts."""
        told = [delta for part in parts for delta in self._provider_tool(part)]
        return [*told, *self.calls.complete()]

    def _provider_tool(self, part: Any) -> list[Delta]:
        """A whole call of the provider's own, shown once; without the list of an MCP server's tools, which comes each
        time."""
        if not isinstance(part, pai.NativeToolCallPart) or part.tool_call_id in self._told:
            return []
        self._told.add(part.tool_call_id)
        given = part.args if isinstance(part.args, dict) else parse_arguments(part.args or "")
        return [] if (given or {}).get("action") == "list_tools" else [provider_tool(part.tool_name, given)]

    def _start(self, index: int, part: Any) -> list[Delta]:
        if isinstance(part, pai.TextPart):
            return [TextDelta(part.content)] if part.content else []
        if isinstance(part, pai.ThinkingPart):
            return [ReasoningDelta(part.content)] if part.content else []
        if isinstance(part, pai.ToolCallPart):
            start = self.calls.start(part.tool_call_id, part.tool_name)
            self._indexes[index] = start.index
            return [start, *self._arguments(index, part.args)]
        return []

    def _delta(self, index: int, delta: Any) -> list[Delta]:
        if isinstance(delta, pai.TextPartDelta):
            return [TextDelta(delta.content_delta)] if delta.content_delta else []
        if isinstance(delta, pai.ThinkingPartDelta):
            return [ReasoningDelta(delta.content_delta)] if delta.content_delta else []
        if isinstance(delta, pai.ToolCallPartDelta):
            return self._arguments(index, delta.args_delta)
        return []

    def _arguments(self, index: int, arguments: str | dict[str, Any] | None) -> list[Delta]:
        if not arguments or index not in self._indexes:  # of a call that the provider carries out itself
            return []
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
        return [self.calls.add(self._indexes[index], text)]


def to_finish(reason: str | None) -> Finish | None:
    """`pydantic_ai`'s finish in our words; None for a stream that never said one, or an error."""
    finishes: dict[str, Finish] = {"stop": "stop", "tool_call": "tool_calls", "length": "length"}
    return finishes.get(reason or "")


def to_usage(usage: Any) -> Usage:
    """Input tokens include the cached ones, as in our own words."""
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        reasoning_tokens=int(usage.details.get("reasoning_tokens") or usage.details.get("thoughts_tokens") or 0),
    )
