"""Host names of pages: `{page}.pages.{preview domain}`, both ways. Pure."""

import re
from typing import Final

from outlast.kernel.previews.hosts import HostNames, PreviewHosts, port_suffix

LABEL: Final = "pages"
_PAGE: Final = re.compile(r"pag-[0-9a-z]{1,40}")


class PageHosts(HostNames):
    """The host names of pages. Ids are lower case base 32 with one underscore, which is a hyphen in a host name, so
    parsing is unambiguous."""

    def parse(self, host: str) -> str | None:
        """The id of the page in a Host header, or None if it is no page's host."""
        label = self.label_of(host)
        return label.replace("-", "_", 1) if _PAGE.fullmatch(label) else None

    def format(self, page_id: str) -> str:
        """The host name, without the server's port."""
        return f"{page_id.replace('_', '-')}.{self.domain}"


def page_hosts(previews: PreviewHosts) -> PageHosts:
    """The hosts of pages next to those of previews."""
    return PageHosts(f"{LABEL}.{previews.domain}")


def embed_url(hosts: PageHosts, page_id: str, secret: str, *, scheme: str, host: str) -> str:
    """The address at which anyone with the link sees the page. `host` is the Host header of the request to Outlast
    itself, for its port."""
    return f"{scheme}://{hosts.format(page_id)}{port_suffix(host)}/embed/{secret}"
