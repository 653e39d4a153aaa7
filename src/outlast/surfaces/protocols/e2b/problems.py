"""Our errors as E2B's programs expect them: `{code, message}` with a status for plain requests, a code for Connect."""

from typing import Any, Final

from starlette.responses import Response

from outlast.base.errors import (
    Conflict,
    DiskFull,
    Gone,
    InputTooLarge,
    InvalidRequest,
    NotFound,
    NotOffered,
    NotSignedIn,
    OutlastError,
    PermissionNeeded,
    RateLimited,
    SandboxLost,
    TryLater,
)
from outlast.kernel.http.problems import status_of
from outlast.kernel.http.responses import reply

BAD_GATEWAY: Final = 502  # what E2B's proxy answers for a sandbox, or a port of one, that is not there
_CODES: Final[tuple[tuple[type[OutlastError], str, int], ...]] = (
    (NotSignedIn, "unauthenticated", 401),
    (PermissionNeeded, "permission_denied", 403),
    (NotOffered, "unimplemented", 501),
    (InputTooLarge, "resource_exhausted", 429),
    (InvalidRequest, "invalid_argument", 400),
    (Gone, "not_found", 404),
    (Conflict, "already_exists", 409),
    (RateLimited, "resource_exhausted", 429),
    (DiskFull, "resource_exhausted", 429),
    (TryLater, "unavailable", 503),
    (OutlastError, "internal", 500),
)
"""Connect's code of an error, and the HTTP status of an answer with it. The first class that fits counts."""


def is_gone(error: OutlastError) -> bool:
    """Whether the sandbox itself is not there, rather than something in it."""
    return isinstance(error, SandboxLost) or (isinstance(error, NotFound) and error.fields.get("noun") == "sandbox")


def full_message(error: OutlastError) -> str:
    """The message with what to do, as one text: the SDKs show nothing else."""
    message = error.message
    if (
        isinstance(error, SandboxLost) and "was not found" not in message
    ):  # how SDKs know a dead sandbox from a busy one
        message = f"The sandbox was not found: {message}"
    return f"{message} {error.hint}".strip()


def connect_code(error: OutlastError) -> tuple[str, int]:
    """Connect's code, and the HTTP status of an answer that is not a stream."""
    if is_gone(error):
        return "unavailable", 503
    return next((code, status) for kind, code, status in _CODES if isinstance(error, kind))


def connect_error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message}


def status_for(error: OutlastError) -> int:
    """E2B's own statuses are 400 for bad input, 401, 403, 404, 409, 429 and 5xx."""
    status = status_of(type(error))
    return 400 if status == 422 else status


def plain(error: OutlastError, status: int | None = None) -> Response:
    """A plain request's answer."""
    status = status or status_for(error)
    answer = reply({"code": status, "message": full_message(error)}, status)
    if error.retry_after_s is not None:
        answer.headers["retry-after"] = str(max(1, round(error.retry_after_s)))
    elif status in (429, 503):
        answer.headers["should-retry"] = "false" if status == 429 else "true"
    return answer
