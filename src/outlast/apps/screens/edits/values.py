"""What the parts of visual editing hand to each other."""

from dataclasses import dataclass
from typing import Literal

EditKind = Literal["classes", "text", "attribute"]
EditStatus = Literal["applied", "refused", "stale"]


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


@dataclass(frozen=True, slots=True)
class EditResult:
    """What became of an edit, in the order of the wishes. `loc`: where its element begins now. `code`, `reason` and
    `hint` for refused and stale ones; `found` is what the source says instead of what was seen (stale ones)."""

    status: EditStatus
    loc: str
    code: str | None = None
    reason: str | None = None
    hint: str | None = None
    found: str | None = None
