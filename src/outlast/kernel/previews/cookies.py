"""Cookies between a browser, the preview layer and the app inside. Pure.

Two cookies carry the same value. `__Host-outlast_preview` (Secure, SameSite=None, Partitioned) is sent by a frame on
Outlast's own page; browsers that trust `*.localhost` accept it there without TLS. `outlast_preview` is a plain cookie
for other browsers. Neither is forwarded to the app, nor is any other cookie of Outlast, and the app cannot set one: a
name that begins with `outlast_` is refused, and `Domain` is removed, so a cookie stays with its preview.
"""

from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from typing import Final

PLAIN: Final = b"outlast_preview"
FRAMED: Final = b"__Host-outlast_preview"
COOKIE_LIFE: Final = timedelta(days=7)
MAX_TRIED: Final = 8
_OURS: Final = b"outlast_"


def grants_in(cookie_headers: Iterable[bytes]) -> list[str]:
    """The possible grants, in the order sent, at most eight. Another preview may have set a second one, so all are
    tried."""
    values = (value for header in cookie_headers for name, value in _pairs(header) if name in (PLAIN, FRAMED) and value)
    return [value.decode("latin-1") for value in islice(dict.fromkeys(values), MAX_TRIED)]


def without_ours(cookie_header: bytes) -> bytes:
    """The header without Outlast's cookies; empty when none are left."""
    kept = [piece for piece in cookie_header.split(b";") if not _is_ours(piece.partition(b"=")[0])]
    return b";".join(kept).strip()


def limited(set_cookie: bytes) -> bytes | None:
    """A Set-Cookie of the app, limited to its own host; None if it would set one of Outlast's cookies."""
    first, *attributes = set_cookie.split(b";")
    if _is_ours(first.partition(b"=")[0]):
        return None
    kept = [item for item in attributes if item.partition(b"=")[0].strip().lower() != b"domain"]
    return b";".join([first, *kept])


def granting(value: str, *, is_local: bool, is_secure: bool) -> list[bytes]:
    """The Set-Cookie headers that give a browser access."""
    common = b"%b; Path=/; Max-Age=%d; HttpOnly" % (value.encode(), COOKIE_LIFE.total_seconds())
    headers = [FRAMED + b"=" + common + b"; Secure; SameSite=None; Partitioned"]
    if is_local or not is_secure:
        headers.append(PLAIN + b"=" + common + b"; SameSite=Lax")
    return headers


def _pairs(header: bytes) -> Iterable[tuple[bytes, bytes]]:
    for piece in header.split(b";"):
        name, _, value = piece.partition(b"=")
        yield name.strip(), value.strip()


def _is_ours(name: bytes) -> bool:
    """True for Outlast's cookies, also with a prefix, whose case browsers ignore."""
    plain = name.strip().lower()
    for prefix in (b"__host-", b"__secure-", b"__http-", b"__host-http-"):
        plain = plain.removeprefix(prefix)
    return plain.startswith(_OURS)
