"""Links that show a page, read only, to people without an account. What they show: `embeds/`."""

from datetime import timedelta

from outlast.apps.pages import links as store
from outlast.apps.pages import store as pages
from outlast.apps.pages.links import NewLink
from outlast.apps.pages.shapes import LinkAnswer
from outlast.apps.pages.store import require_page
from outlast.base.errors import MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import ACCESS_BELL, Actor
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services

MOST_LINKS = 50


async def create_link(
    services: Services, actor: Actor, page_id: str, name: str = "", days: float | None = None
) -> NewLink:
    """Make a link to a page (editors), good for so many days (None: until it is revoked). Its secret is in the answer
    and nowhere else. Raises `MalformedInput` (a page with 50 links), `InputTooLarge`."""
    shown = checked_line("The name", name, services.settings.limits.title_chars) if name.strip() else ""

    def run(tx: Tx) -> NewLink:
        require_page(tx, actor, page_id, Right.EDIT)
        page = pages.hold(tx, page_id)
        if len(store.list_links(tx, page_id)) >= MOST_LINKS:
            raise MalformedInput(f"The page has {MOST_LINKS} links.", hint="Revoke one that nobody uses.")
        expires_at = None if days is None else tx.now + timedelta(days=days)
        return store.add_link(tx, page, actor.user_id, shown, expires_at)

    return await services.db.write(run)


async def list_links(services: Services, actor: Actor, page_id: str) -> list[LinkAnswer]:
    """The page's valid links, newest first, without their secrets (editors)."""

    def run(tx: Tx) -> list[LinkAnswer]:
        require_page(tx, actor, page_id, Right.EDIT)
        return store.list_links(tx, page_id)

    return await services.db.read(run)


async def revoke_link(services: Services, actor: Actor, page_id: str, link_id: str) -> None:
    """End a link (editors): who looks at the page through it sees no more of it. Repeating is harmless."""

    def run(tx: Tx) -> None:
        require_page(tx, actor, page_id, Right.EDIT)
        store.link_of(tx, page_id, link_id)
        store.revoke(tx, link_id)
        tx.ring(ACCESS_BELL)  # who looks on is asked anew whether they may

    await services.db.write(run)
