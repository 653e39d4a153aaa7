"""Reads one web page as text: HTML as Markdown, PDF page by page, other text as it is."""

from outlast.base.records import dataclass
from typing import Final

import anyio
import anyio.to_thread

from outlast.apps.web.settings import WebSettings
from outlast.kernel.files.kinds import PDF
from outlast.kernel.files.texts import read_text
from outlast.kernel.web.http_fetch import Answer, Fetcher, NotRead
from outlast.kernel.web.errors import NoPage
from outlast.kernel.web.pages import looks_like_html, read_page
from outlast_sandbox.host_patterns import parse_host_port

ACCEPT: Final = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/pdf;q=0.7, */*;q=0.5"
PDF_S: Final = 10.0  # processor time for one PDF
TITLE_CHARS: Final = 200
_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXT: Final = (
    "text/",
    "application/json",
    "application/ld+json",
    "application/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/yaml",
    "application/x-yaml",
    "application/javascript",
)


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page: `url` is its final address, `title` may be empty, `trouble` says what is missing."""

    url: str
    title: str
    text: str
    trouble: str = ""


class PageReader:
    """Bounds: `page_bytes` of a page, and three times `timeout_s` for all of its redirects together."""

    def __init__(self, fetcher: Fetcher, settings: WebSettings) -> None:
        self._fetcher, self._settings = fetcher, settings
        self._allowed = frozenset(parse_host_port(text) for text in settings.allow_private)

    async def read(self, url: str) -> WebPage:
        """The page at an address. Raises `NotRead`. Reads only: safe to repeat and to cancel."""
        most_s = 3 * self._settings.timeout_s
        with anyio.move_on_after(most_s):
            answer = await self._fetcher.get(
                url.strip().partition("#")[0], self._settings.page_bytes, allowed=self._allowed, accept=ACCEPT
            )
            return await _page_of(answer)
        raise NotRead(f"{url} could not be read within {most_s:g} s")


async def _page_of(answer: Answer) -> WebPage:
    if answer.content_type == PDF or b"%PDF-" in answer.body[:1024]:
        found = await read_text(PDF, answer.body, PDF_S)
        if found.failed:
            raise NotRead(f"{answer.url} is a PDF that cannot be read: {found.trouble}")
        return WebPage(answer.url, "", "\n\n".join(found.texts), found.trouble or "")
    kind, text = answer.content_type, answer.text()
    if kind in _HTML or (not kind.startswith("text/m") and looks_like_html(text)):
        try:
            title, text = await anyio.to_thread.run_sync(read_page, text, answer.url)
        except NoPage as error:
            raise NotRead(f"{answer.url} cannot be read as a web page: {error}") from None
        return WebPage(answer.url, title[:TITLE_CHARS], text)
    if not kind.startswith((*_TEXT, "application/octet-stream")) or "\x00" in text[:4096]:
        raise NotRead(f"{answer.url} is neither text nor a PDF: {kind or 'unknown content'}")
    return WebPage(answer.url, "", text)
