"""Signatures, against the example of the specification of Standard Webhooks."""

from __future__ import annotations

import base64

import pytest

from outlast.kernel.webhooks.signatures import new_secret, sign, signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'


def test_the_example_of_the_specification() -> None:
    wanted = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, BODY) == wanted


def test_a_secret_has_32_random_bytes() -> None:
    secret = new_secret()
    assert secret != new_secret()
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32


def test_each_secret_signs() -> None:
    headers = signed_headers([SECRET, new_secret()], "whd_1", 7, BODY)
    assert headers["webhook-id"] == "whd_1"
    assert headers["webhook-timestamp"] == "7"
    first, second = headers["webhook-signature"].split(" ")
    assert first == sign(SECRET, "whd_1", 7, BODY) != second


def test_an_error_about_a_secret_does_not_show_it() -> None:
    with pytest.raises(ValueError, match=r"^not a webhook's secret$"):
        sign("whsec_not base64!", "whd_1", 7, BODY)
