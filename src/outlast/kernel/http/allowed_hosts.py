"""Allow-list for Host and Origin headers. Pure; `surfaces/http/middleware.py` checks every request against it.

A page on another site can make a browser send requests here, and DNS rebinding can make them look local. So a request
must name a host of this server, and a browser's Origin header must be that same host.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from outlast.base.records import dataclass

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """The hosts of this server. `any_host` is true if it listens on a network and the operator named no host: then
    tokens protect it."""

    names: frozenset[str]  # without port: they match with any port
    exact: frozenset[str]  # host or host:port as browsers write them
    origins: frozenset[str]
    any_host: bool = False

    def knows(self, host: str) -> bool:
        host = host.lower()
        return self.any_host or host in self.exact or _name(host) in self.names

    def is_own_origin(self, origin: str, host: str) -> bool:
        """True if a page of `origin` is our own page, reached under the same `host`."""
        try:
            parts = urlsplit(origin.lower())
        except ValueError:  # brackets without an IPv6 address
            return False
        if parts.scheme not in ("http", "https") or not parts.netloc:
            return False
        return parts.netloc == host.lower() or self.invited(origin)

    def invited(self, origin: str) -> bool:
        """True if the settings name this origin."""
        return origin.lower() in self.origins


def known_hosts(bind_host: str, public_url: str, allowed: Iterable[str]) -> KnownHosts:
    """The hosts of a server that listens on `bind_host` and is reachable as `public_url` and under `allowed` names."""
    public = urlsplit(public_url.lower())
    exact = {entry.lower() for entry in allowed}
    origins = {f"{scheme}://{entry}" for entry in exact for scheme in ("http", "https")}
    if public.netloc:
        exact.add(public.netloc)
        origins.add(f"{public.scheme}://{public.netloc}")
    local = is_loopback(bind_host)
    names = set(LOOPBACK_NAMES) | ({bind_host.lower()} if local else set())
    return KnownHosts(frozenset(names), frozenset(exact), frozenset(origins), any_host=not local and not exact)


@lru_cache(maxsize=1000)
def is_loopback(host: str) -> bool:
    """True if only this machine can reach the address."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host[: host.find("]") + 1]
    return host.rsplit(":", 1)[0] if host.count(":") == 1 else host
