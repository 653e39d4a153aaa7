"""Which requests speak E2B's protocol, and to which half of it.

The control plane lies under `/e2b`. A request for a sandbox names it in the header `E2b-Sandbox-Id`; the address of a
file, signed for its bearer, may name none. Requests under names of their own have become such by then (`ports.py`).
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.kernel.services import Services
from outlast.surfaces.protocols.e2b.application import create_control, create_envd
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime

PREFIX: Final = "/e2b"
SANDBOX_ID: Final = "e2b-sandbox-id"
INPUT_PATH: Final = "/process.Process/StreamInput"


@dataclass(frozen=True, slots=True)
class Knock:
    """A request that is meant for here: its path without our prefix, and the sandbox it is for, if it names one."""

    path: str
    sandbox_id: str | None
    is_inside: bool

    @property
    def is_open_ended(self) -> bool:
        """Whether its body is input of a program, which comes when it comes."""
        return self.is_inside and self.path == INPUT_PATH


def knock_of(scope: Scope) -> Knock | None:
    """None: the request is meant for somebody else."""
    headers, path = Headers(scope=scope), scope["path"]
    under = path == PREFIX or path.startswith(f"{PREFIX}/")
    bare = (path.removeprefix(PREFIX) or "/") if under else path
    named = headers.get(SANDBOX_ID)
    if named:
        return Knock(bare, named, True)
    if bare == "/files" and "signature" in parse_qs(scope["query_string"].decode("latin-1")):
        return Knock(bare, None, True)
    return Knock(bare, None, False) if under else None


class E2bDoor:
    """Stands before the rest of the server and takes what speaks E2B."""

    def __init__(self, rest: ASGIApp, services: Services, runtime: E2bRuntime, domain: str | None) -> None:
        self._rest = rest
        self._control = create_control(services, runtime, domain)
        self._envd = create_envd(services, runtime)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        knock = knock_of(scope) if scope["type"] == "http" else None
        if knock is None:
            await self._rest(scope, receive, send)
            return
        state: dict[str, Any] = {**scope.get("state", {}), SANDBOX_ID: knock.sandbox_id}
        own = {**scope, "path": knock.path, "raw_path": knock.path.encode(), "root_path": "", "state": state}
        await (self._envd if knock.is_inside else self._control)(own, receive, send)
        if "user_id" in state:
            scope.setdefault("state", {})["user_id"] = state["user_id"]
