"""The HTTP application: the guard around the API, which is loaded while the server already answers about its health."""

import gc
import sys
from typing import Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from outlast.kernel.files.settings import FileSettings, TextSettings
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.surface import Surface
from outlast.surfaces.http.health import answer_health
from outlast.surfaces.http.middleware import HEALTH_PATHS, RequestGuard
from outlast.surfaces.protocols.e2b.middleware import E2bMiddleware
from outlast.surfaces.protocols.e2b.runtime import E2bRuntime

BRIEF_S: Final = 0.0005  # the longest that loading keeps the event loop from its turn; 0.005 otherwise


class ApiLoader:
    """The API as an ASGI application. FastAPI and the modules of the routes take a quarter of the start, so they are
    loaded once the server listens; requests wait for them, except those about its health."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self._api: ASGIApp | None = None
        self._loading = anyio.Lock()

    async def load(self) -> ASGIApp:
        """Load the API, once. Raises `StartRefused` for a route that is declared twice."""
        async with self._loading:
            if self._api is None:
                self._api = await anyio.to_thread.run_sync(_load, self.surface)
            return self._api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._api is None and scope["path"] in HEALTH_PATHS and scope["method"] == "GET":
            await (await answer_health(self.surface, Request(scope)))(scope, receive, send)
            return
        api = self._api or await self.load()
        await api(scope, receive, send)


def _load(surface: Surface) -> ASGIApp:
    gc.disable()  # looking through new modules for garbage takes a fifth of the time
    turns_s = sys.getswitchinterval()
    sys.setswitchinterval(BRIEF_S)
    try:
        from outlast.kernel.http.quick_routes import QuickRoutes
        from outlast.surfaces.http import api as described

        api = described.create_api()
        quick = QuickRoutes(api, described.QUICK)
    finally:
        sys.setswitchinterval(turns_s)
        gc.enable()
    api.state.surface = surface
    return quick


def create_http(
    surface: Surface, hosts: KnownHosts, e2b: E2bRuntime | None = None, api: ApiLoader | None = None
) -> RequestGuard:
    """The whole HTTP side of one server, as an ASGI application. `e2b` runs beside the server if programs may create
    sandboxes."""
    limits = surface.services.settings.limits
    inner: ASGIApp = api or ApiLoader(surface)
    if e2b is not None:
        inner = E2bMiddleware(inner, surface.services, e2b, surface.previews.domain)
    return RequestGuard(
        inner,
        hosts,
        body_bytes=limits.request_bytes,
        image_bytes=limits.image_bytes,
        file_bytes=surface.services.settings.of(FileSettings).artifact_bytes,
        text_bytes=surface.services.settings.of(TextSettings).source_bytes,
        frames=surface.previews.frame_source,
    )
