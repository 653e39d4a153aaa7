"""Names of pages' own hosts: `{page}.pages.{preview domain}`, both ways, and who may put one into a frame. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from outlast.kernel.previews.hosts import PreviewHosts, port_suffix

LABEL: Final = "pages"
_PAGE: Final = re.compile(r"pag-[0-9a-z]{1,40}")
_ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]{1,5})?", re.IGNORECASE)  # policies know no IPv6


@dataclass(frozen=True, slots=True)
class PageHosts:
    """`domain` is what all pages of this server lie under, in lower case. Ids are lower case base 32 with one
    underscore, which is a hyphen in a host name: the way back is unambiguous."""

    domain: str

    def covers(self, host: str) -> bool:
        """Whether a Host header lies under the domain, a page's name or not."""
        name = _name(host)
        return name == self.domain or name.endswith(f".{self.domain}")

    def parse(self, host: str) -> str | None:
        """The id of the page that a Host header names; None when it names none."""
        label, dot, rest = _name(host).partition(".")
        if not dot or rest != self.domain or _PAGE.fullmatch(label) is None:
            return None
        return label.replace("-", "_", 1)

    def format(self, page_id: str) -> str:
        """The host name, without the server's port."""
        return f"{page_id.replace('_', '-')}.{self.domain}"


def page_hosts(previews: PreviewHosts) -> PageHosts:
    """The hosts of pages beside those of previews."""
    return PageHosts(f"{LABEL}.{previews.domain}")


def embed_url(hosts: PageHosts, page_id: str, secret: str, *, scheme: str, host: str) -> str:
    """The address at which anyone who has the link sees the page. `host` is the Host header under which Outlast itself
    was asked, for its port."""
    return f"{scheme}://{hosts.format(page_id)}{port_suffix(host)}/embed/{secret}"


def app_origins(host: str, public_url: str, own_origins: Iterable[str]) -> tuple[str, ...]:
    """The app's own origins, which alone may show and speak with a page's shell that is asked for at `host`."""
    port = port_suffix(host)
    local = () if public_url else (f"http://localhost{port}", f"http://127.0.0.1{port}")
    named = (public_url.rstrip("/"), *own_origins)
    return tuple(dict.fromkeys([*local, *(one for one in named if _ORIGIN.fullmatch(one))]))


def _name(host: str) -> str:
    """The host without its port and final dot, in lower case."""
    return host.removesuffix(port_suffix(host)).lower().removesuffix(".")
