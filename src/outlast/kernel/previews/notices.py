"""The preview layer's own messages to visitors: a page for people, plain text for programs."""

from collections.abc import Sequence
from html import escape
from typing import Final

from starlette.types import Send

from outlast.base.records import dataclass
from outlast.kernel.previews.headers import Headers, first

STYLE: Final = """
:root{color-scheme:light dark;--back:#fff;--text:#1a1b1f;--soft:#5d616b;--line:#e8e8eb;--accent:#4651c4}
@media(prefers-color-scheme:dark){:root{--back:#101113;--text:#ebecef;--soft:#a2a5ae;--line:#34373d;--accent:#8f98fa}}
body{background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;
min-height:100vh;place-items:center}
main{box-sizing:border-box;max-width:40rem;padding:2rem;width:100%}
h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:.25rem 0 .75rem}small,.soft{color:var(--soft)}a{color:var(--accent)}
pre{border:1px solid var(--line);border-radius:.5rem;font-size:.8rem;max-height:16rem;overflow:auto;padding:.75rem;
white-space:pre-wrap;word-break:break-word}
.spin{animation:turn 1s linear infinite;border:2px solid var(--line);border-radius:50%;border-top-color:var(--accent);
display:inline-block;height:.9rem;margin-right:.6rem;vertical-align:-.1rem;width:.9rem}
@keyframes turn{to{transform:rotate(1turn)}}@media(prefers-reduced-motion:reduce){.spin{animation-duration:4s}}
"""

PRIVATE: Final = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to a visitor. `refresh_s`: seconds until the page reloads itself (0 for never); `log` is shown
    unchanged; `link`: (text, address) of the next step."""

    status: int
    title: str
    text: str
    hint: str = ""
    log: str = ""
    refresh_s: int = 0
    link: tuple[str, str] | None = None


NO_PREVIEW: Final = Notice(
    404,
    "There is no preview here",
    "A preview's address begins with a port and a sandbox: 3000-sbx-….",
    "Open it from its thread in Outlast.",
)
FOREIGN_PAGE: Final = Notice(
    403,
    "Request from another site",
    "Pages of other sites cannot use a preview on your behalf.",
    "Open the preview itself.",
)


def is_page_visit(method: str, headers: Headers) -> bool:
    """True if a user opens the address in a window or a frame; false for programs and subresources of a page."""
    if method not in ("GET", "HEAD"):
        return False
    mode = first(headers, b"sec-fetch-mode")
    if mode:
        return mode == b"navigate"
    return b"text/html" in first(headers, b"accept")


async def answer_notice(
    send: Send, notice: Notice, *, as_page: bool, frame_ancestors: bytes, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send the notice, as a page or as text."""
    body = _page(notice) if as_page else _text(notice)
    kind = b"text/html" if as_page else b"text/plain"
    policy = b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors "
    headers = [
        (b"content-type", kind + b"; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"content-security-policy", policy + frame_ancestors),
        *PRIVATE,
        *more,
    ]
    if notice.status == 503:
        headers.append((b"retry-after", b"%d" % max(1, notice.refresh_s)))
    await send({"type": "http.response.start", "status": notice.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _page(notice: Notice) -> bytes:
    refresh = f'<meta http-equiv="refresh" content="{notice.refresh_s}">' if notice.refresh_s else ""
    spin = '<span class="spin" role="presentation"></span>' if notice.refresh_s else ""
    link = ""
    if notice.link is not None:
        text, address = notice.link
        link = f'<p><a href="{escape(address)}" target="_top">{escape(text)}</a></p>'
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"{refresh}<title>{escape(notice.title)}</title><style>{STYLE}</style></head><body><main>",
        f'<div role="status"><h1>{spin}{escape(notice.title)}</h1><p>{escape(notice.text)}</p></div>',
        f'<p class="soft">{escape(notice.hint)}</p>' if notice.hint else "",
        f"<pre>{escape(notice.log)}</pre>" if notice.log else "",
        link,
        "</main></body></html>",
    ]
    return "".join(parts).encode()


def _text(notice: Notice) -> bytes:
    lines = [notice.title, notice.text, notice.hint, notice.log]
    return ("\n".join(line for line in lines if line) + "\n").encode()


def not_let_in(port: int, home: str, *, used: bool = False) -> Notice:
    """The notice for a missing or invalid cookie; `used`: the request had an invalid ticket."""
    why = "This link has already been used, or is more than a minute old." if used else ""
    return Notice(
        401,
        "Open this preview from Outlast",
        why or f"The preview of port {port} is for members of its project, and this browser has no access yet.",
        "Links to previews work once and for one browser.",
        link=("Open it from Outlast", home),
    )


def bad_answer(port: int, why: str) -> Notice:
    return Notice(
        502,
        f"Port {port} did not send a valid answer",
        f"A program listens there, but {why}.",
        "Previews use HTTP/1.1 without TLS. Check the program's output in the sandbox.",
    )
