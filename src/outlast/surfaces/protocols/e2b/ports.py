"""Ports of programs' sandboxes, and names for sandboxes under the previews' domain.

`PORT-ID.DOMAIN` is a port inside the sandbox, as `get_host` of the SDKs returns it; a request may also name both in the
headers `E2b-Sandbox-Id` and `E2b-Sandbox-Port`. A caller sends the sandbox's traffic token. Port 49983 is envd,
`api.DOMAIN` the control plane: behind a proxy that terminates TLS for `*.DOMAIN`, SDKs need only the domain.
"""

import hmac
import re
from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.base.errors import NotFound, NotSignedIn, OutlastError, SandboxUnavailable
from outlast.base.records import dataclass
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.actions import Visitor
from outlast.kernel.previews.headers import Headers, first
from outlast.kernel.previews.hosts import port_suffix
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.previews.proxy import Proxy, Request, cut
from outlast.kernel.previews.tunnel import pass_on
from outlast.kernel.previews.wake import Waiting
from outlast.kernel.sandboxes import hosted_actions as hosted
from outlast.kernel.sandboxes.hosted import Hosted
from outlast.surfaces.protocols.e2b.middleware import PREFIX
from outlast.surfaces.protocols.e2b.names import ENVD_PORT, SANDBOX_ID, traffic_token, workspace_of
from outlast.surfaces.protocols.e2b.problems import BAD_GATEWAY, is_gone, plain
from outlast_sandbox.ports.exchange import BadAnswer

SANDBOX_PORT: Final = b"e2b-sandbox-port"
TRAFFIC_TOKEN: Final = b"e2b-traffic-access-token"
OURS: Final = frozenset({SANDBOX_ID.encode(), SANDBOX_PORT, TRAFFIC_TOKEN, b"x-access-token", b"x-api-key"})
PATIENCE_S: Final = 2.0
# A program that opens ports with its token is not a member's browser: it decides itself what its pages load.
POLICY: Final = b"frame-ancestors 'none'"
_LABEL: Final = re.compile(r"([1-9][0-9]{0,4})-([0-9a-z]{26})")
_OWN_HOST: Final = b"127.0.0.1"


@dataclass(frozen=True, slots=True)
class E2bPorts:
    """Serves requests for ports of sandboxes. Requests to the host names of envd and of the control plane go to the
    application (`app`), all others to the previews (`rest`)."""

    rest: PreviewLayer
    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = scope["headers"] if scope["type"] == "http" else ()
        host = first(headers, b"host").decode("latin-1").lower()
        label = self.rest.hosts.label_of(host)
        named = _LABEL.fullmatch(label)
        port, sandbox_id = (int(named[1]), named[2]) if named else _in_headers(headers)
        if port in (0, ENVD_PORT):
            if label == "api":
                await self.app(_moved(scope, f"{PREFIX}{scope['path']}", host), receive, send)
            elif named:
                await self.app(_moved(scope, scope["path"], host, sandbox_id), receive, send)
            else:
                await self.rest(scope, receive, send)
            return
        await self._serve(scope, receive, send, sandbox_id, port)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, sandbox_id: str, port: int) -> None:
        proxy: Proxy | None = None
        try:
            visitor = await self._visitor(scope["headers"], sandbox_id, port)
            proxy = Proxy(self.rest.waker, _request(scope, visitor), receive, send)
            with self.rest.places.taken(visitor.user_id):
                await pass_on(proxy, PATIENCE_S)
        except Waiting as waiting:
            why = waiting.why or f"The sandbox is running but port {port} is not open: nothing listens there."
            await plain(SandboxUnavailable(why, hint=waiting.hint), BAD_GATEWAY)(scope, receive, send)
        except BadAnswer as error:
            if proxy is not None and proxy.status:
                cut(scope)
                return
            refusal = SandboxUnavailable(f"The program on port {port} did not answer: {error.why}.")
            await plain(refusal, BAD_GATEWAY)(scope, receive, send)
        except OutlastError as error:
            await plain(error, BAD_GATEWAY if is_gone(error) else None)(scope, receive, send)

    async def _visitor(self, headers: Headers, sandbox_id: str, port: int) -> Visitor:
        """The caller as a visitor of the port. Raises `NotSignedIn`, `NotFound`."""
        if port > 65_535:
            raise NotFound(f"Port {port} does not exist.")

        def check(found: Hosted) -> None:
            given = first(headers, TRAFFIC_TOKEN)
            if not hmac.compare_digest(given, traffic_token(found.access_token).encode()):
                raise NotSignedIn(
                    "Ports of a sandbox are open to callers that send its traffic token.",
                    hint="Send the header e2b-traffic-access-token: sandbox.traffic_access_token.",
                )

        found = await hosted.visit_hosted(self.rest.services, workspace_of(sandbox_id), check)
        return Visitor(found.user_id, found.workspace_id, found.project_id, sandbox_id, port, "")


def with_ports(layer: PreviewLayer, app: ASGIApp, surface: Surface) -> ASGIApp:
    """The previews, preceded by the ports of programs' sandboxes if the server has sandboxes."""
    if surface.services.sandboxes.manager is None:
        return layer
    return E2bPorts(layer, app)


def _in_headers(headers: Headers) -> tuple[int, str]:
    """(port, sandbox id); the port is 0 if the request does not name one."""
    port, sandbox_id = first(headers, SANDBOX_PORT), first(headers, SANDBOX_ID.encode())
    if not sandbox_id or not port.isdigit() or len(port) > 5:
        return 0, ""
    return int(port), sandbox_id.decode("latin-1")


def _moved(scope: Scope, path: str, host: str, sandbox_id: str = "") -> Scope:
    """The same request, as if sent to the server itself."""
    kept = [pair for pair in scope["headers"] if pair[0] not in (b"host", SANDBOX_ID.encode())]
    kept.append((b"host", _OWN_HOST + port_suffix(host).encode()))
    if sandbox_id:
        kept.append((SANDBOX_ID.encode(), sandbox_id.encode()))
    return {**scope, "headers": kept, "path": path, "raw_path": path.encode()}


def _request(scope: Scope, visitor: Visitor) -> Request:
    """The request as the program inside receives it: without our headers and our prefix."""
    headers: Sequence[tuple[bytes, bytes]] = [pair for pair in scope["headers"] if pair[0] not in OURS]
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    bare = raw.removeprefix(PREFIX.encode()) if first(scope["headers"], SANDBOX_PORT) else raw
    return Request({**scope, "raw_path": bare or b"/"}, headers, visitor, str(scope["scheme"]), POLICY)
