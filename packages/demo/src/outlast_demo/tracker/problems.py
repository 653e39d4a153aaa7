"""What the tracker refuses, as problem documents."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    """`code` is stable, `detail` says what was wrong, `hint` what to do, `more` are further fields of the answer."""

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
    """A value that is none of those allowed."""
    return Refused(
        422,
        "unknown_value",
        f"{field_name} cannot be {str(value)[:80]!r}.",
        f"Use one of: {', '.join(allowed)}.",
        {"field": field_name},
    )


def no_such(kind: str, key: str) -> Refused:
    """A key that nothing has."""
    return Refused(404, "not_found", f"There is no {kind} {key[:80]!r}.", f"List them: GET /v2/{kind}s.")
