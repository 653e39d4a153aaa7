"""Errors of sandboxes. Each has a stable `code`; a program that embeds sandboxes maps them to its own errors.

SandboxError
├── SandboxLost          it is gone; create another over the same workspace
├── SandboxUnavailable   none can be created now, or the provider cannot do it; `retry_after_s` if known
│   └── HostUnreachable  the machine that has it does not answer; it may live on there
├── SandboxIsolationMissing   this machine cannot isolate one
├── NotFound · PathRefused · InputTooLarge · ArgumentsInvalid · MalformedInput   the call is invalid
├── Conflict             its state does not allow the call
├── DiskFull             the machine's disk is full
├── FenceLost            a newer attempt owns the effect
├── StoredFileDamaged    stored data is damaged
└── InvalidSetting · StartRefused   a provider cannot be opened with these settings

Messages are for users and contain no secrets; ids are in `fields`. Every error can be pickled.
"""

from __future__ import annotations

from typing import Any, ClassVar


class SandboxError(Exception):
    """Base of all: `message` is the failure, `hint` the next step."""

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


class HostUnreachable(SandboxUnavailable):
    code = "host_unreachable"
    default_hint = "Check that machine, its container engine and the way to it; 'outlast doctor' tries each host."


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
