"""The ports of previews and related host names to apps."""

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port
from outlast.kernel.previews.hosts import PreviewHosts
from outlast.kernel.services import Services


class ImageHosts(Protocol):
    """External hosts whose images the pages of a workspace may load."""

    def allowed_in(self, tx: Tx, workspace_id: str) -> tuple[str, ...]:
        """The hosts that a member has allowed, by name; with the port if it is not the default one."""
        return ()

    async def report_blocked(self, services: Services, workspace_id: str, addresses: Iterable[str]) -> None:
        """Handle a report that a visitor's browser blocked images with these addresses."""
        return


class NoImageHosts(ImageHosts):
    """None are allowed, and reports are dropped."""


def _no_domain(_previews: PreviewHosts) -> str:
    return ""


IMAGE_HOSTS: Final[Port[ImageHosts]] = Port("image hosts", NoImageHosts())
PAGES_DOMAIN: Final[Port[Callable[[PreviewHosts], str]]] = Port("domain of pages", _no_domain)
"""The domain of published pages, next to that of previews; empty if there is none."""
