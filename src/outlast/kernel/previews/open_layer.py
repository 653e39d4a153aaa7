"""The preview layer of one server, put together."""

from typing import Final, NoReturn

from starlette.types import ASGIApp

from outlast.base.errors import SandboxUnavailable
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.auth import Surface
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.kernel.previews.access import Access
from outlast.kernel.previews.layer import PreviewLayer
from outlast.kernel.previews.pool import Pool
from outlast.kernel.previews.wake import Awake, Waker

LOCAL: Final = "local"


class NoMachines:
    """Where no sandboxes are configured."""

    async def ensure(self, workspace_id: str, project_id: str) -> NoReturn:
        raise SandboxUnavailable(
            "This server has no sandboxes configured.", hint='Set provider = "local" in the section [sandbox].'
        )

    async def find(self, workspace_id: str) -> None:
        return None


def with_previews(app: ASGIApp, surface: Surface, hosts: KnownHosts) -> PreviewLayer:
    """The application behind the preview layer. Made before the sandboxes of the last server are taken up, so that it
    hears of them."""
    services = surface.services
    settings, machines = services.settings, services.sandboxes.manager
    awake = Awake(thaws_fast=machines is not None and machines.provider.name == LOCAL)
    if machines is not None:
        machines.attend(awake)
    access = Access(services, local_mode=surface.local_owner is not None, recheck_s=settings.streams.recheck_s)
    layer = PreviewLayer(
        app,
        services,
        surface.previews,
        access,
        Waker(machines or NoMachines(), awake, Pool(), supervisor=services.supervisor),
        own_origins=sorted(hosts.origins),
        public_url=settings.server.public_url,
        places=StreamPlaces(settings.limits.streams_per_user),
    )
    services.db.on_notice(layer.hear)
    return layer
