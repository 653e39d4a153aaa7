"""Links that show a page, read only, to anyone with the secret. First argument: the open transaction.

A link is valid until it is revoked or expires, its page is deleted, or its creator may no longer change the
page.
"""

from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.rows import PageLinkRow, PageRow
from outlast.apps.pages.shapes import LinkAnswer
from outlast.apps.pages.tables import page_links, pages
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.base.records import dataclass
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
    """A new link; `secret` is never shown again."""

    link: LinkAnswer
    secret: str


def add_link(tx: Tx, page: PageRow, created_by: str, name: str, expires_at: datetime | None) -> NewLink:
    """Create a link to a page (its row), valid until `expires_at` (None: until it is revoked)."""
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
    """The page's links that are neither revoked nor expired, newest first."""
    valid = tx.rows(PageLinkRow, _OF_PAGE, {"page": page_id, "now": tx.now})
    return [shape_of(LinkAnswer, row) for row in valid]


def revoke(tx: Tx, page_id: str, link_id: str) -> None:
    """Revoke a link. Repeating is harmless. Raises `NotFound`."""
    row = tx.find(PageLinkRow, page_links, {"id": link_id, "page_id": page_id})
    if row is None:
        raise NotFound("This page has no such link.", noun="link", id=link_id)
    if row.revoked_at is None:
        tx.update(page_links, {"id": link_id}, revoked_at=tx.now)


def opened(tx: Tx, secret: str) -> OpenedLink:
    """The page that a secret opens now, and the user who created the link; the caller must check that they may still
    change the page. Raises `NotFound`, the same for an unknown secret and an expired one."""
    row = tx.row(OpenedLink, _OPEN, {"hash": hash_of(secret), "now": tx.now})
    if row is None:
        raise closed()
    return row


def closed() -> NotFound:
    """The same error for a link that is unknown, revoked or expired."""
    return NotFound("This link is not valid.", hint="It may have expired. Ask the person who sent it to you.")
