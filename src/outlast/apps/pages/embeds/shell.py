"""The documents served by a page's host, and the security headers for them. Pure.

A page's HTML has passed the sanitiser. The headers protect in case it ever misses something: no script but the runtime
runs, nothing is fetched from anywhere, no form is sent, and the document has an opaque origin (the directive
`sandbox`), so that it can read nothing of this or any other host.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

Headers = list[tuple[bytes, bytes]]

# In the shell the app opens links; in an embedded page the browser does, in a window without a reference to the page.
SHELL_SANDBOX: Final = "sandbox allow-scripts allow-forms"
EMBED_SANDBOX: Final = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
POLICY: Final = (
    "default-src 'none'; script-src {own}; style-src {own} 'unsafe-inline'; img-src data:; font-src 'none'; "
    "connect-src {connect}; form-action 'none'; base-uri 'none'; object-src 'none'; frame-src 'none'; "
    "frame-ancestors {ancestors}; {sandbox}"
)
COMMON: Final[Headers] = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]
HTML: Final = (b"content-type", b"text/html; charset=utf-8")
_HEAD: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">'
)


def shell(parents: Iterable[str], version: str) -> bytes:
    """The document without data, for the app's frame. `parents`: the origins whose messages it accepts; `version`
    changes with the runtime's files."""
    told = escape(" ".join(parents))
    return _document("Page", f'data-parents="{told}"', "", version)


def embedded(title: str, html: str, mark: str, version: str) -> bytes:
    """The document with a page's HTML, for a frame of any site. `mark`: the cursor from which the runtime continues."""
    return _document(title or "Page", f'data-version="{escape(mark)}"', html, version)


def shell_headers(origin: str, parents: Iterable[str]) -> Headers:
    """`origin`: the origin of this host, as browsers reach it; a sandboxed document is not `'self'`."""
    policy = POLICY.format(own=origin, connect="'none'", ancestors=" ".join(parents) or "'none'", sandbox=SHELL_SANDBOX)
    return [HTML, (b"cache-control", b"no-cache"), *COMMON, (b"content-security-policy", policy.encode())]


def embed_headers(origin: str) -> Headers:
    """Any site may frame it, and it may fetch its changes from this host."""
    policy = POLICY.format(own=origin, connect=origin, ancestors="*", sandbox=EMBED_SANDBOX)
    return [HTML, (b"cache-control", b"no-store"), *COMMON, (b"content-security-policy", policy.encode())]


def _document(title: str, attributes: str, html: str, version: str) -> bytes:
    parts = [
        _HEAD,
        f"<title>{escape(title)}</title>",
        f'<link rel="stylesheet" href="/page.css?v={version}">',
        f'<script src="/page.js?v={version}" {attributes} defer></script>',
        f"</head><body><main data-outlast-page>{html}</main></body></html>",
    ]
    return "".join(parts).encode()
