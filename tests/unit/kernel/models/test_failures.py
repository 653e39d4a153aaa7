"""Provider words to error tree: playbook tests."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from outlast.base import errors
from outlast.base.errors import OutlastError
from outlast.kernel.models import failures
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.failures import Complaint, Peer

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
PEER = Peer("fake", "some/model", ApiKey("very-secret-value"), "FAKE_KEY")
CHOSEN = Peer("router", "router/grok", ApiKey("very-secret-value"), "FAKE_KEY", "Grok 4.1 Fast")


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (429, Complaint("slow"), errors.ModelRateLimited),
        (429, Complaint("pay", code="insufficient_quota"), errors.ModelRejected),
        (408, Complaint(), errors.ModelOverloaded),
        (500, Complaint(), errors.ModelOverloaded),
        (502, Complaint(), errors.ModelOverloaded),
        (503, Complaint(), errors.ModelOverloaded),
        (524, Complaint(), errors.ModelOverloaded),
        (529, Complaint(), errors.ModelOverloaded),
        (401, Complaint(), errors.ModelKeyRefused),
        (403, Complaint(), errors.ModelKeyRefused),
        (403, Complaint("flagged", kind="moderation"), errors.ModelPolicyRefused),
        (400, Complaint(code="content_filter"), errors.ModelPolicyRefused),
        (400, Complaint(code="content_policy_violation"), errors.ModelPolicyRefused),
        (400, Complaint(kind="ResponsibleAIPolicyViolation"), errors.ModelPolicyRefused),
        (400, Complaint(code="tool_use_failed"), errors.ModelOutputInvalid),
        (400, Complaint(), errors.ModelRejected),
        (402, Complaint(), errors.ModelRejected),
        (404, Complaint(), errors.ModelRejected),
        (413, Complaint(), errors.ModelRejected),
        (422, Complaint(), errors.ModelRejected),
        (302, Complaint(), errors.ModelRejected),
    ],
)
def test_every_status_has_its_place_in_the_tree(status: int, said: Complaint, expected: type[OutlastError]) -> None:
    error = failures.refusal(PEER, status, said)
    assert type(error) is expected
    assert error.hint
    assert error.fields["status"] == status or expected is errors.ModelPolicyRefused


def test_the_providers_words_are_short_and_carry_no_key() -> None:
    said = Complaint("Key very-secret-value\nis bad, as is Bearer abc.def and sk-proj-abcdefghijklmnop. " + "x" * 1_000)
    message = failures.refusal(PEER, 400, said).message
    for secret in ("very-secret-value", "abc.def", "sk-proj-abcdefghijklmnop", "\n"):
        assert secret not in message
    assert len(PEER.clean(said.message)) == failures.MAX_PROVIDER_TEXT_CHARS


@pytest.mark.parametrize(
    "error",
    [
        failures.refusal(CHOSEN, 529, Complaint("Overloaded")),
        failures.refusal(CHOSEN, 400, Complaint("flagged", kind="moderation")),
        failures.stream_refusal(CHOSEN, Complaint("busy", kind="overloaded_error")),
        failures.timed_out(CHOSEN, "the next token", 30),
        failures.unreachable(CHOSEN, "http://127.0.0.1:9/v1", "connection refused"),
        failures.cut(CHOSEN),
        failures.unreadable(CHOSEN, "an answer without an end"),
    ],
    ids=lambda error: error.code,
)
def test_people_read_the_name_of_the_model_that_they_chose(error: OutlastError) -> None:
    """They read "router answered 529 for router/grok": names of the configuration."""
    assert "Grok 4.1 Fast" in error.message
    assert "router" not in error.message
    assert (error.fields["provider"], error.fields["model"]) == ("router", "router/grok")


def test_a_model_without_a_label_is_named_as_its_provider_does() -> None:
    message = failures.refusal(PEER, 529, Complaint("Overloaded")).message
    assert message == "The provider of some/model answered 529: Overloaded"


def test_a_conversation_that_is_too_long_gets_that_hint() -> None:
    error = failures.refusal(PEER, 400, Complaint("too long", code="context_length_exceeded"))
    assert "too long" in error.hint


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "Retry-After": "12"}, 0.25),
        ({"Retry-After": "Fri, 20 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"Retry-After": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], expected: float | None) -> None:
    assert failures.retry_after_s(headers, NOW) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, Complaint("m", "c", "t")),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            Complaint("m", "", "overloaded_error"),
        ),
        (
            [{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}],
            Complaint("m", "400", "INVALID_ARGUMENT"),
        ),
        (
            {"error": {"message": "m", "code": 502, "metadata": {"raw": "upstream said"}}},
            Complaint("m: upstream said", "502"),
        ),
        ({"error": "model not found"}, Complaint("model not found")),
        ({"detail": "Not Found"}, Complaint("Not Found")),
    ],
)
def test_every_vendors_error_body_is_read(body: Any, expected: Complaint) -> None:
    assert failures.read_complaint(orjson.dumps(body)) == expected


def test_a_web_page_is_reduced_to_its_words() -> None:
    assert "<" not in failures.read_complaint(b"<html><h1>502 Bad Gateway</h1></html>").message


@pytest.mark.parametrize(
    "words", ["400 Token limit reached", "maximum context length is 8192 tokens", "prompt is too long: 9 > 8"]
)
def test_a_conversation_that_is_too_long_for_the_model_says_so(words: str) -> None:
    """OpenRouter says it in the stream, in words of its own: the hint was to change the message."""
    assert failures.refusal(PEER, 400, Complaint(words)).hint != failures.refusal(PEER, 400, Complaint("no")).hint
    assert "long" in failures.refusal(PEER, 400, Complaint(words)).hint
