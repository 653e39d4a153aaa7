"""Checks all permissions. Every action calls this module first, inside its transaction."""

from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from outlast.base.errors import Forbidden
from outlast.base.lookups import demand_found
from outlast.db.database import R, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import users
from outlast.kernel.projects.rules import NEEDED, Right, Role, allows
from outlast.kernel.projects.tables import members
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.rows import CheckpointRow, SandboxRow
from outlast.kernel.sandboxes.tables import checkpoints, sandboxes
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads

_ROLE: Final = sa.select(members.c.role).where(
    members.c.project_id == sa.bindparam("project"), members.c.user_id == sa.bindparam("user")
)


def role_of(tx: Tx, user_id: str, project_id: str) -> Role | None:
    """The user's role in the project; None for strangers and for projects that do not exist."""
    role = tx.execute(_ROLE, {"project": project_id, "user": user_id}).scalar()
    return None if role is None else Role(role)


def require(tx: Tx, actor: Actor, project_id: str, right: Right) -> Role:
    """The actor's role, if it carries `right`. A stranger gets `NotFound`, so that existence is not revealed; a member
    without the right gets `Forbidden`, which names the role held and the role needed."""
    held = role_of(tx, actor.user_id, project_id)
    role = demand_found(held, "There is no such project for you.", project_id=project_id)
    _demand(role, right, project_id)
    return role


def require_editor(tx: Tx, user_id: str, project_id: str, noun: str, verb: str, hint: str | None = None) -> None:
    """Check another user to whom the actor gives a thing of the project (a `noun`): raise `NotFound` unless they are a
    member, `Forbidden` if their role only lets them read, so that they cannot `verb`."""
    held = role_of(tx, user_id, project_id)
    role = demand_found(held, f"This person is not a member of the {noun}'s project.", user_id=user_id)
    if not allows(role, Right.EDIT):
        words = f"This person is a {role.value} and cannot {verb}."
        raise Forbidden(words, hint=hint, user_id=user_id, role=role.value)


def require_administrator(tx: Tx, actor: Actor) -> None:
    """Require the right to administer the server. Raises `Forbidden`."""
    if not tx.value(users.c.is_admin, {"id": actor.user_id}):
        raise Forbidden(
            "This requires an administrator of the server.",
            hint="An administrator can make you one: outlast users set-admin NAME.",
            needed="administer",
        )


def require_thread(tx: Tx, actor: Actor, thread_id: str, right: Right) -> ThreadRow:
    """The thread's row, if the actor has `right` in its project; errors as in `require`, about the thread."""
    return require_owned(tx, actor, ThreadRow, threads, "thread", thread_id, right)


def require_run(tx: Tx, actor: Actor, run_id: str, right: Right) -> RunRow:
    """The run's row, if the actor has `right` in its project."""
    return require_owned(tx, actor, RunRow, runs, "run", run_id, right)


def require_sandbox(tx: Tx, actor: Actor, sandbox_id: str, right: Right) -> SandboxRow:
    """The sandbox's row, if the actor has `right` in its project."""
    return require_owned(tx, actor, SandboxRow, sandboxes, "sandbox", sandbox_id, right)


def require_checkpoint(tx: Tx, actor: Actor, checkpoint_id: str, right: Right) -> CheckpointRow:
    """The checkpoint's row, if the actor has `right` in its project."""
    return require_owned(tx, actor, CheckpointRow, checkpoints, "checkpoint", checkpoint_id, right)


def require_owned(
    tx: Tx, actor: Actor, shape: type[R], table: sa.Table, noun: str, resource_id: str, right: Right
) -> R:
    """A row of any table with `id` and `project_id`, if the actor has `right` in its project; `shape` names the columns
    to read, `project_id` among them."""
    row = tx.execute(_row_and_role(table, shape), {"resource": resource_id, "user": actor.user_id}).first()
    found = demand_found(row, f"There is no such {noun} for you.", noun=noun, id=resource_id)
    _demand(Role(found.actor_role), right, found.project_id)
    return shape._make(found[:-1])


@cache
def _row_and_role(table: sa.Table, shape: type[R]) -> sa.Select[Any]:
    mine = (members.c.project_id == table.c.project_id) & (members.c.user_id == sa.bindparam("user"))
    columns = [table.c[name] for name in shape._fields]
    found = sa.select(*columns, members.c.role.label("actor_role")).join(members, mine)
    return found.where(table.c.id == sa.bindparam("resource"))


def _demand(role: Role, right: Right, project_id: str) -> None:
    if not allows(role, right):
        raise Forbidden(
            f"Your role in this project is {role.value}; this requires {NEEDED[right].value}.",
            project_id=project_id,
            role=role.value,
            needed=NEEDED[right].value,
        )
