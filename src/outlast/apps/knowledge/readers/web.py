"""Sources on the web: a document, a list of documents (`llms.txt`), a site (sitemap)."""

import gzip
import html
import re
import zlib
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import anyio
import anyio.to_thread

from outlast.apps.knowledge.passages import page_of
from outlast.apps.knowledge.rows import KnowledgePageRow
from outlast.apps.knowledge.settings import SOURCE_BYTES
from outlast.apps.knowledge.source_documents import Document, Reading
from outlast.kernel.http.private_addresses import NONE, Allowed
from outlast.kernel.web.errors import NoPage
from outlast.kernel.web.http_fetch import Answer, Fetcher, NotRead, too_large
from outlast.kernel.web.pages import looks_like_html, read_page

AT_A_TIME: Final = 4
MAPS: Final = 50  # sitemaps that one sitemap may lead to
TRIED: Final = 10  # addresses tried for each document that a source may have
TOLD: Final = 3  # reasons that are listed
WELL_KNOWN: Final = ("llms-full.txt", "llms.txt", ".well-known/llms.txt")
_LISTED: Final = re.compile(r"^[ \t]*+[-*+][ \t]++\[([^\]\n]*+)\]\([ \t]*+<?([^)\s>]++)>?[^)\n]*+\)", re.MULTILINE)
_LOC: Final = re.compile(r"<(?:\w+:)?loc>\s*+(?:<!\[CDATA\[)?+\s*+([^<\]]*+)")
_INDEX: Final = re.compile(r"<(?:\w+:)?sitemapindex[\s>]")
_URLSET: Final = re.compile(r"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]")
_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXT: Final = ("text/", "application/json", "application/xml", "application/yaml", "application/x-yaml")

Known = Mapping[str, KnowledgePageRow]
"""The stored documents of a source, by address."""


class WebReader:
    """Bounds: `most_bytes` of text and `most_pages` documents in one source. Otherwise stateless."""

    def __init__(self, fetcher: Fetcher, most_bytes: int, most_pages: int) -> None:
        self._fetcher, self._most_bytes, self._most_pages = fetcher, most_bytes, most_pages

    async def document(
        self, url: str, allowed: Allowed = NONE, etag: str | None = None, modified: str | None = None
    ) -> Reading:
        """One document, unless it is unchanged since this `etag` or `modified`. A sitemap or a list at the address
        is read as such."""
        answer = await self._get(url, allowed, etag, modified)
        if answer.unchanged:
            return Reading(documents=None, etag=answer.etag, modified=answer.modified)
        if _URLSET.search(answer.text()[:2000]):
            return await self.site(url, {}, allowed)
        found = await self._document(url, answer)
        return Reading(documents=[found], etag=answer.etag, modified=answer.modified)

    async def listed(self, url: str, pages: Known, allowed: Allowed = NONE) -> Reading:
        """An `llms.txt`: the documents that it lists, and itself; or its whole text, if it is one (`llms-full.txt`).
        For the address of a site, the usual places are tried."""
        answer = await self._well_known(url, allowed)
        text = answer.text()
        itself = Document(url=answer.url, text=text, title=urlsplit(answer.url).hostname or "")
        links = listed_links(text, answer.url)
        if not links:
            return Reading(documents=[itself])
        room = self._most_bytes - len(text.encode("utf-8", "replace"))
        rest, trouble = await self._pages(links, pages, allowed, room)
        return Reading(documents=[itself, *rest], trouble=trouble)

    async def site(self, url: str, pages: Known, allowed: Allowed = NONE) -> Reading:
        """A sitemap's pages, of its own host only, as its robots.txt allows; `#/path/` selects those below that
        path."""
        address, _, below = url.partition("#")
        links = await self._mapped(address, allowed)
        host = urlsplit(address).netloc
        rules = await self._fetcher.robots(address, allowed)
        here = await anyio.to_thread.run_sync(_below, links, host, below or "/")
        wanted = await anyio.to_thread.run_sync(_permitted, here, rules, self._most_pages)
        if not wanted:
            raise NotRead(f"{url} lists no pages that may be read" + (f" below {below}" if below else ""))
        found, trouble = await self._pages(wanted, pages, allowed, self._most_bytes)
        return Reading(documents=found, trouble=trouble)

    async def _get(self, url: str, allowed: Allowed, etag: str | None = None, modified: str | None = None) -> Answer:
        return await self._fetcher.get(page_of(url), self._most_bytes, allowed=allowed, etag=etag, modified=modified)

    async def _document(self, url: str, answer: Answer) -> Document:
        """The content of an answer, as Markdown."""
        if answer.unchanged:
            return Document(url=url, text=None, etag=answer.etag, modified=answer.modified)
        text = answer.text()
        title = ""
        if answer.content_type in _HTML or (not answer.content_type.startswith("text/m") and looks_like_html(text)):
            try:
                title, text = await anyio.to_thread.run_sync(read_page, text, answer.url)
            except NoPage as error:
                raise NotRead(f"{url} cannot be read as a web page: {error}") from None
        elif answer.content_type and not answer.content_type.startswith((*_TEXT, "application/octet-stream")):
            raise NotRead(f"{url} is not text: {answer.content_type}")
        elif "\x00" in text[:4096]:
            raise NotRead(f"{url} is not text")
        return Document(url=url, text=text, title=title, etag=answer.etag, modified=answer.modified)

    async def _well_known(self, url: str, allowed: Allowed) -> Answer:
        if urlsplit(url).path.lower().endswith(".txt"):
            return await self._get(url, allowed)
        base = url if url.endswith("/") else f"{url}/"
        for name in WELL_KNOWN:
            try:
                answer = await self._get(urljoin(base, name), allowed)
            except NotRead as error:
                if not error.gone:
                    raise
                continue
            if not looks_like_html(answer.text()):
                return answer
        raise NotRead(f"{base} has none of {', '.join(WELL_KNOWN)}", gone=True)

    async def _pages(
        self, links: Sequence[str], pages: Known, allowed: Allowed, room: int
    ) -> tuple[list[Document], str]:
        """The documents at these addresses, in order, and the errors of those that could not be read. Raises `NotRead`
        if none could be."""
        found: dict[str, Document] = {}
        failed: dict[str, NotRead] = {}
        left = room
        waiting = iter(links[: self._most_pages])

        async def work() -> None:
            nonlocal left
            for link in waiting:
                if left <= 0:
                    failed[link] = too_large("the whole source", self._most_bytes, SOURCE_BYTES)
                    continue
                known = pages.get(link)
                etag, modified = (known.etag, known.modified) if known is not None else (None, None)
                try:
                    document = await self._document(link, await self._get(link, allowed, etag, modified))
                except NotRead as error:
                    failed[link] = error
                    continue
                found[link] = document
                left -= len(document.text or "")

        async with anyio.create_task_group() as tasks:
            for _ in range(AT_A_TIME):
                tasks.start_soon(work)
        for link, error in failed.items():  # a document read before stays, unless its host says that it is gone
            if link in pages and not error.gone:
                page = pages[link]
                found[link] = Document(url=link, text=None, etag=page.etag, modified=page.modified)
        if not found:
            first = next(iter(failed.values()))
            raise NotRead(f"none of {len(links)} documents could be read: {first}", retry_after_s=first.retry_after_s)
        return [found[link] for link in links if link in found], _trouble(failed, len(links), self._most_pages)

    async def _mapped(self, url: str, allowed: Allowed) -> list[str]:
        """Every address in a sitemap and in the sitemaps that it leads to."""
        found: list[str] = []
        waiting, seen = [url], {url}
        while waiting and len(seen) <= MAPS and len(found) < self._most_pages * 10:
            answer = await self._fetcher.get(waiting.pop(0), self._most_bytes, allowed=allowed, accept="*/*")
            text = await anyio.to_thread.run_sync(_unpacked, answer, self._most_bytes)
            links = await anyio.to_thread.run_sync(sitemap_links, text)
            if not _INDEX.search(text[:5000]):
                found += links
                continue
            fresh = [link for link in dict.fromkeys(links) if link not in seen]
            seen.update(fresh)
            waiting += fresh
        return found


