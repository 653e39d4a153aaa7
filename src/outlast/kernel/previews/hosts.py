"""Names of previews: `{port}-{sandbox}.{domain}`, both ways. Pure.

A sandbox's id has an underscore, which host names do not allow: there it is a hyphen. Ids are lower case base 32, so
the reverse is unambiguous.
"""

import re
from collections.abc import Iterable
from typing import Final

from outlast.base.records import dataclass

DEFAULT_DOMAIN: Final = "preview.localhost"
_LABEL: Final = re.compile(r"([1-9][0-9]{0,4})-([a-z]+)-([0-9a-z]{1,40})")
_ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]{1,5})?", re.IGNORECASE)  # policies do not support IPv6


@dataclass(frozen=True, slots=True)
class Address:
    """One port (1 to 65535) of one sandbox."""

    port: int
    sandbox_id: str


@dataclass(frozen=True, slots=True)
class HostNames:
    """Host names directly under one `domain`, which is in lower case."""

    domain: str = DEFAULT_DOMAIN

    def covers(self, host: str) -> bool:
        """True if a Host header is under the domain, at any depth, or the domain itself."""
        name = _name(host)
        return name == self.domain or name.endswith(f".{self.domain}")

    def label_of(self, host: str) -> str:
        """The part of a Host header before the domain, without dots; empty if it is not directly under the domain."""
        label, _, rest = _name(host).partition(".")
        return label if rest == self.domain else ""


class PreviewHosts(HostNames):
    """The host names of previews."""

    @property
    def is_local(self) -> bool:
        """True if browsers resolve the names to their own machine and trust them without TLS."""
        return self.domain == "localhost" or self.domain.endswith(".localhost")

    @property
    def frame_source(self) -> str:
        """Every preview, as a content security policy names it."""
        secure = f"https://*.{self.domain}:*"
        return f"{secure} http://*.{self.domain}:*"

    def parse(self, host: str) -> Address | None:
        """The address that a Host header names; None if it is not a preview."""
        found = _LABEL.fullmatch(self.label_of(host))
        if found is None or int(found[1]) > 65_535:
            return None
        return Address(int(found[1]), f"{found[2]}_{found[3]}")

    def format(self, address: Address) -> str:
        """The host name, without the server's port."""
        return f"{address.port}-{address.sandbox_id.replace('_', '-')}.{self.domain}"


def preview_hosts(domain: str) -> PreviewHosts:
    """The hosts under a configured domain; empty for the default."""
    return PreviewHosts(domain.strip().strip(".").lower() or DEFAULT_DOMAIN)


def port_suffix(host: str) -> str:
    """`:8400` of a Host header; empty when it names no port."""
    found = re.search(r":[0-9]{1,5}$", host)
    return found[0] if found else ""


def app_origins(host: str, public_url: str, own: Iterable[str]) -> list[str]:
    """The origins of Outlast's own pages for a page at `host`: those of this machine where no public URL is configured,
    then `own`, as far as a policy can name them."""
    port = port_suffix(host)
    local = () if public_url else (f"http://localhost{port}", f"http://127.0.0.1{port}")
    return list(dict.fromkeys(origin for origin in (*local, *own) if _ORIGIN.fullmatch(origin)))


def _name(host: str) -> str:
    """The host without its port and final dot, in lower case."""
    return host.removesuffix(port_suffix(host)).lower().removesuffix(".")
