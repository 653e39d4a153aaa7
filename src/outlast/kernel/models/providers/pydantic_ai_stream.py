"""Converts a streamed answer of `pydantic_ai` to our deltas. Imported only with the extra `providers`."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from pydantic_ai import messages as pai

from outlast.kernel.models.protocol import Delta, Finish, ReasoningDelta, TextDelta, Usage
from outlast.kernel.models.provider_tools import provider_tool
from outlast.kernel.models.turn_calls import TurnCalls, parse_arguments


class EventReader:
    """Turns `pydantic_ai` stream events into deltas, checking tool calls on the way."""

    def __init__(self) -> None:
        self.calls = TurnCalls()
        self._indexes: dict[int, int] = {}
        self._told: set[str] = set()  # ids of the provider's own calls

    def read(self, event: Any) -> list[Delta]:
        """The deltas of one event; none for the many kinds that only repeat."""
        match event:
            case (
                pai.PartStartEvent(part=pai.TextPart(content=text))
                | pai.PartDeltaEvent(delta=pai.TextPartDelta(content_delta=text))
            ):
                return [TextDelta(text)] if text else []
            case (
                pai.PartStartEvent(part=pai.ThinkingPart(content=text))
                | pai.PartDeltaEvent(delta=pai.ThinkingPartDelta(content_delta=text))
            ):
                return [ReasoningDelta(text)] if text else []
            case pai.PartStartEvent(index=index, part=pai.ToolCallPart() as part):
                start = self.calls.start(part.tool_call_id, part.tool_name)
                self._indexes[index] = start.index
                return [start, *self._arguments(index, part.args)]
            case pai.PartDeltaEvent(index=index, delta=pai.ToolCallPartDelta(args_delta=arguments)):
                return self._arguments(index, arguments)
            case pai.PartEndEvent(part=part):
                return self._provider_tool(part)
        return []

    def rest(self, parts: Iterable[Any]) -> list[Delta]:
        """The deltas still missing at the end, from the whole response's parts."""
        told = [delta for part in parts for delta in self._provider_tool(part)]
        return [*told, *self.calls.complete()]

    def _provider_tool(self, part: Any) -> list[Delta]:
        """A whole call of the provider's own, shown once; without the list of an MCP server's tools, which is sent each
        time."""
        if not isinstance(part, pai.NativeToolCallPart) or part.tool_call_id in self._told:
            return []
        self._told.add(part.tool_call_id)
        given = part.args if isinstance(part.args, dict) else parse_arguments(part.args or "")
        return [] if (given or {}).get("action") == "list_tools" else [provider_tool(part.tool_name, given)]

    def _arguments(self, index: int, arguments: str | Mapping[str, object] | None) -> list[Delta]:
        if not arguments or index not in self._indexes:  # of a call that the provider runs itself
            return []
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
        return [self.calls.add(self._indexes[index], text)]


def to_finish(reason: str | None) -> Finish | None:
    """`pydantic_ai`'s finish in our terms; None for an error, or a stream without a finish."""
    finishes: dict[str, Finish] = {"stop": "stop", "tool_call": "tool_calls", "length": "length"}
    return finishes.get(reason or "")


def to_usage(usage: Any) -> Usage:
    """The usage; input tokens include the cached ones, as in our own terms."""
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        reasoning_tokens=int(usage.details.get("reasoning_tokens") or usage.details.get("thoughts_tokens") or 0),
    )
