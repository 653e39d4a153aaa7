"""Grants to see a port of a sandbox: tickets that are exchanged once, and the cookies they are exchanged for.  Only
hashes are stored. A grant names the workspace, so that it outlives a sandbox that was lost and replaced. The caller
checks that its user still has access. First argument: the open transaction.
"""

from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.secrets import hash_of, new_secret
from outlast.kernel.accounts.tables import users
from outlast.kernel.previews.cookies import COOKIE_LIFE
from outlast.kernel.previews.rows import PreviewGrantRow
from outlast.kernel.previews.tables import preview_grants
from outlast.kernel.sandboxes.tables import sandboxes

TICKET_LIFE: Final = timedelta(seconds=60)
TICKET_PREFIX: Final = "olp_"


class Grant(NamedTuple):
    """A grant, and the name of its user."""

    row: PreviewGrantRow
    name: str

    @property
    def actor(self) -> Actor:
        return Actor(self.row.user_id, self.name, self.row.via, self.row.token_id, self.row.session_hash)


def add_ticket(tx: Tx, actor: Actor, workspace_id: str, port: int, opener: str) -> tuple[str, datetime]:
    """A new ticket's secret, and the time it expires: the actor may see `port` of the workspace's sandbox, framed by a
    page of `opener`. Also deletes expired grants."""
    tx.execute(sa.delete(preview_grants).where(preview_grants.c.expires_at <= tx.now))
    secret = new_secret(TICKET_PREFIX)
    row = PreviewGrantRow(
        hash=hash_of(secret),
        kind="ticket",
        workspace_id=workspace_id,
        port=port,
        user_id=actor.user_id,
        via=actor.via,
        token_id=actor.token_id,
        session_hash=actor.session_hash,
        opener=opener,
        created_at=tx.now,
        expires_at=tx.now + TICKET_LIFE,
    )
    tx.insert(preview_grants, **row._asdict())
    return secret, row.expires_at


def exchange(tx: Tx, ticket: PreviewGrantRow) -> str | None:
    """Use up a ticket. Returns the cookie's value, or None if the ticket was used a moment ago."""
    used = sa.delete(preview_grants).where(preview_grants.c.hash == ticket.hash, preview_grants.c.kind == "ticket")
    if tx.execute(used).rowcount != 1:
        return None
    value = new_secret()
    cookie = ticket._replace(hash=hash_of(value), kind="cookie", created_at=tx.now, expires_at=tx.now + COOKIE_LIFE)
    tx.insert(preview_grants, **cookie._asdict())
    return value


def find_grant(tx: Tx, kind: Literal["ticket", "cookie"], secret: str, sandbox_id: str, port: int) -> Grant | None:
    """The grant of a ticket or cookie on this port of this sandbox, for a cookie also after the sandbox was replaced;
    None if it is used, expired, or for another port or sandbox."""
    return tx.row(
        Grant,
        sa.select(preview_grants, users.c.name)
        .join(sandboxes, sandboxes.c.workspace_id == preview_grants.c.workspace_id)
        .join(users, users.c.id == preview_grants.c.user_id)
        .where(preview_grants.c.hash == hash_of(secret), preview_grants.c.kind == kind)
        .where(preview_grants.c.port == port, preview_grants.c.expires_at > tx.now)
        .where(sandboxes.c.id == sandbox_id),
    )
