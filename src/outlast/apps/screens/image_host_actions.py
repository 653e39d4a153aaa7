"""Allow-list of hosts for pictures in a screen: list, allow, remove; and browsers' reports of blocked ones."""

from collections.abc import Iterable

from outlast.apps.screens import image_hosts, store
from outlast.apps.screens.shapes import ImageHostAnswer
from outlast.apps.screens.store import require_screen
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write


@in_read
def list_image_hosts(tx: Tx, actor: Actor, screen_id: str) -> list[ImageHostAnswer]:
    """The allowed and requested hosts, by name (members)."""
    require_screen(tx, actor, screen_id, Right.READ)
    return image_hosts.list_image_hosts(tx, screen_id)


@in_write
def allow_image_host(tx: Tx, actor: Actor, screen_id: str, host: str) -> list[ImageHostAnswer]:
    """Allow the screen to load pictures from a host, for all viewers (editors). Repeating changes nothing.
    Raises `MalformedInput`."""
    checked = image_hosts.checked_host(host)
    require_screen(tx, actor, screen_id, Right.EDIT)
    image_hosts.allow(tx, screen_id, checked, actor.user_id)
    store.announce(tx, screen_id, by=actor.user_id)
    return image_hosts.list_image_hosts(tx, screen_id)


@in_write
def remove_image_host(tx: Tx, actor: Actor, screen_id: str, host: str) -> None:
    """Block pictures from a host again (editors). Raises `NotFound`."""
    checked = image_hosts.checked_host(host)
    require_screen(tx, actor, screen_id, Right.EDIT)
    image_hosts.remove(tx, screen_id, checked)
    store.announce(tx, screen_id, by=actor.user_id)


class ScreenImageHosts:
    """See `kernel.previews.ports.ImageHosts`: the hosts of the screen whose files are in the workspace."""

    def allowed_in(self, tx: Tx, workspace_id: str) -> tuple[str, ...]:
        return image_hosts.allowed_in(tx, workspace_id)

    async def report_blocked(self, services: Services, workspace_id: str, addresses: Iterable[str]) -> None:
        """Record pictures that a visitor's browser blocked: request their hosts, once each. Writes nothing for known
        hosts, and in workspaces of no screen."""
        hosts = {host for host in map(image_hosts.host_of, addresses) if host is not None}

        def unknown(tx: Tx) -> set[str]:
            screen = store.screen_of_workspace(tx, workspace_id)
            if screen is None:
                return set()
            return hosts - {one.host for one in image_hosts.list_image_hosts(tx, screen.id)}

        def run(tx: Tx) -> None:
            screen = store.screen_of_workspace(tx, workspace_id)
            if screen is not None and image_hosts.ask(tx, screen.id, sorted(hosts)):
                store.announce(tx, screen.id)

        if hosts and await services.db.read(unknown):
            await services.db.write(run)
