"""Links that show a page, read only, to people without an account. What they show: `embeds/`."""

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
    """Make a link to a page (editors), good for so many days (None: until it is revoked). Its secret is in the answer
    and nowhere else. Raises `MalformedInput` (a page with 50 links), `InputTooLarge`."""
    shown = checked_line("The name", name, services.settings.limits.title_chars) if name.strip() else ""

    def run(tx: Tx) -> NewLink:
        require_page(tx, actor, page_id, Right.EDIT)
        page = pages.hold(tx, page_id)
        if len(store.list_links(tx, page_id)) >= MAX_LINKS:
            raise MalformedInput(f"The page has {MAX_LINKS} links.", hint="Revoke one that nobody uses.")
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
    """End a link (editors): who looks at the page through it sees no more of it. Repeating is harmless."""
    require_page(tx, actor, page_id, Right.EDIT)
    store.revoke(tx, page_id, link_id)
    tx.ring(ACCESS_BELL)  # who looks on is asked anew whether they may
