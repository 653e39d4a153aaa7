"""Names, addresses and headers of MCP servers. Pure."""

import re
from typing import Final
from urllib.parse import urlsplit

from outlast.base.errors import MalformedInput
from outlast.kernel.http.private_addresses import Allowed
from outlast_sandbox.addresses import is_forbidden
from outlast_sandbox.host_patterns import NotAHost, is_address, parse_host_port, plain_host

DEFAULT_HEADER: Final = "Authorization"
MAX_URL_CHARS: Final = 2_000
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,23}\Z")
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}\Z")
_RESERVED: Final = frozenset(
    [
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "transfer-encoding",
        "user-agent",
    ]
)


def checked_name(name: str) -> str:
    """Raises `MalformedInput`."""
    if not _NAME.match(name):
        raise MalformedInput(
            "The name of a server begins with a letter and has at most 24 of a-z, 0-9 and -.",
            hint="For example linear.",
            field="name",
        )
    return name


def checked_header(header: str) -> str:
    """Raises `MalformedInput`."""
    if not _HEADER.match(header) or header.lower() in _RESERVED or header.lower().startswith("mcp-"):
        raise MalformedInput(f"{header[:80]!r} cannot be the header of a secret.", field="header")
    return header


def address_of(url: str) -> tuple[str, int]:
    """Host and port of the address of a server. Raises `MalformedInput`."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = plain_host(parts.hostname or "")
    except (ValueError, NotAHost):
        raise _refused("The address of a server must be a whole one, such as https://example.com/mcp.") from None
    if parts.scheme not in ("http", "https") or len(url) > MAX_URL_CHARS or not url.isprintable() or " " in url:
        raise _refused(
            f"The address must begin with https:// or http:// and have at most {MAX_URL_CHARS:,} characters."
        )
    if parts.username or parts.password:
        raise _refused("The address must not contain a user name or a password.")
    return host, port


def checked_url(url: str, allowed: Allowed) -> tuple[str, int]:
    """Host and port of an address that may be connected to. A name is checked again when it is resolved. Raises
    `MalformedInput`."""
    host, port = address_of(url)
    if is_address(host) and is_forbidden(host) and (host, port) not in allowed:
        raise _refused(
            "The address belongs to a private network.", "Use a public address, or ask the operator to allow it."
        )
    return host, port


def allowed_addresses(texts: tuple[str, ...]) -> Allowed:
    """The private addresses that the operator allows."""
    return frozenset(parse_host_port(text) for text in texts)


def header_value(header: str, value: str) -> str:
    """The text of a header with a secret. `Authorization` gets the scheme `Bearer` if the secret has none."""
    return f"Bearer {value}" if header.lower() == "authorization" and " " not in value else value


def _refused(message: str, hint: str | None = None) -> MalformedInput:
    return MalformedInput(message, hint=hint, field="url")
