"""Our errors as E2B's programs expect them: `{code, message}` with a status for plain requests, a code for Connect."""

from typing import Final

from starlette.responses import Response

from outlast.base import errors
from outlast.base.errors import OutlastError
from outlast.kernel.http.problems import status_of
from outlast.kernel.http.responses import reply

BAD_GATEWAY: Final = 502  # E2B's proxy answers this for a missing sandbox or port
_CODES: Final[tuple[tuple[type[OutlastError], str, int], ...]] = (
    (errors.NotSignedIn, "unauthenticated", 401),
    (errors.PermissionNeeded, "permission_denied", 403),
    (errors.NotOffered, "unimplemented", 501),
    (errors.InputTooLarge, "resource_exhausted", 429),
    (errors.InvalidRequest, "invalid_argument", 400),
    (errors.Gone, "not_found", 404),
    (errors.Conflict, "already_exists", 409),
    (errors.RateLimited, "resource_exhausted", 429),
    (errors.DiskFull, "resource_exhausted", 429),
    (errors.TryLater, "unavailable", 503),
    (OutlastError, "internal", 500),
)
"""Connect's code of an error, and the HTTP status of an answer with it. The first class that fits is used."""


def is_gone(error: OutlastError) -> bool:
    """True if the sandbox itself is missing, rather than something in it."""
    is_missing = isinstance(error, errors.NotFound) and error.fields.get("noun") == "sandbox"
    return is_missing or isinstance(error, errors.SandboxLost)


def full_message(error: OutlastError) -> str:
    """The message and the hint as one text: the SDKs show nothing else."""
    # SDKs tell a dead sandbox from a busy one by "was not found".
    is_unsaid = isinstance(error, errors.SandboxLost) and "was not found" not in error.message
    return f"{'The sandbox was not found: ' if is_unsaid else ''}{error.message} {error.hint}".strip()


def connect_code(error: OutlastError) -> tuple[str, int]:
    """Connect's code, and the HTTP status of an answer that is not a stream."""
    if is_gone(error):
        return "unavailable", 503
    return next((code, status) for kind, code, status in _CODES if isinstance(error, kind))


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
