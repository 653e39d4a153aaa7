"""The ASGI layer in front of the application: it answers every request under the preview domain."""

import logging
import time
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

import anyio
from anyio.abc import TaskStatus
from starlette.datastructures import Headers as StarletteHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.base.errors import OutlastError, RateLimited
from outlast.kernel.apps import registry
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.body_limits import Body
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews import notices
from outlast.kernel.previews.access import Access
from outlast.kernel.previews.actions import Visitor
from outlast.kernel.previews.content_policy import MAX_REPORT_BYTES, REPORTS_PATH, blocked_picture, preview_policy
from outlast.kernel.previews.cookies import granting, grants_in
from outlast.kernel.previews.headers import Headers, all_of, first
from outlast.kernel.previews.hosts import Address, app_origins, port_suffix
from outlast.kernel.previews.notices import PRIVATE, Notice, answer_notice, is_page_visit
from outlast.kernel.previews.ports import IMAGE_HOSTS
from outlast.kernel.previews.proxy import Proxy, Request, cut
from outlast.kernel.previews.tunnel import pass_on
from outlast.kernel.previews.waiting_page import PAGE_PATIENCE_S, waiting_page
from outlast.kernel.previews.wake import PATIENCE_S, Waiting, Waker
from outlast_sandbox.ports.exchange import BadAnswer

OWN_PATHS: Final = "/.outlast/"
TICKET_PATH: Final = "/.outlast/ticket"
log = logging.getLogger("outlast.preview")


