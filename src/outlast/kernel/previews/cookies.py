"""Cookies between a browser, the preview layer and what runs inside. Pure.

Two cookies carry the same value. `__Host-outlast_preview` (Secure, SameSite=None, Partitioned) is the one that a frame
on Outlast's own page sends; browsers that trust `*.localhost` take it there without TLS. `outlast_preview` is a plain
one for the browsers that do not. Neither goes inside, nor does any other cookie of ours, and nothing inside can set
one: a name that begins with `outlast_` is refused, and `Domain` is taken off, so a cookie stays with its preview.
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
    """The values that might be a grant, in the order sent, at most eight. Another preview may have set a second one:
    all are tried."""
    values = (value for header in cookie_headers for name, value in _pairs(header) if name in (PLAIN, FRAMED) and value)
    return [value.decode("latin-1") for value in islice(dict.fromkeys(values), MAX_TRIED)]


def without_ours(cookie_header: bytes) -> bytes:
    """The header as it may go inside; empty when nothing is left of it."""
    kept = [piece for piece in cookie_header.split(b";") if not _is_ours(piece.partition(b"=")[0])]
    return b";".join(kept).strip()


def limited(set_cookie: bytes) -> bytes | None:
    """A Set-Cookie of the app, kept to its own host; None when it would set one of ours."""
    first, *attributes = set_cookie.split(b";")
    if _is_ours(first.partition(b"=")[0]):
        return None
    kept = [item for item in attributes if item.partition(b"=")[0].strip().lower() != b"domain"]
    return b";".join([first, *kept])


def granting(value: str, *, is_local: bool, is_secure: bool) -> list[bytes]:
    """The Set-Cookie headers that let a browser in."""
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
    """Also with a prefix; browsers compare those without regard to case."""
    plain = name.strip().lower()
    for prefix in (b"__host-", b"__secure-", b"__http-", b"__host-http-"):
        plain = plain.removeprefix(prefix)
    return plain.startswith(_OURS)
