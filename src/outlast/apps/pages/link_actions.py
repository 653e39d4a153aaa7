"""Links that show a page, read only, to people without an account. They are served by `embeds/`."""

from datetime import timedelta
from typing import Final

from outlast.apps.pages import link_store as store
from outlast.apps.pages import store as pages
from outlast.apps.pages.link_store import NewLink
from outlast.apps.pages.shapes import LinkAnswer
from outlast.apps.pages.store import require_page
from outlast.base.errors import MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import ACCESS_BELL, Actor
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write

MAX_LINKS: Final = 50


async def create_link(
    services: Services, actor: Actor, page_id: str, name: str = "", days: float | None = None
) -> NewLink:
    """Create a link to a page (editors), valid for this many days (None: until it is revoked). Its secret is only in
    this answer. Raises `MalformedInput` (a page with 50 links), `InputTooLarge`."""
    shown = checked_line("The name", name, services.settings.limits.title_chars) if name.strip() else ""

    def run(tx: Tx) -> NewLink:
        require_page(tx, actor, page_id, Right.EDIT)
        page = pages.hold(tx, page_id)
        if len(store.list_links(tx, page_id)) >= MAX_LINKS:
            raise MalformedInput(f"The page has {MAX_LINKS} links.", hint="Revoke an unused link first.")
        expires_at = None if days is None else tx.now + timedelta(days=days)
        return store.add_link(tx, page, actor.user_id, shown, expires_at)

    return await services.db.write(run)


@in_read
def list_links(tx: Tx, actor: Actor, page_id: str) -> list[LinkAnswer]:
    """The page's valid links, newest first, without their secrets (editors)."""
    require_page(tx, actor, page_id, Right.EDIT)
    return store.list_links(tx, page_id)


@in_write
def revoke_link(tx: Tx, actor: Actor, page_id: str, link_id: str) -> None:
    """Revoke a link (editors): its viewers no longer see the page. Repeating is harmless."""
    require_page(tx, actor, page_id, Right.EDIT)
    store.revoke(tx, page_id, link_id)
    tx.ring(ACCESS_BELL)  # the access of every viewer is checked again
