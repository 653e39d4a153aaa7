"""What a turn of the demo model is made of."""

from dataclasses import dataclass
from typing import Any, Final

ARGUMENT_PIECE_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Think:
    text: str


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Write:
    """Text that is no prose, streamed so many characters at a time."""

    text: str
    piece_chars: int


@dataclass(frozen=True, slots=True)
class Use:
    """A call of one of the tools the request offered; its arguments are streamed so many characters at a time."""

    tool: str
    arguments: dict[str, Any]
    piece_chars: int = ARGUMENT_PIECE_CHARS


Line = Think | Say | Write | Use
