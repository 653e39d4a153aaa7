"""Parts of a turn of the demo model."""

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
    """Text that is not prose, streamed `piece_chars` characters at a time."""

    text: str
    piece_chars: int


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a tool that the request offers; its arguments are streamed `piece_chars` characters at a time."""

    tool: str
    arguments: dict[str, Any]
    piece_chars: int = ARGUMENT_PIECE_CHARS


Line = Think | Say | Write | Use
