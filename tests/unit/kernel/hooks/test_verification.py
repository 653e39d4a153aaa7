"""Calls that know the secret, and others."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from outlast.kernel.hooks.verification import is_genuine, sender_id_of
from outlast.kernel.webhooks.signatures import new_secret, signed_headers

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SECRET, BODY = new_secret(), b'{"a": 1}'
GITHUB = {"x-hub-signature-256": "sha256=" + hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()}
STANDARD = signed_headers([SECRET], "msg_1", int(NOW.timestamp()), BODY)
BEARER = {"authorization": f"Bearer {SECRET}"}


@pytest.mark.parametrize("headers", [BEARER, GITHUB, STANDARD, {"authorization": f"bearer  {SECRET}"}])
def test_a_call_that_knows_the_secret(headers: dict[str, str]) -> None:
    assert is_genuine(SECRET, headers, BODY, NOW)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer "},
        {"authorization": f"Basic {SECRET}"},
        {"authorization": "Bearer whsec_ä"},
        {"x-hub-signature-256": "sha256="},
        {"x-hub-signature-256": GITHUB["x-hub-signature-256"][7:]},
        STANDARD | {"webhook-id": "msg_2"},
        STANDARD | {"webhook-timestamp": "soon"},
        STANDARD | {"webhook-timestamp": "²"},
        STANDARD | {"webhook-signature": ""},
        BEARER | {"authorization": "Bearer wrong"} | STANDARD,
    ],
)
def test_a_call_that_does_not(headers: dict[str, str]) -> None:
    assert not is_genuine(SECRET, headers, BODY, NOW)


@pytest.mark.parametrize("headers", [GITHUB, STANDARD])
def test_a_signature_is_of_one_body_and_one_secret(headers: dict[str, str]) -> None:
    assert not is_genuine(SECRET, headers, BODY + b" ", NOW)
    assert not is_genuine(new_secret(), headers, BODY, NOW)


def test_an_old_message_is_refused() -> None:
    assert is_genuine(SECRET, STANDARD, BODY, NOW + timedelta(minutes=4))
    assert not is_genuine(SECRET, STANDARD, BODY, NOW + timedelta(minutes=6))
    assert not is_genuine(SECRET, STANDARD, BODY, NOW - timedelta(minutes=6))


def test_the_senders_own_id_is_found() -> None:
    assert sender_id_of(STANDARD) == "msg_1"
    assert sender_id_of({"x-github-delivery": "abc"}) == "abc"
    assert sender_id_of({"idempotency-key": " k "}) == "k"
    assert sender_id_of({}) == ""
