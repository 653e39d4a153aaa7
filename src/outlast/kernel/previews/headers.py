"""Filters headers to and from the app in a sandbox. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from outlast.kernel.accounts.secrets import TOKEN_PREFIX
from outlast.kernel.previews.cookies import limited, without_ours
from outlast_sandbox.egress.http1 import HOP_BY_HOP

Headers = Sequence[tuple[bytes, bytes]]
# Replaced by our own, or meant for our own server alone.
NOT_INSIDE: Final = frozenset(
    {
        b"expect",
        b"content-length",
        b"forwarded",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-port",
        b"x-forwarded-proto",
        b"x-real-ip",
    }
)
# Set by this server (date, frames), or with effects beyond this one preview: cookies and storage of all previews'
# common domain, alternative addresses of the server.
NOT_OUTSIDE: Final = frozenset({b"date", b"x-frame-options", b"clear-site-data", b"alt-svc"})


def to_inside(headers: Headers, client: str, scheme: str) -> list[tuple[bytes, bytes]]:
    """A request's headers for the app, without those that frame its body. The app receives the client's address, and
    the scheme and host that it used."""
    dropped = HOP_BY_HOP | NOT_INSIDE | _named_in_connection(headers)
    kept: list[tuple[bytes, bytes]] = []
    for name, value in headers:
        if name in dropped or (name == b"authorization" and _is_our_token(value)):
            continue
        taken = without_ours(value) if name == b"cookie" else value
        if taken or name != b"cookie":
            kept.append((name, taken))
    kept += [
        (b"x-forwarded-for", client.encode()),
        (b"x-forwarded-host", first(headers, b"host")),
        (b"x-forwarded-proto", scheme.encode()),
    ]
    return kept


def to_outside(headers: Headers, policy: bytes) -> list[tuple[bytes, bytes]]:
    """An answer's headers for the visitor, with a content security policy in addition to the app's own, if any."""
    dropped = HOP_BY_HOP | NOT_OUTSIDE | _named_in_connection(headers)
    kept: list[tuple[bytes, bytes]] = []
    for name, value in headers:
        if name in dropped:
            continue
        taken = limited(value) if name == b"set-cookie" else value
        if taken is not None:
            kept.append((name, taken))
    kept.append((b"content-security-policy", policy))
    return kept


def first(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The first header of this name (in lower case); empty when there is none."""
    return next((value for key, value in headers if key == name), b"")


def all_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _named_in_connection(headers: Headers) -> frozenset[bytes]:
    listed = b",".join(all_of(headers, b"connection"))
    return frozenset(name.strip().lower() for name in listed.split(b",")) - {b"", b"close", b"host"}


def _is_our_token(value: bytes) -> bool:
    return value.split(b" ")[-1].startswith(TOKEN_PREFIX.encode())
