"""Maps providers' errors to the error tree: status codes, error codes, `Retry-After`; pure.  The caller must know
whether to retry: `TryLater` errors may be retried, `ProviderRefused` errors not. The provider's message is shown to
users (it often names the fix), shortened and without the key.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import orjson

from outlast.base import errors
from outlast.base.errors import OutlastError
from outlast.base.records import dataclass
from outlast.kernel.models.api_key import ApiKey

COMPLAINT_BYTES: Final = 200_000  # of an error body
MAX_PROVIDER_TEXT_CHARS: Final = 300
_POLICY_CODES: Final = re.compile(
    r"content_?filter|content_policy|responsible_?ai|safety|moderation|prohibited_content|blocklist|refusal",
    re.IGNORECASE,
)
_QUOTA_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_CONTEXT_CODES: Final = re.compile(
    r"context_length|context length|context window|prompt is too long|too many tokens|token limit", re.IGNORECASE
)
_CHOICE: Final = re.compile(r"tool.?choice|function.?calling.?config", re.IGNORECASE)
_BEARER: Final = re.compile(r"(?i)bearer\s+\S+|\b(?:sk|gsk|xai|AIza)[-_]?[A-Za-z0-9_-]{12,}")


@dataclass(frozen=True, slots=True)
class Peer:
    """The model and provider of a request. Errors name the model by its `label` (if empty, by the provider's name for
    it); the names of the configuration are in their fields. The key is only used to remove it from texts."""

    provider: str
    model: str
    key: ApiKey
    key_env: str = ""
    label: str = ""

    @property
    def shown(self) -> str:
        return self.label or self.model

    @property
    def fields(self) -> dict[str, Any]:
        return {"provider": self.provider, "model": self.model}

    def clean(self, text: str) -> str:
        """The provider's words on one line, without keys, at most 300 characters."""
        flat = " ".join(_BEARER.sub("••••••", self.key.scrub(text)).split())
        return flat if len(flat) <= MAX_PROVIDER_TEXT_CHARS else f"{flat[: MAX_PROVIDER_TEXT_CHARS - 1]}…"


@dataclass(frozen=True, slots=True)
class Complaint:
    """The content of an error body: `code` and `kind` (the provider's `type`) may be empty."""

    message: str = ""
    code: str = ""
    kind: str = ""


def read_complaint(body: bytes) -> Complaint:
    """Find the message in the error bodies of OpenAI, OpenRouter, Groq, Ollama, Anthropic and Google, or use the whole
    text. At most `COMPLAINT_BYTES` of a body are read."""
    body = body[:COMPLAINT_BYTES]
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = re.sub(r"<[^<>]*+>", " ", body.decode("utf-8", "replace"))
        return Complaint(message=text[:2_000])
    if isinstance(value, list) and value:
        value = value[0]
    return complaint_of(value)


def complaint_of(value: Any) -> Complaint:
    """As `read_complaint`, for a parsed body."""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return Complaint(message=str(error)[:2_000])
    metadata = error.get("metadata")
    detail = metadata.get("raw") if isinstance(metadata, dict) else None  # OpenRouter: the upstream's own message
    inner = error.get("innererror")
    inner_code = inner.get("code", "") if isinstance(inner, dict) else ""
    message = str(error.get("message") or error.get("detail") or value)
    return Complaint(
        message=f"{message}: {detail}"[:2_000] if isinstance(detail, str) else message[:2_000],
        code=str(error.get("code") or inner_code or ""),
        kind=str(error.get("type") or error.get("status") or inner_code or ""),
    )


