"""Addresses on the web that users give, which this server connects to."""

from typing import Final, NamedTuple
from urllib.parse import urlsplit

from outlast.base.errors import MalformedInput
from outlast.kernel.http.private_addresses import NONE, Allowed, may_reach
from outlast_sandbox.host_patterns import NotAHost, is_address, parse_host_port, plain_host

MAX_URL_CHARS: Final = 2_000


class Address(NamedTuple):
    host: str
    port: int


def checked_address(url: str, allowed: Allowed = NONE, *, thing: str, example: str) -> Address:
    """Host and port of the address of a `thing`, if it may be connected to. A name is checked again each time it is
    resolved. Raises `MalformedInput`."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = plain_host(parts.hostname or "")
    except (ValueError, NotAHost):
        raise _refused(f"The address of {thing} must be a whole one, such as {example}.") from None
    if parts.scheme not in ("http", "https") or len(url) > MAX_URL_CHARS or not url.isprintable() or " " in url:
        raise _refused(
            f"The address must begin with https:// or http:// and have at most {MAX_URL_CHARS:,} characters."
        )
    if parts.username or parts.password:
        raise _refused("The address must not contain a user name or a password.")
    if is_address(host) and not may_reach(host, host, port, allowed):
        raise _refused(
            "The address belongs to a private network.", "Use a public address, or ask the operator to allow it."
        )
    return Address(host, port)


def allowed_addresses(texts: tuple[str, ...]) -> Allowed:
    """The private addresses (HOST:PORT) that an operator allows."""
    return frozenset(parse_host_port(text) for text in texts)


def _refused(message: str, hint: str | None = None) -> MalformedInput:
    return MalformedInput(message, hint=hint, field="url")
