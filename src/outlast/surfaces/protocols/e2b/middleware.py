"""Recognises requests of E2B's protocol, and the half that they are for.

The control plane is below `/e2b`. A request for a sandbox names it in the header `E2b-Sandbox-Id`; the signed address
of a file may name none. `ports.py` has already added this header to requests for a sandbox's own host name.
"""

from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.base.records import dataclass
from outlast.kernel.services import Services
from outlast.surfaces.protocols.e2b.application import create_control, create_envd
from outlast.surfaces.protocols.e2b.names import SANDBOX_ID
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime

PREFIX: Final = "/e2b"
INPUT_PATH: Final = "/process.Process/StreamInput"


@dataclass(frozen=True, slots=True)
class E2bRequest:
    """A request of E2B's protocol: its path without our prefix, and whether it is for envd or for the control plane."""

    path: str
    is_inside: bool

    @property
    def is_open_ended(self) -> bool:
        """True if the body is input of a program, which may pause for any time."""
        return self.is_inside and self.path == INPUT_PATH


def e2b_request(scope: Scope) -> E2bRequest | None:
    """The request in E2B's protocol, or None if it is not one."""
    headers, path = Headers(scope=scope), scope["path"]
    under = path == PREFIX or path.startswith(f"{PREFIX}/")
    bare = (path.removeprefix(PREFIX) or "/") if under else path
    is_signed = bare == "/files" and "signature" in parse_qs(scope["query_string"].decode("latin-1"))
    if is_signed or headers.get(SANDBOX_ID):
        return E2bRequest(bare, True)
    return E2bRequest(bare, False) if under else None


class E2bMiddleware:
    """Answers requests of E2B's protocol, and passes all others on to `rest`."""

    def __init__(self, rest: ASGIApp, services: Services, runtime: E2bRuntime, domain: str | None) -> None:
        self._rest = rest
        self._control = create_control(services, runtime, domain)
        self._envd = create_envd(services, runtime)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = e2b_request(scope) if scope["type"] == "http" else None
        if asked is None:
            await self._rest(scope, receive, send)
            return
        own = {**scope, "path": asked.path, "raw_path": asked.path.encode(), "root_path": ""}
        await (self._envd if asked.is_inside else self._control)(own, receive, send)
