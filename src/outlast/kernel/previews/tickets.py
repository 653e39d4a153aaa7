"""Grants to see a port of a sandbox: tickets that are exchanged once, and the cookies they are exchanged for.

Only hashes are stored. A grant names the workspace, so that it outlives a sandbox that was lost and replaced. Whether
its user may still look is not decided here. First argument: the open transaction.
"""

from dataclasses import dataclass, replace
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
Kind = Literal["ticket", "cookie"]


@dataclass(frozen=True, slots=True)
class Grant:
    """What was granted: `actor` may see `port` of the workspace's sandbox, framed by a page of `opener`."""

    workspace_id: str
    port: int
    actor: Actor
    opener: str
    expires_at: datetime


def add_ticket(tx: Tx, actor: Actor, workspace_id: str, port: int, opener: str) -> tuple[str, datetime]:
    """A new ticket's secret, and until when it is good. Grants that have run out are swept here."""
    tx.execute(sa.delete(preview_grants).where(preview_grants.c.expires_at <= tx.now))
    secret = new_secret(TICKET_PREFIX)
    grant = Grant(workspace_id, port, actor, opener, tx.now + TICKET_LIFE)
    _add(tx, "ticket", secret, grant)
    return secret, grant.expires_at


def exchange(tx: Tx, secret: str, grant: Grant) -> str | None:
    """Use up the ticket; the answer is the cookie's value. None: it was used a moment ago."""
    used = sa.delete(preview_grants).where(preview_grants.c.hash == hash_of(secret), preview_grants.c.kind == "ticket")
    if tx.execute(used).rowcount != 1:
        return None
    value = new_secret()
    _add(tx, "cookie", value, replace(grant, expires_at=tx.now + COOKIE_LIFE))
    return value


def _add(tx: Tx, kind: Kind, secret: str, grant: Grant) -> None:
    tx.insert(
        preview_grants,
        hash=hash_of(secret),
        kind=kind,
        workspace_id=grant.workspace_id,
        port=grant.port,
        user_id=grant.actor.user_id,
        via=grant.actor.via,
        token_id=grant.actor.token_id,
        session_hash=grant.actor.session_hash,
        opener=grant.opener,
        created_at=tx.now,
        expires_at=grant.expires_at,
    )


class _NamedGrant(NamedTuple):
    grant: PreviewGrantRow
    name: str


def find_grant(tx: Tx, kind: Kind, secret: str, sandbox_id: str, port: int) -> Grant | None:
    """What a ticket or cookie grants on this port of this sandbox, a cookie also after the sandbox was replaced by
    another; None when it is used, late, or for another."""
    row = tx.row(
        _NamedGrant,
        sa.select(preview_grants, users.c.name)
        .join(sandboxes, sandboxes.c.workspace_id == preview_grants.c.workspace_id)
        .join(users, users.c.id == preview_grants.c.user_id)
        .where(preview_grants.c.hash == hash_of(secret), preview_grants.c.kind == kind)
        .where(preview_grants.c.port == port, preview_grants.c.expires_at > tx.now)
        .where(sandboxes.c.id == sandbox_id),
    )
    if row is None:
        return None
    actor = Actor(row.grant.user_id, row.name, row.grant.via, row.grant.token_id, row.grant.session_hash)
    return Grant(row.grant.workspace_id, row.grant.port, actor, row.grant.opener, row.grant.expires_at)
