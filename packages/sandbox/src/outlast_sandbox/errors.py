"""What goes wrong with a sandbox. Each error has a stable `code`; a program that embeds sandboxes maps them to its own.

SandboxError
├── SandboxLost          it is gone; make another over the same workspace
├── SandboxUnavailable   none can be made now, or this provider cannot do it; `retry_after_s` where that is known
├── SandboxIsolationMissing   this machine cannot isolate one
├── NotFound · PathRefused · InputTooLarge · ArgumentsInvalid · MalformedInput   the call is wrong
├── Conflict             it is in another state than the call needs
├── DiskFull             the machine's disk
├── FenceLost            a newer attempt owns the effect
├── StoredFileDamaged    what was read back is not what was written
└── InvalidSetting · StartRefused   a provider cannot be opened like this

Messages are for people and hold no secrets; ids are in `fields`. Every error survives pickling.
"""

from __future__ import annotations

from typing import Any, ClassVar


class SandboxError(Exception):
    """Base of all: `message` says what was refused or lost, `hint` what to do."""

    code: ClassVar[str] = "sandbox_error"
    default_hint: ClassVar[str] = ""

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after_s: float | None = None, **fields: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.retry_after_s = retry_after_s
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.hint, self.retry_after_s, self.fields)


def _rebuild(
    kind: type[SandboxError], message: str, hint: str, retry_after_s: float | None, fields: dict[str, Any]
) -> SandboxError:
    return kind(message, hint=hint, retry_after_s=retry_after_s, **fields)


class SandboxLost(SandboxError):
    code = "sandbox_lost"


class SandboxUnavailable(SandboxError):
    code = "sandbox_unavailable"


class SandboxIsolationMissing(SandboxError):
    code = "sandbox_isolation_missing"


class NotFound(SandboxError):
    code = "not_found"


class PathRefused(SandboxError):
    code = "path_refused"
    default_hint = "Use a path relative to the workspace, without '..'."


class InputTooLarge(SandboxError):
    code = "input_too_large"


class ArgumentsInvalid(SandboxError):
    code = "arguments_invalid"


class MalformedInput(SandboxError):
    code = "malformed_input"


class Conflict(SandboxError):
    code = "conflict"


class DiskFull(SandboxError):
    code = "disk_full"
    default_hint = "Free space on this machine's disk. Nothing was changed."


class FenceLost(SandboxError):
    code = "fence_lost"


class StoredFileDamaged(SandboxError):
    code = "stored_file_damaged"


class InvalidSetting(SandboxError):
    code = "invalid_setting"


class StartRefused(SandboxError):
    code = "start_refused"
