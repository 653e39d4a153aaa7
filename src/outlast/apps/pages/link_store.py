"""Links that show a page, read only, to everybody who has their secret. First argument: the open transaction.

A link is good until it is revoked, its time is over, its page is gone, or its maker may no longer change the
page.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.rows import PageLinkRow, PageRow
from outlast.apps.pages.shapes import LinkAnswer
from outlast.apps.pages.tables import page_links, pages
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.secrets import hash_of, new_secret
from outlast.kernel.row_shapes import shape_of

LINK_PREFIX: Final = "olp_"
_VALID: Final = page_links.c.revoked_at.is_(None) & sa.or_(
    page_links.c.expires_at.is_(None), page_links.c.expires_at > sa.bindparam("now", type_=page_links.c.expires_at.type)
)
_OF_PAGE: Final = (
    sa.select(page_links).where(page_links.c.page_id == sa.bindparam("page"), _VALID).order_by(page_links.c.id.desc())
)


class OpenedLink(NamedTuple):
    made_by: str
    page: PageRow


_OPEN: Final = (
    sa.select(page_links.c.created_by.label("made_by"), pages)
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
    secret = new_secret(LINK_PREFIX)
    row = PageLinkRow(
        id=new_id("link"),
        page_id=page.id,
        project_id=page.project_id,
        hash=hash_of(secret),
        name=name,
        created_by=created_by,
        created_at=tx.now,
        expires_at=expires_at,
        revoked_at=None,
    )
    tx.insert(page_links, **row._asdict())
    return NewLink(shape_of(LinkAnswer, row), secret)


def list_links(tx: Tx, page_id: str) -> list[LinkAnswer]:
    """The page's links that are neither revoked nor over, newest first."""
    valid = tx.rows(PageLinkRow, _OF_PAGE, {"page": page_id, "now": tx.now})
    return [shape_of(LinkAnswer, row) for row in valid]


def revoke(tx: Tx, page_id: str, link_id: str) -> None:
    """End a link for good. Repeating is harmless. Raises `NotFound`."""
    row = tx.find(PageLinkRow, page_links, {"id": link_id, "page_id": page_id})
    if row is None:
        raise NotFound("There is no such link to this page.", noun="link", id=link_id)
    if row.revoked_at is None:
        tx.update(page_links, {"id": link_id}, revoked_at=tx.now)


def opened(tx: Tx, secret: str) -> OpenedLink:
    """What a secret opens now, and the user who made the link; whether they may still change the page is the caller's
    to ask. Raises `NotFound`, the same for a secret that never was and one that is over."""
    row = tx.row(OpenedLink, _OPEN, {"hash": hash_of(secret), "now": tx.now})
    if row is None:
        raise closed()
    return row


def closed() -> NotFound:
    """The error for a link that is unknown, revoked or expired: they are not told apart."""
    return NotFound("This link is not valid.", hint="It may have expired. Ask the person who sent it to you.")
