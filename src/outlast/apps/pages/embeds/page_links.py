"""Pages viewed by link: read only, by anyone with the secret, live until the link is revoked or expires, or until its
creator may no longer change the page.

The secret is the only credential, and is checked on each access. A link shows the page's title, HTML and changes, and
nothing of its conversation, files or people.
"""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from html import escape
from typing import Any, Final

import orjson

from outlast.apps.pages import link_store
from outlast.apps.pages.shapes import PageHtml, PagePatched
from outlast.base.errors import NotFound
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.projects.permissions import role_of
from outlast.kernel.projects.rules import Right, allows
from outlast.kernel.services import Services
from outlast.kernel.streams import follow

FRAME: Final = '<iframe src="{url}" title="{title}" style="width:100%;height:600px;border:0" loading="lazy"></iframe>'
_SHAPES: Final[Mapping[str, type[PagePatched] | type[PageHtml]]] = {"page.patch": PagePatched, "page.html": PageHtml}


@dataclass(frozen=True, slots=True)
class Embedded:
    """A page as shown by a link. `mark` changes with any of its fields."""

    page_id: str
    thread_id: str
    title: str
    html: str
    version: int

    @property
    def mark(self) -> str:
        """`12.0f3a…`: the version, which a reset may reuse, and a hash of the content."""
        told = hashlib.sha256(f"{self.title}\0{self.html}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.version}.{told[:16]}"


def frame_of(url: str, name: str) -> str:
    """HTML that embeds the page at a link's address in another site."""
    return FRAME.format(url=escape(url), title=escape(name or "Page"))


class PageLinks:
    """Opens links to pages, follows their pages, and checks that they are still valid."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def open(self, page_id: str, secret: str) -> Embedded:
        """The current page. Raises `NotFound` for a link that is not one of this page's, or no longer valid."""
        return await self._services.db.read(_embedded, page_id, secret)

    async def is_good(self, page_id: str, secret: str) -> bool:
        """True if the link still shows the page."""
        try:
            await self.open(page_id, secret)
        except NotFound:
            return False
        return True

    async def follow(self, page_id: str, secret: str, seen: str) -> AsyncGenerator[bytes]:
        """Server-sent events: the whole page first, unless the reader has `seen` it (the `mark` that came with it),
        then each change as `{base, version, patches}` or `{version, html, title}`. The validity of the link is checked
        here once, and again by the sender of the stream. Raises `NotFound`."""

        def begin(tx: Tx) -> tuple[Embedded, follow.ThreadCursor]:
            page = _embedded(tx, page_id, secret)
            return page, follow.parse_thread_cursor(follow.thread_cursor(tx, page.thread_id))

        services = self._services
        page, cursor = await services.db.read(begin)
        chunks = follow.follow_thread(services.db, services.hub, page.thread_id, cursor)
        return _told(services, page, secret, seen, chunks)


async def _told(
    services: Services, page: Embedded, secret: str, seen: str, chunks: AsyncIterator[bytes]
) -> AsyncGenerator[bytes]:
    """`page` is the reader's state. A change that does not follow from it is answered with the whole page."""
    if page.mark != seen:
        yield _whole(page)
    shown = page.version
    async with aclosing(chunks):  # type: ignore[type-var]  # every follower is a generator
        async for chunk in chunks:
            for change in _changes(chunk):
                if isinstance(change, PagePatched) and change.version <= shown:
                    continue
                if isinstance(change, PagePatched) and change.base_version == shown:
                    shown = change.version
                    yield _patched(change)
                    continue
                page = await services.db.read(_embedded, page.page_id, secret)
                shown = page.version
                yield _whole(page)


def _changes(chunk: bytes) -> Iterator[PagePatched | PageHtml]:
    """Only the changes of the page among the events of its thread."""
    for line in chunk.split(b"\n"):
        if not line.startswith(b"data: "):
            continue
        for name, shape in _SHAPES.items():
            if b'"event":"%b"' % name.encode() in line:
                event = orjson.loads(line[6:])
                if event["event"] == name:
                    yield shape.model_validate(event["data"])


def _patched(change: PagePatched) -> bytes:
    patches = [patch.model_dump(exclude_none=True) for patch in change.patches]
    return _frame({"base": change.base_version, "version": change.version, "patches": patches})


def _whole(page: Embedded) -> bytes:
    return _frame({"version": page.version, "html": page.html, "title": page.title})


def _frame(data: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % orjson.dumps(data)


def _embedded(tx: Tx, page_id: str, secret: str) -> Embedded:
    by, page = link_store.opened(tx, secret)
    role = role_of(tx, by, page.project_id)
    if page.id != page_id or role is None or not allows(role, Right.EDIT):
        raise link_store.closed()
    return Embedded(page_id, page.thread_id, page.title, page.html, page.version)
