"""Errors of the tracker, as problem documents."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    """A refused request. `code` is stable, `detail` is the cause, `hint` the fix, `more` has extra response fields."""

    status: int
    code: str
    detail: str
    hint: str
    more: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        title = self.code.replace("_", " ").capitalize()
        base = {"type": f"about:blank#{self.code}", "title": title, "status": self.status, "code": self.code}
        return base | {"detail": self.detail, "hint": self.hint} | self.more


def unknown_value(field_name: str, value: object, allowed: tuple[str, ...]) -> Refused:
    """The error for a value that is not allowed."""
    return Refused(
        422,
        "unknown_value",
        f"{field_name} cannot be {str(value)[:80]!r}.",
        f"Use one of: {', '.join(allowed)}.",
        {"field": field_name},
    )


def no_such(kind: str, key: str) -> Refused:
    """The error for an unknown key."""
    return Refused(404, "not_found", f"The {kind} {key[:80]!r} does not exist.", f"List them with GET /v2/{kind}s.")