class PreviewLayer:
    """Wraps the application. Pages of the origins of `known` may frame any preview. Create it before the previous
    server's sandboxes are reconnected, so that it knows them as awake. `run` must be running; `close` ends open
    answers."""

    def __init__(self, app: ASGIApp, surface: Surface, known: KnownHosts) -> None:
        settings = surface.services.settings
        self._app = app
        self.services = surface.services
        self.hosts = surface.previews
        self.access = Access(self.services, local_mode=surface.local_owner is not None)
        self.waker = Waker(self.services)
        self._own_origins = sorted(known.origins)
        self._public_url = settings.server.public_url.rstrip("/")
        self.places = StreamPlaces(settings.limits.streams_per_user)
        self.services.db.on_notice(self.access.on_bell)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run the services beside the requests, until cancelled."""
        supervisor = self.services.supervisor
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(supervisor.keep, "access to previews", self.access.run)
            await supervisor.start(tasks, "waking for previews", self.waker.run)
            task_status.started()

    def close(self) -> None:
        """End every open answer and upgraded connection, so that the server can stop."""
        self.access.close()

    def statistics(self) -> dict[str, int]:
        """The numbers of open answers and upgraded connections, and of idle lines for the next request."""
        return {"open": len(self.access), "idle_lines": len(self.waker.pool)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = first(scope["headers"], b"host").decode("latin-1")
        if not self.hosts.covers(host):
            await self._app(scope, receive, send)
            return
        await _Visit(self, scope, receive, send, host).serve()

    def scheme(self, scope: Scope) -> str:
        """The scheme that browsers use, also if a proxy in front of this server terminates TLS."""
        return urlsplit(self._public_url).scheme or str(scope["scheme"])

    def home(self, host: str) -> str:
        """The address of Outlast itself, for visitors of this host."""
        return self._public_url or f"http://localhost{port_suffix(host)}"

    def frame_ancestors(self, host: str, opener: str = "") -> bytes:
        origins = app_origins(host, self._public_url, (*self._own_origins, opener))
        return " ".join(["'self'", *origins]).encode()


class _Visit:
    """One request under the preview domain."""

    def __init__(self, layer: PreviewLayer, scope: Scope, receive: Receive, send: Send, host: str) -> None:
        self._layer = layer
        self._scope = scope
        self._receive = receive
        self._send = send
        self._host = host
        self._headers: Headers = scope["headers"]
        self._ancestors = layer.frame_ancestors(host)
        self._began = time.monotonic()
        self._status = 0

    async def serve(self) -> None:
        address = self._layer.hosts.parse(self._host)
        try:
            if address is None:
                await self._tell(notices.NO_PREVIEW)
            elif self._scope["path"].startswith(OWN_PATHS):
                await self._own(address)
            elif self._is_foreign(address):
                await self._tell(notices.FOREIGN_PAGE)
            else:
                await self._let_in(address)
        except RateLimited as error:
            await self._tell(Notice(429, "Too many at once", error.message, error.hint))
        except OutlastError as error:
            log.warning("preview not served", extra={"code": error.code, "host": self._host})
            await self._tell(Notice(503, "Not now", error.message, error.hint))
        except Exception:
            log.exception("preview failed", extra={"host": self._host})
            await self._tell(Notice(500, "The preview failed", "The server's log has the details."))
        finally:
            self._record()

    # --- the ticket ---

    async def _own(self, address: Address) -> None:
        if self._scope["path"] == REPORTS_PATH and self._scope["method"] == "POST":
            await self._take_report(address)
            return
        if self._scope["path"] != TICKET_PATH or self._scope["method"] != "GET":
            await self._tell(notices.NO_PREVIEW)
            return
        query = parse_qs(self._scope["query_string"].decode("latin-1"), keep_blank_values=True)
        secret, target = query.get("ticket", [""])[0], safe_path(query.get("to", ["/"])[0])
        value = await self._layer.access.exchange(secret, address)
        if value is None and await self._visitor(address) is None:
            await self._tell(notices.not_let_in(address.port, self._home(address), used=True))
            return
        headers = [(b"location", target), (b"content-length", b"0"), *PRIVATE]
        if value is not None:
            secure = self._layer.scheme(self._scope) == "https"
            local = self._layer.hosts.is_local
            cookies = granting(value, is_local=local, is_secure=secure)
            headers += [(b"set-cookie", cookie) for cookie in cookies]
        await self._answer(303, headers)

    async def _take_report(self, address: Address) -> None:
        """Take a browser's report of a blocked image: a member may want to allow images from that host."""
        found = None if self._is_foreign(address) else await self._visitor(address)
        body = await _small_body(Body(self._receive, StarletteHeaders(raw=list(self._headers)), None).receive)
        if found is not None and (blocked := blocked_picture(body)):
            hosts = registry.implementation(IMAGE_HOSTS)
            await hosts.report_blocked(self._layer.services, found[1].workspace_id, [blocked])
        await self._answer(204, PRIVATE)

    async def _answer(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._status = status
        await self._send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    # --- the visitor and the origin ---

    def _is_foreign(self, address: Address) -> bool:
        """True if a page of another origin than this sandbox's sends the request on behalf of its reader. Opening a
        preview from anywhere is fine."""
        origin = first(self._headers, b"origin").decode("latin-1")
        if origin and origin != "null":
            return not self._is_own(origin, address)
        if self._must_say_its_origin:
            return True
        if first(self._headers, b"sec-fetch-site") in (b"", b"same-origin", b"none"):
            return False
        if first(self._headers, b"sec-fetch-mode") == b"navigate":
            return self._scope["method"] not in ("GET", "HEAD")
        return not self._is_own(first(self._headers, b"referer").decode("latin-1"), address)

    @property
    def _must_say_its_origin(self) -> bool:
        """True if the request must have an Origin header. With plain HTTP under a real name, browsers send only an
        origin, and our plain cookie from every sandbox's pages: a request that changes something must prove its
        origin."""
        if self._layer.hosts.is_local or self._layer.scheme(self._scope) == "https":
            return False
        is_upgrade = bool(first(self._headers, b"upgrade"))
        return is_upgrade or self._scope["method"] not in ("GET", "HEAD")

    def _is_own(self, url: str, address: Address) -> bool:
        """True if a URL belongs to any port of the same sandbox, as browsers reach it here."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        named = self._layer.hosts.parse(parts.netloc)
        return (
            named is not None
            and named.sandbox_id == address.sandbox_id
            and port_suffix(parts.netloc) == port_suffix(self._host)
        )

    async def _visitor(self, address: Address) -> tuple[str, Visitor] | None:
        values = grants_in(all_of(self._headers, b"cookie"))
        return await self._layer.access.visitor(values, address)

    async def _let_in(self, address: Address) -> None:
        found = await self._visitor(address)
        if found is None:
            await self._tell(notices.not_let_in(address.port, self._home(address)))
            return
        value, visitor = found
        self._scope["state"]["user_id"] = visitor.user_id
        self._ancestors = self._layer.frame_ancestors(self._host, visitor.opener)
        with self._layer.places.taken(visitor.user_id), self._layer.access.open(value, address) as scope:
            await self._pass_on(visitor)
        if scope.cancelled_caught:
            cut(self._scope)

    # --- passing on ---

    async def _pass_on(self, visitor: Visitor) -> None:
        scheme = self._layer.scheme(self._scope)
        request = Request(self._scope, self._headers, visitor, scheme, self._policy(visitor))
        proxy = Proxy(self._layer.waker, request, self._receive, self._send)
        try:
            await pass_on(proxy, PAGE_PATIENCE_S if self._is_page else PATIENCE_S)
        except Waiting as waiting:
            await self._tell(await waiting_page(self._layer.services, visitor, waiting))
        except BadAnswer as error:
            if proxy.status:
                cut(self._scope)
            else:
                await self._tell(notices.bad_answer(visitor.port, error.why))
        finally:
            self._status = self._status or proxy.status

    def _policy(self, visitor: Visitor) -> bytes:
        """The content security policy of this preview's pages."""
        suffix, hosts = port_suffix(self._host), self._layer.hosts
        siblings = [hosts.format(Address(port, visitor.sandbox_id)) + suffix for port in visitor.siblings]
        images = [*self._layer.services.settings.screens.image_hosts, *visitor.image_hosts]
        scheme = self._layer.scheme(self._scope)
        return preview_policy(self._ancestors, self._host.lower(), scheme, siblings, images)

    # --- own answers ---

    @property
    def _is_page(self) -> bool:
        return is_page_visit(self._scope["method"], self._headers)

    def _home(self, address: Address) -> str:
        """The address in Outlast that opens this preview."""
        path = quote(self._scope["path"] if not self._scope["path"].startswith(OWN_PATHS) else "/")
        home = self._layer.home(self._host)
        return f"{home}/previews/{address.sandbox_id}/{address.port}?to={quote(path, safe='')}"

    async def _tell(self, notice: Notice) -> None:
        if self._status:
            cut(self._scope)
            return
        self._status = notice.status
        await answer_notice(self._send, notice, as_page=self._is_page, frame_ancestors=self._ancestors)

    def _record(self) -> None:
        if log.isEnabledFor(logging.DEBUG):
            fields = {
                "method": self._scope["method"],
                "host": self._host[:100],
                "path": self._scope["path"],
                "status": self._status,
                "duration_s": round(time.monotonic() - self._began, 4),
                "user_id": self._scope["state"].get("user_id"),
            }
            log.debug("preview", extra=fields)


async def _small_body(receive: Receive) -> bytes:
    """A body of at most `MAX_REPORT_BYTES`; a longer one is cut off."""
    body, more = b"", True
    while more and len(body) < MAX_REPORT_BYTES:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def safe_path(target: str) -> bytes:
    """The path on a preview to open after the ticket, always on the same host."""
    if not target.startswith("/") or target.startswith(("//", "/\\", OWN_PATHS)):
        return b"/"
    return quote(target, safe="/?&=%#:;,@!$'()*+~-._[]").encode()
