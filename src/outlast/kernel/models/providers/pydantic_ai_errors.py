"""Maps the errors of `pydantic_ai` and the SDKs below it to our error tree. Imported only with the extra."""

from typing import Final

import httpx2
from pydantic_ai import exceptions as pai
from pydantic_core import ValidationError

from outlast.base.errors import OutlastError
from outlast.kernel.models import failures
from outlast.kernel.models.failures import Complaint, Peer

# ValueError: JSON the SDK could not read; RuntimeError: its assertions about the shape of a stream.
KNOWN: Final[tuple[type[Exception], ...]] = (
    pai.AgentRunError,
    pai.UserError,
    httpx2.HTTPError,
    httpx2.StreamError,
    ValidationError,
    ValueError,
    TypeError,
    AssertionError,
    AttributeError,
    KeyError,
)


def to_error(peer: Peer, base_url: str, error: Exception, *, streaming: bool) -> OutlastError:
    """Our error for one of `KNOWN`. `streaming`: some of the answer had arrived."""
    match error:
        case pai.ModelTimeoutError() | httpx2.TimeoutException():
            is_connecting = getattr(error, "phase", "") in ("connect", "pool") or isinstance(
                error, httpx2.ConnectTimeout
            )
            return failures.timed_out(peer, "a connection" if is_connecting else "the next token", 0)
        case pai.ModelConnectionError() | httpx2.TransportError():
            reached = streaming or getattr(error, "phase", None) in ("write", "read")
            return failures.cut(peer) if reached else failures.unreachable(peer, base_url, _reason(error))
        case pai.ModelAPIError():
            return _api_error(peer, error)
        case pai.ContentFilterError():
            return failures.policy_refused(peer, peer.clean(str(error)))
        case pai.UserError():
            return failures.refusal(peer, 400, Complaint(str(error)))
        case _:
            return failures.unreadable(peer, "an answer that its own SDK cannot read")


def _api_error(peer: Peer, error: pai.ModelAPIError) -> OutlastError:
    said = _complaint(error)
    if isinstance(error, pai.ModelQuotaExceededError):
        return failures.refusal(peer, 402, said)
    if isinstance(error, pai.ModelHTTPError):
        return failures.refusal(peer, error.status_code, said, error.retry_after)
    statuses: tuple[tuple[type[Exception], int], ...] = (
        (pai.ModelRateLimitError, 429),
        (pai.ModelOverloadedError, 529),
        (pai.ModelUnavailableError, 503),
        (pai.ModelServerError, 500),
        (pai.ModelAuthenticationError, 401),
        (pai.ModelNotFoundError, 404),
        (pai.ModelRequestRejectedError, 400),
    )
    for kind, status in statuses:
        if isinstance(error, kind):
            return failures.refusal(peer, status, said, error.retry_after)
    if error.body is None and not said.code and not said.kind:
        return failures.unreadable(peer, "an answer that its own SDK cannot read")
    return failures.stream_refusal(peer, said)


def _complaint(error: pai.ModelAPIError) -> Complaint:
    said = failures.complaint_of(error.body) if error.body is not None else Complaint(str(error))
    code, kind = error.provider_error_code, error.provider_error_type
    return Complaint(said.message, str(code or said.code), str(kind or said.kind))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error.__cause__ or error}"
