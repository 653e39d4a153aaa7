"""Members of a project."""

from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.credits import store as credits  # noqa: A004 - the room's word
from outlast.kernel.credits.store import Plans
from outlast.kernel.locks import thread_locks
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right, Role, checked_role
from outlast.kernel.projects.shapes import MemberAnswer, MemberData
from outlast.kernel.services import Services, in_read_with_services, in_write
from outlast.kernel.subjects import registry


@in_read_with_services
def list_members(tx: Tx, services: Services, actor: Actor, project_id: str) -> list[MemberAnswer]:
    """The members of the project, in order of joining; for owners with plan and balance."""
    role = require(tx, actor, project_id, Right.READ)
    found, plans = projects.list_members(tx, project_id), services.settings.credits.plans
    return [_with_credits(tx, plans, one) for one in found] if role is Role.OWNER else found


def _with_credits(tx: Tx, plans: Plans, member: MemberAnswer) -> MemberAnswer:
    plan = accounts.user(tx, member.user_id).plan
    balance = credits.balance(tx, member.user_id, plans) if plan in plans else 0
    return member.model_copy(update={"plan": plan, "balance": balance})


@in_write
def change_member(tx: Tx, actor: Actor, project_id: str, user_id: str, role: str) -> MemberData:
    """Change a member's role (owners). Raises `LastOwner`. Releases the locks of a member who may no longer edit."""
    wanted = checked_role(role)
    require(tx, actor, project_id, Right.OWN)
    if wanted is Role.VIEWER:
        _release_all(tx, project_id, user_id)
    return projects.change_role(tx, project_id, user_id, wanted)


@in_write
def remove_member(tx: Tx, actor: Actor, project_id: str, user_id: str) -> None:
    """Remove any member (owners) or the actor. Raises `LastOwner`. Releases the member's locks."""
    require(tx, actor, project_id, Right.READ if user_id == actor.user_id else Right.OWN)
    _release_all(tx, project_id, user_id)
    projects.remove_member(tx, project_id, user_id)


def _release_all(tx: Tx, project_id: str, user_id: str) -> None:
    """Release a member's locks of threads and subjects."""
    told_later = registry.before_member_leaves(tx, project_id, user_id)
    thread_locks.release_all(tx, project_id, user_id)
    for tell in told_later:
        tell()
