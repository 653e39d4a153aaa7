"""The outermost ASGI layer. It gives each request an id, checks its host, origin and content type, bounds its body,
adds security headers and logs one line. It does not read the database."""

import logging
import re
import time
from dataclasses import KW_ONLY, field
from functools import partial
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlast.base.errors import MalformedInput, OriginRefused, OutlastError
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.kernel.attachments.rules import MAX_PIECE_BYTES
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.body_limits import ANY_PACE, READ_AWAY_S, USUAL_PACE, Body, BodyPace
from outlast.kernel.http.event_stream import DIRECT_SEND
from outlast.kernel.http.problems import problem, unexpected
from outlast.surfaces.http.security_headers import HeaderList, security_headers, with_security
from outlast.surfaces.protocols.e2b.middleware import e2b_request

IMAGE_PATHS: Final = frozenset({"/v1/attachments"})  # a form with a small file
PIECE_PATH: Final = re.compile(r"/v1/uploads/[^/]+")  # bytes of a file
FILE_PATH: Final = re.compile(r"/v1/projects/[^/]+/(?:artifacts|skills)")  # a form with files
TEXT_PATH: Final = re.compile(r"/v1/knowledge/sources|/v1/projects/[^/]+/documents|/v1/documents/[^/]+/import")
HEALTH_PATHS: Final = frozenset({"/healthz", "/readyz"})
FORM_OVERHEAD_BYTES: Final = 64_000
_GIVEN_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}")

log = logging.getLogger("outlast.http")


