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
class Edit:
    """One wish. `loc` names the element, `tag` what it was called (None: not checked), `seen` the value that the
    person saw (None: there was none), `value` the new one; `attribute` for the kind `attribute` only."""

    loc: str
    kind: EditKind
    seen: str | None
    value: str
    attribute: str | None = None
    tag: str | None = None


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
