"""Wrong secrets are counted by address."""

from typing import Any

import pytest
from starlette.requests import Request

from outlast.base.errors import NotSignedIn, RateLimited
from outlast.kernel.http import sign_in_throttle as wrong_sign_ins
from outlast.kernel.http.sign_in_throttle import WrongSignIns, address_of
from outlast.testing.clock import ManualClock


def asked(host: str = "192.0.2.1", *forwarded: str) -> Request:
    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    return Request({"type": "http", "client": (host, 5000), "headers": headers})


def attempt(wrong: WrongSignIns, clock: Any, request: Request, *, good: bool = False) -> None:
    with wrong.watched(request, clock, 2):
        if not good:
            raise NotSignedIn("The API token is unknown.")


def fail(wrong: WrongSignIns, clock: Any, request: Request) -> None:
    with pytest.raises(NotSignedIn):
        attempt(wrong, clock, request)


def test_wrong_ones_are_refused_unseen_until_a_minute_has_passed():
    wrong, clock = WrongSignIns(), ManualClock()
    for _ in range(5):
        attempt(wrong, clock, asked(), good=True)
    fail(wrong, clock, asked())
    fail(wrong, clock, asked())
    with pytest.raises(RateLimited, match="2 wrong sign-ins a minute are allowed per address") as refused:
        attempt(wrong, clock, asked(), good=True)
    assert refused.value.retry_after_s == 60
    attempt(wrong, clock, asked("192.0.2.2"), good=True)
    clock.advance(61)
    attempt(wrong, clock, asked(), good=True)


def test_addresses_that_tried_longest_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wrong_sign_ins, "MAX_ADDRESSES", 3)
    wrong, clock = WrongSignIns(), ManualClock()
    for number in range(10):
        fail(wrong, clock, asked(f"192.0.2.{number}"))
    assert len(wrong) == 3


def test_behind_a_proxy_on_this_machine_the_address_is_the_one_that_it_added():
    assert address_of(asked("127.0.0.1", "1.1.1.1, 192.0.2.7")) == "192.0.2.7"
    assert address_of(asked("127.0.0.1", "1.1.1.1", "2001:db8::5")) == "2001:db8::/64"
    assert address_of(asked("127.0.0.1")) == "127.0.0.1"
    assert address_of(asked("192.0.2.9", "1.1.1.1")) == "192.0.2.9"
