"""Our errors as E2B's programs expect them: `{code, message}` with a status for plain requests, a word for Connect."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from starlette.responses import Response

from outlast.base.errors import (
    Conflict,
    DiskFull,
    Forbidden,
    Gone,
    InputTooLarge,
    InternalError,
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

BAD_GATEWAY: Final = 502  # what E2B's proxy answers for a sandbox, or a port of one, that is not there
_WORDS: Final[tuple[tuple[type[OutlastError], str], ...]] = (
    (NotSignedIn, "unauthenticated"),
    (Forbidden, "permission_denied"),
    (PermissionNeeded, "permission_denied"),
    (NotOffered, "unimplemented"),
    (InputTooLarge, "resource_exhausted"),
    (InvalidRequest, "invalid_argument"),
    (Gone, "not_found"),
    (Conflict, "already_exists"),
    (RateLimited, "resource_exhausted"),
    (DiskFull, "resource_exhausted"),
    (TryLater, "unavailable"),
    (InternalError, "internal"),
)
_HTTP: Final[Mapping[str, int]] = {
    "canceled": 499,
    "unknown": 500,
    "invalid_argument": 400,
    "deadline_exceeded": 504,
    "not_found": 404,
    "already_exists": 409,
    "permission_denied": 403,
    "resource_exhausted": 429,
    "failed_precondition": 400,
    "unimplemented": 501,
    "internal": 500,
    "unavailable": 503,
    "unauthenticated": 401,
}


def is_gone(error: OutlastError) -> bool:
    """Whether the sandbox itself is not there, rather than something in it."""
    return isinstance(error, SandboxLost) or (isinstance(error, NotFound) and error.fields.get("noun") == "sandbox")


def told(error: OutlastError) -> str:
    """The message with what to do, as one text: the SDKs show nothing else."""
    message = lost_message(error) if isinstance(error, SandboxLost) else error.message
    return f"{message} {error.hint}".strip()


def lost_message(error: OutlastError) -> str:
    """The SDKs look for the words "was not found" to tell a dead sandbox from one that is busy."""
    return error.message if "was not found" in error.message else f"The sandbox was not found: {error.message}"


def word_of(error: OutlastError) -> str:
    """The Connect code of an error."""
    if is_gone(error):
        return "unavailable"
    return next((word for kind, word in _WORDS if isinstance(error, kind)), "internal")


def connect_error(word: str, message: str) -> dict[str, Any]:
    return {"code": word, "message": message}


def http_status_of_word(word: str) -> int:
    return _HTTP.get(word, 500)


def status_for(error: OutlastError) -> int:
    """E2B's own statuses are 400 for bad input, 401, 403, 404, 409, 429 and 5xx."""
    status = status_of(type(error))
    return 400 if status == 422 else status


def plain(error: OutlastError, status: int | None = None) -> Response:
    """A plain request's answer."""
    status = status or status_for(error)
    headers = {"cache-control": "no-store"}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(max(1, round(error.retry_after_s)))
    elif status in (429, 503):
        headers["should-retry"] = "false" if status == 429 else "true"
    body = {"code": status, "message": told(error)}
    return Response(orjson.dumps(body), status, headers, "application/json")
