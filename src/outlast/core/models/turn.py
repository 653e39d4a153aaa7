"""What makes a streamed turn whole: the one check every adapter (and the scripted fake) passes its tool calls through.

Pure: fed with deltas, it answers or raises `ModelOutputInvalid`; no network, no clock.
"""

from dataclasses import dataclass, field

import orjson

from outlast.base.errors import ModelOutputInvalid
from outlast.core.models.protocol import Finish, ToolArgumentsDelta, ToolCallStart


@dataclass(slots=True)
class _OpenCall:
    name: str
    arguments: list[str] = field(default_factory=list)


class TurnCalls:
    """The tool calls of the turn being streamed, by index."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def start(self, call_id: str, name: str) -> ToolCallStart:
        """The delta that opens the next call."""
        self._calls.append(_OpenCall(name))
        return ToolCallStart(len(self._calls) - 1, call_id, name)

    def add(self, index: int, text: str) -> ToolArgumentsDelta:
        """The delta that carries `text`, the next characters of call `index`."""
        self._calls[index].arguments.append(text)
        return ToolArgumentsDelta(index, text)

    def complete(self) -> list[ToolArgumentsDelta]:
        """Deltas still missing at the end (`{}` for a call without arguments).

        Raises `ModelOutputInvalid` when a call's arguments are not one JSON object.
        """
        missing = [
            self.add(index, "{}")
            for index, call in enumerate(self._calls)
            if not "".join(call.arguments).strip()
        ]
        for call in self._calls:
            require_json_object(call.name, "".join(call.arguments))
        return missing

    def finish(self, said: Finish) -> Finish:
        """The finish as the protocol means it: `tool_calls` exactly when there are calls to carry out."""
        if said in ("stop", "tool_calls"):
            return "tool_calls" if self._calls else "stop"
        return said

    def __len__(self) -> int:
        return len(self._calls)


def require_json_object(tool: str, text: str) -> None:
    """Raises `ModelOutputInvalid` (which names the tool, not what was written) unless `text` is one JSON object."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise ModelOutputInvalid(
            f"The model called the tool {tool[:64]!r} with arguments that are not a complete JSON object.",
            hint="This is usually an accident of one answer; asking again helps.",
            tool=tool[:64],
            arguments_length=len(text),
        )
