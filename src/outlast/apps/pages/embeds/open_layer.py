"""The pages' layer of one server, put together."""

from starlette.types import ASGIApp

from outlast.apps.pages.embeds.hosts import page_hosts
from outlast.apps.pages.embeds.layer import PagesLayer
from outlast.apps.pages.embeds.streams import StoredEmbeds
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.auth import Surface


def with_pages(app: ASGIApp, surface: Surface, hosts: KnownHosts) -> PagesLayer:
    """Whatever serves all other hosts, behind the layer of pages. Its streams are the surface's, and end with them."""
    return PagesLayer(
        app,
        page_hosts(surface.previews),
        StoredEmbeds(surface.services, surface.streams),
        own_origins=sorted(hosts.origins),
        public_url=surface.services.settings.server.public_url,
    )
