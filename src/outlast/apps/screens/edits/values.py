"""What the parts of visual editing hand to each other."""

from dataclasses import dataclass
from typing import Final, Literal

EditKind = Literal["classes", "text", "attribute"]
EditStatus = Literal["applied", "refused", "stale"]
MAX_EDITS: Final = 200
MAX_CLASSES_CHARS: Final = 4_000
MAX_TEXT_CHARS: Final = 10_000
MAX_ATTRIBUTE_CHARS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a value cannot be edited by hand: a stable code, what is the matter, what to do."""

    code: str
    reason: str
    hint: str = "Ask the agent to change it."


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes `start` to `end` of a file become `new`."""

    start: int
    end: int
    new: bytes
