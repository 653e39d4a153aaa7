"""Invitations to a project."""

from typing import Final

from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actions import session_life
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.secrets import days
from outlast.kernel.accounts.shapes import UserAnswer
from outlast.kernel.limits.rules import checked_line
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.projects import invitations
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right, checked_role
from outlast.kernel.projects.shapes import AcceptAnswer, InvitationAnswer, NewInvitationAnswer
from outlast.kernel.projects.tables import invitations as invitations_table
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.services import Services, in_read, in_write, in_write_with_services

ACCEPTED_TOKEN_NAME: Final = "From the invitation"


@in_write_with_services
def create_invitation(
    tx: Tx,
    services: Services,
    actor: Actor,
    project_id: str,
    role: str,
    name: str = "",
    expires_in_days: float | None = None,
) -> NewInvitationAnswer:
    """Create a link that lets one person join (owners), valid for 7 days unless `expires_in_days` says otherwise. Only
    this answer has its secret."""
    life = days("expires_in_days", expires_in_days) or invitations.LIFE
    wanted = checked_role(role)
    limits = services.settings.limits
    meant = checked_line("The invited person's name", name, limits.title_chars) if name.strip() else ""
    require(tx, actor, project_id, Right.OWN)
    check_made_rate(tx, invitations_table, actor.user_id, limits.invitations_per_minute_per_user)
    row, secret = invitations.add_invitation(tx, project_id, actor.user_id, wanted, meant, tx.now + life)
    url = f"{services.settings.server.public_url.rstrip('/')}/join#{secret}"
    return shape_of(NewInvitationAnswer, row, url=url, token=secret)


@in_read
def list_invitations(tx: Tx, actor: Actor, project_id: str) -> list[InvitationAnswer]:
    """The project's open invitations (owners), newest first."""
    require(tx, actor, project_id, Right.OWN)
    return invitations.list_invitations(tx, project_id)


@in_write
def withdraw_invitation(tx: Tx, actor: Actor, invitation_id: str) -> None:
    """Withdraw an invitation (owners of its project)."""
    require(tx, actor, invitations.invitation(tx, invitation_id).project_id, Right.OWN)
    invitations.withdraw(tx, invitation_id)


@in_write_with_services
def accept_invitation(
    tx: Tx, services: Services, actor: Actor | None, secret: str, name: str = ""
) -> tuple[AcceptAnswer, str | None]:
    """Join a project. Returns the answer, and for a new user the value of a cookie. A signed-in user joins as that user
    (`AlreadyMember` if already a member); other callers become a new user called `name`, with a token and a session.
    Raises `NotFound` for an invalid or expired link."""
    invited = invitations.open_invitation(tx, secret)
    user_id = actor.user_id if actor else _new_user(services, tx, name or invited.name)
    invitations.accept(tx, invited, user_id)
    user = shape_of(UserAnswer, accounts.user(tx, user_id))
    token, cookie = (None, None) if actor else _credentials(services, tx, user_id)
    return AcceptAnswer(project_id=invited.project_id, user=user, token=token), cookie


def _new_user(services: Services, tx: Tx, name: str) -> str:
    title = checked_line("Your name", name, services.settings.limits.title_chars)
    user_id = accounts.add_user(tx, title, services.settings.credits.default_plan)
    projects.ensure_default_project(tx, user_id)
    return user_id


def _credentials(services: Services, tx: Tx, user_id: str) -> tuple[str, str]:
    made = accounts.add_token(tx, user_id, ACCEPTED_TOKEN_NAME, None)
    return made.token, accounts.add_session(tx, user_id, made.id, session_life(services))
