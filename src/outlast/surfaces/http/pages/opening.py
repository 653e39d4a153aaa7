"""The pages' layer of one server, put together."""

from starlette.types import ASGIApp

from outlast.surfaces.http.hosts import KnownHosts
from outlast.surfaces.http.pages.embeds import StoredEmbeds
from outlast.surfaces.http.pages.hosts import page_hosts
from outlast.surfaces.http.pages.layer import PagesLayer
from outlast.surfaces.http.sign_in import Surface


def with_pages(app: ASGIApp, surface: Surface, hosts: KnownHosts) -> PagesLayer:
    """Whatever serves all other hosts, behind the layer of pages. Its streams are the surface's, and end with them."""
    return PagesLayer(
        app,
        page_hosts(surface.previews),
        StoredEmbeds(surface.services, surface.streams),
        own_origins=sorted(hosts.origins),
        public_url=surface.services.settings.server.public_url,
    )