def listed_links(text: str, url: str) -> list[str]:
    """The distinct addresses of an `llms.txt`; none if the text is more than a list."""
    items = _LISTED.findall(text)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ">"))]
    if "llms-full" in urlsplit(url).path or len(items) * 2 < len(lines):
        return []
    links = (page_of(urljoin(url, target)) for _, target in items)
    return [link for link in dict.fromkeys(links) if link.startswith(("http://", "https://"))]


def sitemap_links(text: str) -> list[str]:
    """The addresses in a sitemap, in order. Its input is at most `most_bytes` of a source, 20 MB; 10 MB take
    a second: call it in a thread."""
    return [link for one in _LOC.findall(text) if (link := html.unescape(one).strip())]


def _below(links: Sequence[str], host: str, path: str) -> list[str]:
    """The distinct addresses of this host whose path begins like this."""
    found: dict[str, None] = {}
    for link in map(page_of, links):
        try:
            parts = urlsplit(link)
        except ValueError:
            continue
        if parts.netloc == host and parts.path.startswith(path):
            found[link] = None
    return list(found)


def _permitted(links: Sequence[str], rules: RobotFileParser, most: int) -> list[str]:
    """The first addresses that a host's robots.txt allows, one more than `most` to show that there are more. Many
    rules for many addresses may take long: it is blocking, and tries at most `TRIED` addresses for each."""
    allowed = (link for link in links[: most * TRIED] if rules.can_fetch("Outlast", link))
    return list(islice(allowed, most + 1))


def _unpacked(answer: Answer, most_bytes: int) -> str:
    if answer.body[:2] != b"\x1f\x8b":
        return answer.text()
    try:
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        body = unpacker.decompress(answer.body, most_bytes)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise NotRead(f"{answer.url} cannot be unpacked: {error}") from None
    return body.decode("utf-8", "replace")


def _trouble(failed: Mapping[str, NotRead], asked: int, most: int) -> str:
    said = []
    if asked > most:
        said.append(f"documents beyond the first {most} are left out (knowledge.pages_per_source)")
    if failed:
        reasons = "; ".join(dict.fromkeys([str(error) for error in failed.values()][:TOLD]))
        said.append(f"{len(failed)} of {min(asked, most)} documents could not be read: {reasons}")
    return ". ".join(said)
