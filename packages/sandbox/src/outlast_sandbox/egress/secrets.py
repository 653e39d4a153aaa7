"""Secrets: look up values, give placeholders to code inside, and replace placeholders by values."""

import base64
import binascii
import hashlib
import hmac
import logging
import os
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, NoReturn, Protocol

from outlast_sandbox.egress import refusals
from outlast_sandbox.egress.http1 import Headers

PREFIX: Final = b"SECRET_PLACEHOLDER_"
log = logging.getLogger("outlast.egress")
_BASIC: Final = re.compile(rb"basic +([A-Za-z0-9+/=_-]+)\Z", re.IGNORECASE)
_USABLE: Final = re.compile(rb"[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?\Z")

WhoseWork = Callable[[], Awaitable[str | None]]
"""The user that the sandbox works for at this moment, or None for no particular user."""


class SecretLookup(Protocol):
    """Looks up the values of secrets at each use."""

    async def __call__(self, user_id: str | None, project_id: str, name: str) -> str | None:
        """The value of the secret `name` (a dependency's `secret_env`) for this user, or None if there is none. Must be
        quick, as a request waits for it; an error refuses the request."""


class OwnSecret(str):
    """A value that a look-up answers with if the secret is a person's own, which the log of uses then says."""

    __slots__ = ()


class OperatorSecrets:
    """The operator's own values, the same for all users: the server's environment variables of that name."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment

    async def __call__(self, user_id: str | None, project_id: str, name: str) -> str | None:
        return self._environment.get(name)

    def has(self, name: str) -> bool:
        """True if the variable is set."""
        return name in self._environment


class SecretValue:
    """A secret in memory: its repr is dots, and it cannot be pickled. `is_own`: it is a person's own."""

    __slots__ = ("_value", "is_own")

    def __init__(self, value: bytes, *, is_own: bool = False) -> None:
        self._value, self.is_own = value, is_own

    def reveal(self) -> bytes:
        """The value, for the header it is put into."""
        return self._value

    def __repr__(self) -> str:
        return "•••"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be serialized")


def is_usable(value: str) -> bool:
    """True if the value can be sent in a header."""
    return _USABLE.match(value.encode()) is not None


def placeholder(key: bytes, sandbox_id: str, name: str) -> str:
    """The placeholder of a secret in one sandbox: the same after each restart of the server, unique, and without
    information about the secret."""
    digest = hmac.new(key, f"{sandbox_id}\0{name}".encode(), hashlib.sha256).hexdigest()
    return PREFIX.decode() + digest[:32]


class SandboxSecrets:
    """The secrets of one sandbox, by name; its environment holds `placeholders`."""

    def __init__(
        self, placeholders: Mapping[str, str], project_id: str, lookup: SecretLookup, whose: WhoseWork
    ) -> None:
        self.placeholders = placeholders
        self.project_id = project_id
        self._lookup = lookup
        self._whose = whose

    async def user(self) -> str | None:
        """The user whose values apply now."""
        return await self._whose()

    async def value(self, name: str, user_id: str | None) -> SecretValue | None:
        """Raises `Refused` for a value that is not valid in a header, and if the lookup fails."""
        try:
            text = await self._lookup(user_id, self.project_id, name)
        except Exception as error:  # an error of the embedding program's lookup; its text may contain the value
            log.warning("secret lookup failed", extra={"secret": name, "kind": type(error).__name__})
            raise refusals.secret_unavailable(name) from None
        if text is None:
            return None
        value = text.encode()
        if not is_usable(text):
            raise refusals.secret_unusable(name)
        return SecretValue(value, is_own=isinstance(text, OwnSecret))

    def named_in(self, headers: Headers, names: Collection[str]) -> list[str]:
        """The secrets whose placeholders a request contains."""
        texts = [text for _, value in headers for text in (_readable(value),) if PREFIX in text]
        if not texts:
            return []
        return [name for name in names if any(self.placeholders[name].encode() in text for text in texts)]

    def put_in(self, headers: Headers, values: Mapping[str, SecretValue]) -> Headers:
        """The headers with placeholders replaced by values, also inside Basic credentials."""
        pairs = [(self.placeholders[name].encode(), secret.reveal()) for name, secret in values.items()]
        return [(name, _replaced(value, pairs)) for name, value in headers]


def _readable(value: bytes) -> bytes:
    """A header's value, with Basic credentials decoded."""
    basic = _BASIC.match(value) if value[:1] in b"bB" else None
    return (_decoded(basic[1]) or value) if basic else value


def _replaced(value: bytes, pairs: list[tuple[bytes, bytes]]) -> bytes:
    basic = _BASIC.match(value)
    decoded = _decoded(basic[1]) if basic else None
    text = value if decoded is None else decoded
    if PREFIX not in text:
        return value
    for stands_for, secret in pairs:
        text = text.replace(stands_for, secret)
    return text if decoded is None else b"Basic " + base64.b64encode(text)


def _decoded(credentials: bytes) -> bytes | None:
    try:
        return base64.b64decode(credentials, validate=True)
    except (binascii.Error, ValueError):
        return None
