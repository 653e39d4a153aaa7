"""Errors as HTTP: one table from error to status, one shape (RFC 9457) for all errors."""

import logging
import math
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from outlast.base import errors
from outlast.base.errors import OutlastError

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final[Mapping[str, int]] = {
    "malformed_input": 400,
    "input_too_large": 413,
    "body_too_slow": 408,
    "cursor_unknown": 400,
    "not_signed_in": 401,
    "hook_secret_wrong": 401,
    "run_cleaned_up": 410,
    "rate_limited": 429,
    "disk_full": 507,
    "not_offered": 501,
}
BRANCH: Final[tuple[tuple[type[OutlastError], int], ...]] = (
    (errors.InvalidRequest, 422),
    (errors.PermissionNeeded, 403),
    (errors.CreditsNeeded, 402),
    (errors.Gone, 404),
    (errors.Conflict, 409),
    (errors.TryLater, 503),
    (errors.ProviderRefused, 502),
    (errors.StartRefused, 500),
    (errors.InternalError, 500),
)
log = logging.getLogger("outlast.http")


def status_of(kind: type[OutlastError]) -> int:
    """The HTTP status of an error: its own in `STATUS`, else its branch's."""
    own = STATUS.get(kind.code)
    return own or next((status for branch, status in BRANCH if issubclass(kind, branch)), 500)


def problem(error: OutlastError, request_id: str, *, status: int | None = None) -> Response:
    """The answer for `error`."""
    status = status or status_of(type(error))
    body: dict[str, Any] = {
        "type": f"urn:outlast:problem:{error.code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": error.code,
        "detail": error.message,
        "hint": error.hint,
        "fields": error.fields,
        "request_id": request_id,
    }
    headers = {"cache-control": "no-store"}
    if error.retry_after_s is not None:
        body["retry_after_s"] = error.retry_after_s
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after_s)))
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(orjson.dumps(body, default=str), status, headers, MEDIA_TYPE)


def request_id_of(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))


async def answer_refusal(request: Request, error: Exception) -> Response:
    """Handler of every `OutlastError`; bugs are logged with their ids."""
    assert isinstance(error, OutlastError)
    if isinstance(error, errors.InternalError):
        log.error("internal error", exc_info=error, extra={"request_id": request_id_of(request)})
    return problem(error, request_id_of(request))


async def answer_invalid(request: Request, error: Exception) -> Response:
    """Handler of input that does not fit its model: names the fields, never quotes the input."""
    from fastapi.exceptions import RequestValidationError

    assert isinstance(error, RequestValidationError)
    fields = {_place(item["loc"]): str(item["msg"]) for item in error.errors()}
    first = ", ".join(f"{name}: {text}" for name, text in list(fields.items())[:3])
    refusal = errors.MalformedInput(
        f"The request does not have the expected shape: {first}.",
        hint="Correct the fields named. GET /openapi.json describes every request.",
        errors=fields,
    )
    return problem(refusal, request_id_of(request))


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Handler of the router's own errors: no such path, wrong method."""
    assert isinstance(error, HTTPException)
    request_id = request_id_of(request)
    if error.status_code == 404:
        return problem(errors.NotFound(f"There is nothing at {request.url.path[:200]}."), request_id)
    refusal = errors.MalformedInput(str(error.detail), hint="GET /openapi.json describes every request.")
    answer = problem(refusal, request_id, status=error.status_code)
    answer.headers.update(error.headers or {})
    return answer


def unexpected() -> OutlastError:
    """The error that a client gets for an unexpected one, which is in the log under the request id."""
    return errors.InternalError("The server failed to answer this request.")


async def answer_unexpected(request: Request, _error: Exception) -> Response:
    """Handler of every other exception; the request guard logs it."""
    return problem(unexpected(), request_id_of(request))


def _place(path: Iterable[Any]) -> str:
    parts = [str(part) for part in path]
    return ".".join(parts[1:] if len(parts) > 1 and parts[0] in ("body", "query", "path", "header") else parts)
