"""Permission to steer a run (cancel it, decide its approvals, answer its questions): the thread's driver and project
owners."""

from outlast.base.errors import Forbidden
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks.tables import locks
from outlast.kernel.projects.permissions import require_run, role_of
from outlast.kernel.projects.rules import Right, Role
from outlast.kernel.runs.rows import RunRow


def require_steering(tx: Tx, actor: Actor, run_id: str) -> RunRow:
    """The run's row, if the actor may steer it: an owner, the holder of the thread's lock or, while it is free, the
    user who started the run. Other editors must first take over or ask for the lock. Raises `NotFound`, `Forbidden`."""
    row = require_run(tx, actor, run_id, Right.EDIT)
    if role_of(tx, actor.user_id, row.project_id) is Role.OWNER:
        return row
    holder = tx.value(locks.c.holder_id, {"resource_type": "thread", "resource_id": row.thread_id})
    if (holder or row.started_by) == actor.user_id:
        return row
    raise Forbidden(
        "Another member drives this thread. Only the driver and project owners can steer the agent.",
        hint="Ask for a hand-over, take over once the lock has expired, or fork the thread.",
        thread_id=row.thread_id,
    )
