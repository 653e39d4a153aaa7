"""The context of everything that answers over HTTP. FastAPI is not imported here: the first answers come without it."""

from contextlib import AbstractContextManager
from dataclasses import field

from starlette.requests import Request

from outlast.base.records import dataclass
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.sign_in_throttle import WrongSignIns
from outlast.kernel.previews.hosts import PreviewHosts
from outlast.kernel.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The context of routes. `local_owner` is set only in local mode: bound to loopback, without a public name."""

    services: Services
    streams: OpenStreams
    readiness: Readiness
    local_owner: Actor | None = None
    version: str = ""
    secure_cookie: bool = False
    previews: PreviewHosts = field(default_factory=PreviewHosts)
    wrong_sign_ins: WrongSignIns = field(default_factory=WrongSignIns)

    def watched(self, request: Request) -> AbstractContextManager[None]:
        """Wrap a check of a secret: wrong secrets are counted per address, and too many are refused."""
        limit = self.services.settings.limits.wrong_sign_ins_per_minute_per_address
        return self.wrong_sign_ins.watched(request, self.services.clock, limit)
