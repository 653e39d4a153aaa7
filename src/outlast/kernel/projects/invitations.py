"""Invitations: a secret link that makes its first user a member."""

from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.secrets import INVITATION_PREFIX, hash_of, new_secret
from outlast.kernel.projects.rows import InvitationRow
from outlast.kernel.projects.rules import Role
from outlast.kernel.projects.shapes import InvitationAnswer
from outlast.kernel.projects.store import add_member
from outlast.kernel.projects.tables import invitations
from outlast.kernel.row_shapes import shape_of

LIFE: Final = timedelta(days=7)  # unless the request says otherwise


def add_invitation(
    tx: Tx, project_id: str, created_by: str, role: Role, name: str, expires_at: datetime
) -> tuple[InvitationRow, str]:
    """Create an invitation for one person, valid until `expires_at`. Returns its row and its secret, which is not
    stored."""
    secret, invitation_id = new_secret(INVITATION_PREFIX), new_id("invitation")
    row = InvitationRow(
        id=invitation_id,
        project_id=project_id,
        role=role.value,
        name=name,
        hash=hash_of(secret),
        created_by=created_by,
        created_at=tx.now,
        expires_at=expires_at,
        accepted_at=None,
        accepted_by=None,
    )
    tx.insert(invitations, **row._asdict())
    return row, secret


def list_invitations(tx: Tx, project_id: str) -> list[InvitationAnswer]:
    """The project's open invitations, newest first."""
    open_ones = invitations.c.project_id == project_id, *_open(tx)
    rows = tx.rows(InvitationRow, sa.select(invitations).where(*open_ones).order_by(invitations.c.created_at.desc()))
    return [shape_of(InvitationAnswer, row) for row in rows]


def invitation(tx: Tx, invitation_id: str) -> InvitationRow:
    """An invitation's row. Raises `NotFound`."""
    row = tx.find(InvitationRow, invitations, {"id": invitation_id})
    return demand_found(row, "There is no such invitation for you.", invitation_id=invitation_id)


def withdraw(tx: Tx, invitation_id: str) -> None:
    """Withdraw an invitation. Repeating is harmless."""
    tx.execute(sa.delete(invitations).where(invitations.c.id == invitation_id))


def open_invitation(tx: Tx, secret: str) -> InvitationRow:
    """The invitation of a link, locked for this transaction so that only one person can accept it. Raises `NotFound`
    for one that is unknown, expired, withdrawn or used."""
    good = sa.select(invitations).where(invitations.c.hash == hash_of(secret), *_open(tx))
    return demand_found(
        tx.row(InvitationRow, good.with_for_update(key_share=True)),
        "This invitation is unknown, has expired, or has already been used.",
        hint="Ask an owner of the project for a new one.",
    )


def accept(tx: Tx, invited: InvitationRow, user_id: str) -> None:
    """Make the user a member as the invitation says. Raises `AlreadyMember`."""
    add_member(tx, invited.project_id, user_id, Role(invited.role))
    tx.update(invitations, {"id": invited.id}, accepted_at=tx.now, accepted_by=user_id)


def _open(tx: Tx) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return invitations.c.accepted_at.is_(None), invitations.c.expires_at > tx.now
