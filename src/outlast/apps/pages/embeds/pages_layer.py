"""The ASGI layer in front of the application: it handles all requests under the pages' domain."""

import logging
from collections.abc import Sequence
from dataclasses import field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlast.apps.pages.embeds import shell
from outlast.apps.pages.embeds.hosts import PageHosts, page_hosts
from outlast.apps.pages.embeds.page_links import PageLinks
from outlast.apps.pages.embeds.runtime_files import KINDS, RuntimeFiles
from outlast.base.errors import Gone, OutlastError, PermissionNeeded, RateLimited
from outlast.base.records import dataclass
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.event_stream import EventStream, OpenStreams
from outlast.kernel.http.sign_in_throttle import address_of
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.headers import first
from outlast.kernel.previews.hosts import app_origins
from outlast.kernel.previews.notices import Notice, answer_notice, is_page_visit

EMBED: Final = "/embed/"
EVENTS: Final = "/events"
FOR_EVER: Final = b"public, max-age=31536000, immutable"
NOTHING_HERE: Final = Notice(404, "There is no page here", "Open the page in Outlast, or by a link to it.")
NO_LINK: Final = Notice(
    404,
    "This link is no longer valid",
    "It was revoked or has expired, or its page was deleted.",
    "Ask the person who sent it to you for a new one.",
)
NOT_BUILT: Final = Notice(
    503, "The web app has not been built", "Run make setup in the repository, then reload this page."
)
log = logging.getLogger("outlast.pages")


def with_pages(app: ASGIApp, surface: Surface, hosts: KnownHosts) -> "PagesLayer":
    """Serve all other hosts with `app`, behind the layer of pages. Its streams are the surface's, and end with them."""
    return PagesLayer(
        app,
        page_hosts(surface.previews),
        PageLinks(surface.services),
        surface.streams,
        own_origins=sorted(hosts.origins),
        public_url=surface.services.settings.server.public_url,
    )


@dataclass(frozen=True, slots=True)
class PagesLayer:
    """Wraps the application. `own_origins` and `public_url` are the addresses of the app itself."""

    app: ASGIApp
    hosts: PageHosts
    links: PageLinks
    streams: OpenStreams
    files: RuntimeFiles = field(default_factory=RuntimeFiles)
    own_origins: Sequence[str] = ()
    public_url: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = first(scope["headers"], b"host").decode("latin-1") if scope["type"] == "http" else ""
        if not host or not self.hosts.covers(host):
            await self.app(scope, receive, send)
            return
        try:
            await self._serve(scope, receive, send, host)
        except (Gone, PermissionNeeded):
            await _tell(scope, send, NO_LINK)
        except RateLimited as error:
            await _tell(scope, send, Notice(429, "Too many at once", error.message, error.hint))
        except OutlastError as error:
            log.warning("page not served", extra={"code": error.code})
            await _tell(scope, send, Notice(503, "Not now", error.message, error.hint))
        except Exception:
            log.exception("page failed", extra={"host": host[:100]})
            await _tell(scope, send, Notice(500, "The page failed", "See the server's log for details."))

    async def _serve(self, scope: Scope, receive: Receive, send: Send, host: str) -> None:
        page_id, path = self.hosts.parse(host), scope["path"]
        if page_id is None or scope["method"] not in ("GET", "HEAD"):
            await _tell(scope, send, NOTHING_HERE)
        elif path == "/":
            await self._shell(scope, send, host)
        elif path.removeprefix("/") in KINDS:
            await self._file(scope, send, path.removeprefix("/"))
        elif path.startswith(EMBED) and path.endswith(EVENTS):
            secret = path.removeprefix(EMBED).removesuffix(EVENTS)
            await self._follow(scope, receive, send, page_id, secret)
        elif path.startswith(EMBED):
            await self._embed(scope, send, host, page_id, path.removeprefix(EMBED))
        else:
            await _tell(scope, send, NOTHING_HERE)

    async def _shell(self, scope: Scope, send: Send, host: str) -> None:
        version = self.files.version()
        parents = app_origins(host, self.public_url, self.own_origins)
        if version is None:
            await _tell(scope, send, NOT_BUILT, " ".join(parents).encode())
            return
        headers = shell.shell_headers(self._origin(scope, host), parents)
        await _answer(scope, send, headers, shell.shell(parents, version))

    async def _file(self, scope: Scope, send: Send, name: str) -> None:
        content = self.files.read(name)
        if content is None:
            await _tell(scope, send, NOT_BUILT)
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        held = query.get("v") == [self.files.version()]
        headers = [
            (b"content-type", KINDS[name]),
            (b"cache-control", FOR_EVER if held else b"no-cache"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await _answer(scope, send, headers, content)

    async def _embed(self, scope: Scope, send: Send, host: str, page_id: str, secret: str) -> None:
        page = await self.links.open(page_id, secret)
        version = self.files.version()
        if version is None:
            await _tell(scope, send, NOT_BUILT, b"*")
            return
        body = shell.embedded(page.title, page.html, page.mark, version)
        await _answer(scope, send, shell.embed_headers(self._origin(scope, host)), body)

    async def _follow(self, scope: Scope, receive: Receive, send: Send, page_id: str, secret: str) -> None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        last = first(scope["headers"], b"last-event-id").decode("latin-1") or query.get("after", [""])[0]
        frames = await self.links.follow(page_id, secret, last)
        address = address_of(HTTPConnection(scope))
        stream = EventStream(frames, self.streams, lambda: self.links.is_good(page_id, secret), address, "address")
        told = {**scope, "path": f"{EMBED}…{EVENTS}"}  # safe to log
        await stream(told, receive, _readable(send))

    def _origin(self, scope: Scope, host: str) -> str:
        """The origin of this host as browsers reach it, also behind a proxy that terminates TLS."""
        return f"{urlsplit(self.public_url).scheme or scope['scheme']}://{host.lower()}"


def _readable(send: Send) -> Send:
    """An embedded page's document has an opaque origin, so its own host must allow it to read the stream. That shows no
    more than its address, which is the secret, already does."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"access-control-allow-origin", b"*")]
        await send(message)

    return sending


async def _answer(scope: Scope, send: Send, headers: shell.Headers, body: bytes) -> None:
    sized = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": sized})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def _tell(scope: Scope, send: Send, notice: Notice, ancestors: bytes = b"*") -> None:
    as_page = is_page_visit(scope["method"], scope["headers"])
    await answer_notice(_readable(send), notice, as_page=as_page, frame_ancestors=ancestors)