def refusal(peer: Peer, status: int, said: Complaint, retry_after_s: float | None = None) -> OutlastError:
    """The error for an HTTP status (or the same code inside a stream) and the provider's message."""
    fields = {**peer.fields, "status": status}
    words = peer.clean(said.message) or "(no reason given)"
    told = f"The provider of {peer.shown} answered {status}: {words}"
    codes = f"{said.code} {said.kind}"
    if "tool_use_failed" in codes:  # Groq: the model's own tool call was malformed
        hint = "This usually affects only one answer; try again."
        return errors.ModelOutputInvalid(told, hint=hint, **fields)
    if status == 429 and said.code not in _QUOTA_CODES and said.kind not in _QUOTA_CODES:
        return errors.ModelRateLimited(told, retry_after_s=retry_after_s, **fields)
    if status in (401, 403) and not _POLICY_CODES.search(codes):
        where = f"the environment variable {peer.key_env}" if peer.key_env else "the provider's api_key_env"
        hint = f"Check the key in {where} on the server, and its permissions."
        return errors.ModelKeyRefused(told, hint=hint, **{**fields, "api_key_env": peer.key_env})
    if status == 408 or status >= 500:
        return errors.ModelOverloaded(told, retry_after_s=retry_after_s, **fields)
    if _POLICY_CODES.search(codes):
        return policy_refused(peer, words, fields)
    return errors.ModelRejected(told, hint=_rejection_hint(status, f"{codes} {said.message}"), **fields)


def policy_refused(peer: Peer, words: str, fields: Mapping[str, Any] | None = None) -> errors.ModelPolicyRefused:
    """The error when the provider's content policy stopped the question or the answer."""
    return errors.ModelPolicyRefused(
        f"The provider of {peer.shown} refused this under its content policy: {words}", **(fields or peer.fields)
    )


def declined() -> errors.ModelPolicyRefused:
    """The error when the model itself declined to answer."""
    return errors.ModelPolicyRefused("The model declined to answer this.")


def stream_refusal(peer: Peer, said: Complaint) -> OutlastError:
    """The error for a complaint that came inside a stream, where the status is a number, a word or missing."""
    words = f"{said.code} {said.kind}".lower()
    if said.code.isdigit() and 400 <= int(said.code) < 600:
        return refusal(peer, int(said.code), said)
    for pattern, status in (
        (r"rate_?limit|resource_exhausted|too_many", 429),
        (r"overloaded", 529),
        (r"authentication|permission|api_?key", 401),
        (r"invalid_request|invalid_argument|not_found|invalid_prompt", 400),
    ):
        if re.search(pattern, words):
            return refusal(peer, status, said)
    if _POLICY_CODES.search(words):
        return policy_refused(peer, peer.clean(said.message))
    return refusal(peer, 500, said)


def timed_out(peer: Peer, waiting_for: str, seconds: float) -> errors.ModelTimeout:
    return errors.ModelTimeout(
        f"The provider of {peer.shown} did not send {waiting_for} within {seconds:g} s.",
        **peer.fields,
        waiting_for=waiting_for,
        timeout_s=seconds,
    )


def unreachable(peer: Peer, base_url: str, reason: str) -> errors.ModelUnreachable:
    return errors.ModelUnreachable(
        f"The provider of {peer.shown} cannot be reached at {base_url}: {peer.clean(reason)}", **peer.fields
    )


def cut(peer: Peer) -> errors.ModelCut:
    return errors.ModelCut(f"{peer.shown} broke off in the middle of its answer.", **peer.fields)


def unreadable(peer: Peer, what: str) -> errors.ModelOutputInvalid:
    return errors.ModelOutputInvalid(f"The provider of {peer.shown} sent {what}.", **peer.fields)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date); None if absent or invalid."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    value = headers.get("Retry-After", "").strip()
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _rejection_hint(status: int, text: str) -> str:
    if status == 413 or _CONTEXT_CODES.search(text):
        return "The conversation is too long for this model. Choose one with a larger context, or start a new thread."
    if _CHOICE.search(text):
        return (
            "The agent requires a tool call in its first turn (`tool_choice`), which this model does not accept with "
            "these settings. Choose another model, or turn its reasoning off."
        )
    if status in (402, 429):
        return "The account at the provider has no credit left, or its quota is used up."
    if status == 404:
        return "Check the model's name and the provider's base_url in the configuration."
    return "The provider does not accept this request. Choose another model, or change the message."
