"""Links that show a page, read only, to whoever has their secret. First argument: the open transaction.

A link is good until it is revoked, its time is over, its page is gone, or whoever made it may no longer change the
page.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.rows import PageLinkRow, PageRow
from outlast.apps.pages.shapes import LinkAnswer
from outlast.apps.pages.tables import page_links, pages
from outlast.base.clock import iso
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.secrets import hash_of, new_secret

LINK_PREFIX: Final = "olp_"
_VALID: Final = page_links.c.revoked_at.is_(None) & sa.or_(
    page_links.c.expires_at.is_(None), page_links.c.expires_at > sa.bindparam("now", type_=page_links.c.expires_at.type)
)
_OPEN: Final = (
    sa.select(
        page_links.c.id.label("link_id"),
        page_links.c.page_id,
        page_links.c.created_by,
        pages.c.project_id,
        pages.c.thread_id,
        pages.c.title,
        pages.c.html,
        pages.c.version,
    )
    .join(pages, pages.c.id == page_links.c.page_id)
    .where(page_links.c.hash == sa.bindparam("hash"), _VALID)
)


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link just made; `secret` is never shown again."""

    link: LinkAnswer
    secret: str


def add_link(tx: Tx, page: PageRow, created_by: str, name: str, expires_at: datetime | None) -> NewLink:
    """Make a link to a page (its row), good until `expires_at` (None: until it is revoked)."""
    secret, link_id = new_secret(LINK_PREFIX), new_id("link")
    tx.insert(
        page_links,
        id=link_id,
        page_id=page.id,
        project_id=page.project_id,
        hash=hash_of(secret),
        name=name,
        created_by=created_by,
        created_at=tx.now,
        expires_at=expires_at,
    )
    return NewLink(_data(link_of(tx, page.id, link_id)), secret)


def link_of(tx: Tx, page_id: str, link_id: str) -> PageLinkRow:
    """A page's link, valid or not. Raises `NotFound`."""
    mine = page_links.c.id == link_id, page_links.c.page_id == page_id
    row = tx.row(PageLinkRow, sa.select(page_links).where(*mine))
    if row is None:
        raise NotFound("There is no such link to this page.", noun="link", id=link_id)
    return row


def list_links(tx: Tx, page_id: str) -> list[LinkAnswer]:
    """The page's links that are neither revoked nor over, newest first."""
    valid = sa.or_(page_links.c.expires_at.is_(None), page_links.c.expires_at > tx.now)
    mine = sa.select(page_links).where(page_links.c.page_id == page_id, page_links.c.revoked_at.is_(None))
    return [_data(row) for row in tx.rows(PageLinkRow, mine.where(valid).order_by(page_links.c.id.desc()))]


def revoke(tx: Tx, link_id: str) -> None:
    """End a link for good. Repeating is harmless. Whoever looks at the page through it is woken to find it gone."""
    gone = sa.update(page_links).where(page_links.c.id == link_id, page_links.c.revoked_at.is_(None))
    tx.execute(gone.values(revoked_at=tx.now))


class OpenedLink(NamedTuple):
    link_id: str
    page_id: str
    created_by: str
    project_id: str
    thread_id: str
    title: str
    html: str
    version: int


def opened(tx: Tx, secret: str) -> OpenedLink:
    """What a secret opens now: `link_id, created_by, page_id, project_id, thread_id, title, html, version`; whether its
    maker may still change the page is the caller's to ask. Raises `NotFound`, the same for a secret that never was and
    one that is over."""
    row = tx.row(OpenedLink, _OPEN, {"hash": hash_of(secret), "now": tx.now})
    if row is None:
        raise closed()
    return row


def closed() -> NotFound:
    """What is told of every link that does not, or no longer, open anything."""
    return NotFound("This link opens nothing, or nothing any more.", hint="Ask whoever gave it to you.")


def _data(row: PageLinkRow) -> LinkAnswer:
    return LinkAnswer(
        id=row.id,
        page_id=row.page_id,
        name=row.name,
        created_by=row.created_by,
        created_at=iso(row.created_at),
        expires_at=iso(row.expires_at) if row.expires_at else None,
    )
