"""Helpers of adapters (and the scripted fake): the tool calls of a streamed turn, their arguments as providers accept
them, and a text split as a model streams it. Pure.
"""

import re
from typing import Any, Final

import orjson

from outlast.kernel.models.protocol import Finish, ToolArgumentsDelta, ToolCallStart

INVALID_ARGUMENTS_KEY: Final = "invalid_json"
INVALID_ARGUMENTS_CHARS: Final = 2_000
_WORD: Final = re.compile(r"\s*\S+|\s+")


class TurnCalls:
    """The tool calls of the turn being streamed, by index."""

    __slots__ = ("_has_arguments",)

    def __init__(self) -> None:
        self._has_arguments: list[bool] = []

    def start(self, call_id: str, name: str) -> ToolCallStart:
        """The delta that opens the next call."""
        self._has_arguments.append(False)
        return ToolCallStart(len(self) - 1, call_id, name)

    def add(self, index: int, text: str) -> ToolArgumentsDelta:
        """The delta that carries `text`, the next characters of call `index`."""
        self._has_arguments[index] |= bool(text.strip())
        return ToolArgumentsDelta(index, text)

    def complete(self) -> list[ToolArgumentsDelta]:
        """Deltas still missing at the end: `{}` for a call without arguments."""
        return [self.add(index, "{}") for index, written in enumerate(self._has_arguments) if not written]

    def finish(self, said: Finish) -> Finish:
        """The finish as the protocol means it: `tool_calls` exactly when there are calls to carry out."""
        if said in ("stop", "tool_calls"):
            return "tool_calls" if len(self) else "stop"
        return said

    def __len__(self) -> int:
        return len(self._has_arguments)


def parse_arguments(text: str) -> dict[str, Any] | None:
    """A call's arguments as an object; None if they are not one. Steps grow with the length of `text`, which the
    model's output limit bounds."""
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def sendable_arguments(text: str) -> str:
    """The arguments in a form that providers accept: malformed ones are shortened and wrapped in an object, since some
    providers refuse a transcript with anything else."""
    if parse_arguments(text) is not None:
        return text or "{}"
    return orjson.dumps({INVALID_ARGUMENTS_KEY: text[:INVALID_ARGUMENTS_CHARS]}).decode()


def split_words(text: str) -> list[str]:
    """The text's words, each with the white space before it; joined, they are the text again."""
    return _WORD.findall(text)