@dataclass(eq=False, slots=True)
class RequestGuard:
    """Wraps the application. `body_bytes` bounds JSON bodies, `image_bytes` a small attached file, `file_bytes` a
    project's file, `text_bytes` uploaded documentation and documents; `frames` are the sources that our own pages may
    show in frames, as a content security policy names them; `read_away_s` bounds how long a refused body is read,
    `pace` how slowly a body may arrive."""

    app: ASGIApp
    hosts: KnownHosts
    _: KW_ONLY
    body_bytes: int
    image_bytes: int
    file_bytes: int = 0
    text_bytes: int = 0
    frames: str = "'none'"
    read_away_s: float = READ_AWAY_S
    pace: BodyPace = USUAL_PACE
    security: HeaderList = field(init=False)

    def __post_init__(self) -> None:
        self.security = security_headers(self.frames)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        body = self._body(receive, scope, headers)
        visit = _Visit(scope, send, self.security, body)
        try:
            self._admit(scope, headers)
            body.check_stated()
            await self.app(scope, body.receive, visit.send)
        except OutlastError as error:
            await visit.refuse(error)
        except Exception:
            log.exception("request failed", extra=visit.fields())
            await visit.refuse(unexpected())
        finally:
            visit.end()

    def _admit(self, scope: Scope, headers: Headers) -> None:
        if scope["path"] in HEALTH_PATHS:
            return
        host = headers.get("host", "")
        if not self.hosts.knows(host):
            raise OriginRefused(
                "The Host header does not name a host of this server.",
                hint="Use http://127.0.0.1:PORT, or set server.public_url or server.allowed_hosts.",
                host=host[:100],
            )
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            raise MalformedInput("The address contains a NUL character.", hint="Remove it.")
        if scope["path"].startswith("/v1/"):
            self._check_origin(headers, host)
            _check_content_type(scope, headers)

    def _check_origin(self, headers: Headers, host: str) -> None:
        origin = headers.get("origin")
        if origin is not None and not self.hosts.is_own_origin(origin, host):
            raise OriginRefused(
                "Pages of another origin cannot use this server.",
                hint="Open the server's own address, or add the host to server.allowed_hosts.",
                origin=origin[:100],
            )
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not (origin and self.hosts.invited(origin)):
            raise OriginRefused("The browser reports that this request comes from another site.", site=site[:20])

    def _most(self, path: str) -> int:
        if path in IMAGE_PATHS:
            return self.image_bytes + FORM_OVERHEAD_BYTES
        if PIECE_PATH.fullmatch(path):
            return MAX_PIECE_BYTES
        if FILE_PATH.fullmatch(path):
            return self.file_bytes + FORM_OVERHEAD_BYTES
        if TEXT_PATH.fullmatch(path):  # JSON escapes the text, which makes it longer
            return max(self.body_bytes, self.text_bytes + self.text_bytes // 4)
        return self.body_bytes

    def _body(self, receive: Receive, scope: Scope, headers: Headers) -> Body:
        """The body, refused beyond the limit of this path. Requests of E2B's protocol are bounded where they are read:
        a file may be as large as a sandbox, and a program's input may pause for any time."""
        asked = e2b_request(scope)
        most = None if asked is not None else self._most(scope["path"])
        pace = ANY_PACE if asked is not None and asked.is_open_ended else self.pace
        return Body(receive, headers, most, read_away_s=self.read_away_s, pace=pace)


class _Visit:
    """One request, from its id to its line in the log."""

    __slots__ = ("_began", "_body", "_raw_send", "_scope", "_security", "request_id", "status")

    def __init__(self, scope: Scope, send: Send, security: HeaderList, body: Body) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        self.request_id = given if _GIVEN_ID.fullmatch(given) else new_id("request")
        scope.setdefault("state", {})["request_id"] = self.request_id
        scope.setdefault("extensions", {})[DIRECT_SEND] = send
        self._scope = scope
        self._security = security
        self._body = body
        self._raw_send = send
        self._began = time.monotonic()
        self.status = 0

    async def send(self, message: Message) -> None:
        """Pass the answer on. If the body was refused while it was read, the route only reports that it could not read
        it (400): an answer with the reason replaces that one."""
        refusal = self._body.refusal
        if refusal is not None and message.get("status") == 400 and e2b_request(self._scope) is None:
            self._raw_send, send = _drop, self._raw_send
            answer = problem(refusal, self.request_id)
            await answer(self._scope, _no_more, partial(self._pass, send))
            return
        await self._pass(self._raw_send, message)

    async def _pass(self, send: Send, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *with_security(message["headers"], self._security),
                (b"x-request-id", self.request_id.encode()),
            ]
            if self.status >= 400 and not await self._body.read_away():
                message["headers"].append((b"connection", b"close"))
        await send(message)

    async def refuse(self, error: OutlastError) -> None:
        if not self.status:
            await problem(error, self.request_id)(self._scope, _no_more, self.send)

    def fields(self) -> dict[str, object]:
        state = self._scope.get("state", {})
        return {
            "request_id": self.request_id,
            "method": self._scope["method"],
            "path": self._scope["path"],
            "status": self.status,
            "duration_s": round(time.monotonic() - self._began, 4),
            "user_id": state.get("user_id"),
        }

    def end(self) -> None:
        level = logging.DEBUG if self._scope["path"] in HEALTH_PATHS else logging.INFO
        if log.isEnabledFor(level):
            log.log(level, "request", extra=self.fields())


def _check_content_type(scope: Scope, headers: Headers) -> None:
    """Require the content type of the path: JSON or bytes, which a form on a foreign page cannot send, or a form."""
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return
    path = scope["path"]
    wanted = "application/json"
    if path in IMAGE_PATHS or FILE_PATH.fullmatch(path):
        wanted = "multipart/form-data"
    elif PIECE_PATH.fullmatch(path):
        wanted = "application/octet-stream"
    given = headers.get("content-type", "").split(";")[0].strip().lower()
    if given != wanted:
        raise MalformedInput(
            f"The body's content type is {given[:80] or 'missing'}; this route accepts {wanted}.",
            hint=f"Send the header 'Content-Type: {wanted}'.",
            content_type=given[:80],
        )


async def _drop(_message: Message) -> None:
    """Drop an answer that another one replaces."""


async def _no_more() -> Message:
    return {"type": "http.disconnect"}
