"""Checks of a page without a browser: plain requests that show if it answers and which errors its dev server reports.

For a page that cannot be built, Next returns 500 and its own error page. Vite returns the HTML with 200 and each broken
module with 500, so the page's own modules are requested too, as a browser would.
"""

import html
import re
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

import anyio.to_thread
import orjson

from outlast_sandbox.errors import NotFound
from outlast_sandbox.interface import Sandbox
from outlast_sandbox.ports.exchange import Answer, BadAnswer, request_head
from outlast_sandbox.ports.line import Line

ANSWER_BYTES: Final = 4 * 1024**2
ERROR_CHARS: Final = 500_000  # of an error page are read
MAX_MODULES: Final = 60
TEXT_CHARS: Final = 2_000
_SCRIPTS: Final = re.compile(r"<script\b[^<>]*+>", re.IGNORECASE)
_IS_MODULE: Final = re.compile(r"""\btype=["']?module\b""", re.IGNORECASE)
_SOURCE: Final = re.compile(r"""\bsrc=["']?([^"'\s>]+)""", re.IGNORECASE)
_IMPORTS: Final = re.compile(r"""\b(?:from|import)\s*+(?:\(\s*+)?+["'](/[^"'\s]++)["']""")
_NOT_OURS: Final = ("/node_modules/", "/@vite/", "/@react-refresh", "/@id/", "/.vite/", "/@fs/")
_NEXT_MESSAGE: Final = re.compile(r'data-next-error-message="([^"]*)"')
_VITE_ERROR: Final = re.compile(r"\berror = \{")
_VITE_MESSAGE: Final = re.compile(r'"message":("(?:[^"\\]|\\.)*+")', re.DOTALL)
_HIDDEN: Final = re.compile(r"<(script|style)\b.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_TAGS: Final = re.compile(r"<[^<>]++>")
_NO_ANSWER: Final = (NotFound, OSError, BadAnswer)


class Page(NamedTuple):
    """The response of a server: as much of it as is read, as text."""

    status: int
    text: str


async def ask_page(sandbox: Sandbox, port: int, path: str) -> tuple[int | None, list[str]]:
    """(status, errors) of the page and its own modules; status None if nothing answers. Raises `SandboxLost`."""
    try:
        page = await _get(sandbox, port, path)
    except _NO_ANSWER:
        return None, [f"Nothing answers on port {port}."]
    if page.status >= 400:
        detail = await anyio.to_thread.run_sync(error_text, page.text)
        return page.status, [f"The page answered with status {page.status}. {detail}".strip()]
    return page.status, await _module_errors(sandbox, port, path, page.text)


async def _module_errors(sandbox: Sandbox, port: int, path: str, page: str) -> list[str]:
    waiting = await anyio.to_thread.run_sync(module_paths, page, path)
    requested, errors = set[str](), list[str]()
    while waiting and len(requested) < MAX_MODULES:
        module = waiting.pop(0)
        if module in requested:
            continue
        requested.add(module)
        try:
            answer = await _get(sandbox, port, module)
        except _NO_ANSWER:
            errors.append(f"{module} could not be loaded.")
            continue
        if answer.status >= 400:
            detail = await anyio.to_thread.run_sync(error_text, answer.text)
            errors.append(f"{module}: status {answer.status}. {detail}".strip())
        else:
            waiting += await anyio.to_thread.run_sync(imports_of, answer.text)
    return errors


def module_paths(page: str, path: str) -> list[str]:
    """The module scripts of an HTML page that come from its own server, as paths. Callers pass at most `ANSWER_BYTES`.
    Call it in a thread."""
    sources = (_SOURCE.search(tag) for tag in _SCRIPTS.findall(page) if _IS_MODULE.search(tag))
    joined = (urlsplit(urljoin(f"http://localhost{path}", match.group(1))) for match in sources if match)
    return [_own(part.path, part.query) for part in joined if part.netloc == "localhost" and _is_own(part.path)]


def imports_of(module: str) -> list[str]:
    """The project's own modules that a module imports, as Vite writes them; at most `ANSWER_BYTES`, as for
    `module_paths`."""
    return [path for path in _IMPORTS.findall(module) if _is_own(path)]


def _own(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def _is_own(path: str) -> bool:
    return not any(mark in path for mark in _NOT_OURS)


def error_text(body: str) -> str:
    """The text of an error page, at most `TEXT_CHARS`. Reads at most `ERROR_CHARS` of it, in at most 30 ms: call it in
    a thread."""
    body = body[:ERROR_CHARS]
    match = _NEXT_MESSAGE.search(body)
    if match is not None:
        return html.unescape(match.group(1))[:TEXT_CHARS]
    begun = _VITE_ERROR.search(body)
    written = _VITE_MESSAGE.search(body, begun.end()) if begun is not None else None
    if written is not None:
        with suppress(orjson.JSONDecodeError):
            return str(orjson.loads(written.group(1)))[:TEXT_CHARS]
    visible = html.unescape(_TAGS.sub(" ", _HIDDEN.sub(" ", body)))
    return " ".join(visible.split())[:TEXT_CHARS]


async def _get(sandbox: Sandbox, port: int, path: str) -> Page:
    """Raises one of `_NO_ANSWER`."""
    headers = [(b"Host", b"localhost:%d" % port), (b"Accept", b"text/html, */*"), (b"Connection", b"close")]
    line, body = Line(await sandbox.dial(port)), bytearray()
    try:
        await line.send(request_head("GET", path.encode("ascii", "replace"), headers, None))
        answer = Answer(line, is_head=False)
        head = await answer.head()
        with suppress(BadAnswer):  # the part that arrived before the failure counts
            while len(body) < ANSWER_BYTES and (piece := await answer.piece()) is not None:
                body += piece
    finally:
        line.close()
    return Page(head.status, body.decode("utf-8", "replace"))
