"""Errors of the server.

OutlastError
├── InvalidRequest      fix the request
├── PermissionNeeded    sign in, or ask for permission
├── CreditsNeeded       get credits, or choose a cheaper model
├── Gone                it does not exist, or you have no access
├── Conflict            it was changed meanwhile, or is in another state
├── ProviderRefused     a model provider refused the request permanently
├── InternalError       a bug in the server
└── TryLater            repeat it later; `retry_after_s` says when
    └── Unreachable     no response: the server or the network is down
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import httpx


class OutlastError(Exception):
    """`code` is the exact cause and stable, `hint` the fix. `status` is the HTTP status, 0 without a response."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str = "",
        status: int = 0,
        fields: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.status = status
        self.fields = dict(fields or {})
        self.request_id = request_id
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidRequest(OutlastError):
    """Fix the request."""


class PermissionNeeded(OutlastError):
    """Sign in, or ask for permission."""


class CreditsNeeded(OutlastError):
    """Get credits, or choose a cheaper model."""


class Gone(OutlastError):
    """It does not exist, or you have no access."""


class Conflict(OutlastError):
    """It was changed meanwhile, or is in another state."""


class ProviderRefused(OutlastError):
    """A model provider refused the request permanently."""


class InternalError(OutlastError):
    """A bug in the server."""


class TryLater(OutlastError):
    """Repeat it later; `retry_after_s` says when."""


class Unreachable(TryLater):
    """No response: the server or the network is down."""


BY_CODE: Final[Mapping[str, type[OutlastError]]] = {
    "model_key_refused": ProviderRefused,
    "model_policy_refused": ProviderRefused,
    "model_rejected": ProviderRefused,
    "policy_denied": PermissionNeeded,
}
BY_STATUS: Final[Mapping[int, type[OutlastError]]] = {
    401: PermissionNeeded,
    402: CreditsNeeded,
    403: PermissionNeeded,
    404: Gone,
    408: TryLater,
    409: Conflict,
    410: Gone,
    429: TryLater,
    502: TryLater,
    503: TryLater,
    504: TryLater,
    507: TryLater,
}


def error_of(answer: httpx.Response) -> OutlastError:
    """The error of a refused request, also if something other than Outlast responded. The body has been read."""
    status = answer.status_code
    try:
        problem = json.loads(answer.content)
        message, code = str(problem["detail"]), str(problem["code"])
    except (ValueError, KeyError, TypeError):
        problem, code = {}, f"http_{status}"
        message = f"The server responded with status {status} and no details."
    kind = BY_CODE.get(code) or BY_STATUS.get(status) or (InternalError if status >= 500 else InvalidRequest)
    retry_after_s = problem.get("retry_after_s")
    return kind(
        message,
        code=code,
        hint=problem.get("hint", ""),
        status=status,
        fields=problem.get("fields"),
        request_id=problem.get("request_id"),
        retry_after_s=_seconds(answer.headers.get("retry-after")) if retry_after_s is None else retry_after_s,
    )


def unreachable(url: str, error: Exception) -> Unreachable:
    """The error of a request without a response."""
    return Unreachable(
        f"No server answers at {url} ({str(error) or type(error).__name__}).",
        code="unreachable",
        hint="Check the address and the connection. Saved data is not lost.",
    )


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None
