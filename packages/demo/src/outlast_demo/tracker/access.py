"""Authentication and the rate limit."""

import hmac
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from starlette.requests import Request

from outlast.base.clock import Clock
from outlast_demo.tracker.problems import Refused
from outlast_sandbox.egress.secrets import SecretValue

VERSION_HEADER: Final = "tracker-version"
VERSION: Final = "2026-09"
WINDOW_S: Final = 60
MAX_IN_WINDOW: Final = 240


@dataclass(eq=False, slots=True)
class RateLimit:
    """At most `most` requests in each window of a minute. In memory: a restart resets the count."""

    clock: Clock
    most: int = MAX_IN_WINDOW
    _began: float = field(default=-1e9)
    _used: int = 0

    def take(self) -> dict[str, str]:
        """Counts one request; returns the rate-limit headers. Raises `Refused` if the limit is exceeded."""
        now = self.clock.monotonic()
        if now - self._began >= WINDOW_S:
            self._began, self._used = now, 0
        self._used += 1
        left_s = max(1, ceil(WINDOW_S - (now - self._began)))
        headers = {
            "RateLimit-Limit": str(self.most),
            "RateLimit-Remaining": str(max(0, self.most - self._used)),
            "RateLimit-Reset": str(left_s),
        }
        if self._used > self.most:
            raise Refused(
                429,
                "too_many_requests",
                f"More than {self.most} requests in a minute.",
                f"Wait {left_s} s.",
                headers=headers | {"Retry-After": str(left_s)},
            )
        return headers


def check_credentials(request: Request, secret: SecretValue) -> None:
    """Raises `Refused` unless the request has the secret and this version."""
    given = request.headers.get("authorization", "")
    kind, _, token = given.partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Refused(
            401,
            "not_signed_in",
            "The request has no bearer token.",
            "Send the header Authorization: Bearer, followed by the token.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if not hmac.compare_digest(token.strip().encode(), secret.reveal()):
        raise Refused(
            401,
            "wrong_token",
            "This token is not valid.",
            "Send the value of the environment variable ISSUES_TOKEN; it is valid only in requests to this host.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )
    if request.headers.get(VERSION_HEADER) != VERSION:
        raise Refused(
            400,
            "version_needed",
            "The request has no valid Tracker-Version header.",
            f"Send the header Tracker-Version: {VERSION}.",
        )
