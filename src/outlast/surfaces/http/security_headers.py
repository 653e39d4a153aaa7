"""Headers that limit what our answers may load, and which pages may show them in frames. Pure."""

from typing import Final

HeaderList = list[tuple[bytes, bytes]]
CONTENT_SECURITY: Final = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS: Final = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


def security_headers(frames: str) -> HeaderList:
    """`frames`: the sources that our own pages may show in frames, as a content security policy names them."""
    policy = f"{CONTENT_SECURITY}; frame-src {frames}"
    return [*SECURITY_HEADERS, (b"content-security-policy", policy.encode())]


def with_security(headers: HeaderList, security: HeaderList) -> HeaderList:
    """The headers, and the security headers that the answer does not set itself."""
    own = {name.lower() for name, _ in headers}
    return [*headers, *(pair for pair in security if pair[0] not in own)]
