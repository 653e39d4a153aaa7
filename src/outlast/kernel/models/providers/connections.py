"""HTTP connections to providers: one client per base URL, because creating one takes 25 ms of CPU."""

import urllib.request
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from outlast.base.lazy_module import LazyModule

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = LazyModule("aiohttp")


class Connections:
    """Pools of kept-alive connections, held in memory only, opened on first use and closed together."""

    def __init__(self) -> None:
        self._sessions: dict[str, aiohttp.ClientSession] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def session(self, base_url: str) -> "aiohttp.ClientSession":
        """The one session for this base URL. Must be called on the event loop that uses it."""
        session = self._sessions.get(base_url)
        if session is None or session.closed:
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=proxy_for(base_url),
                read_bufsize=256 * 1024,
            )
            self._sessions[base_url] = session
        return session

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Register another client to close with the sessions (the vendors' SDKs have their own)."""
        self._closers.append(closer)

    async def aclose(self) -> None:
        """Close all connections. Repeating is harmless."""
        sessions, self._sessions = list(self._sessions.values()), {}
        closers, self._closers = self._closers, []
        for session in sessions:
            await session.close()
        for close in closers:
            await close()


def proxy_for(base_url: str) -> str | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name for this URL. aiohttp's own `trust_env` would also read
    ~/.netrc, and refuse the request if that contains the host."""
    address = urlsplit(base_url)
    proxy = urllib.request.getproxies().get(address.scheme)
    if not proxy or urllib.request.proxy_bypass(address.netloc):
        return None
    return proxy
