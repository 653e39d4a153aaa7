"""Queries of the egress proxy. First argument: the open transaction."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.projects.tables import projects
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.rows import SecretUseRow
from outlast.kernel.sandboxes.shapes import SecretUseAnswer
from outlast.kernel.sandboxes.tables import hosted_sandboxes, secret_uses, workspaces
from outlast.kernel.threads.tables import threads

# The active run, otherwise a waiting one, otherwise the last one.
_BY_LEG: Final = sa.case((runs.c.leg == "held", 0), (runs.c.leg.in_(("ready", "parked")), 1), else_=2)
_WORKER: Final = (
    sa.select(runs.c.started_by, runs.c.profile, runs.c.leg.in_(("held", "ready")).label("is_at_work"))
    .where(runs.c.workspace_id == sa.bindparam("workspace_id"))
    .order_by(_BY_LEG, runs.c.created_at.desc(), runs.c.id.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Use:
    """A line of the log. `path` is without the query; `user_id` is the user of the run; `status` is None if no answer
    came. For a call of an `mcp_server`, `sandbox_id` is empty, and `secret` if it carried the user's account.
    `is_own`: the secret, or the server whose account it was, is the user's own."""

    project_id: str
    sandbox_id: str
    user_id: str | None
    secret: str
    host: str
    method: str
    path: str
    status: int | None
    at: datetime
    mcp_server: str | None = None
    is_own: bool = False


class Worker(NamedTuple):
    """A run of a sandbox: the user who started it, the name of its agent, and whether it works: it has not ended, and
    waits for no person and no other run."""

    started_by: str
    profile: str
    is_at_work: bool


def worker_of(tx: Tx, workspace_id: str) -> Worker | None:
    """The run there: the active one, otherwise a waiting one, otherwise the latest one."""
    return tx.row(Worker, _WORKER, {"workspace_id": workspace_id})


def user_of(tx: Tx, workspace_id: str) -> str | None:
    """The user of the run there: the starter of the active run, otherwise of the latest one, otherwise the creator of
    the sandbox or the thread."""
    worker = worker_of(tx, workspace_id)
    if worker is not None:
        return worker.started_by
    hosted = sa.select(hosted_sandboxes.c.user_id).where(hosted_sandboxes.c.workspace_id == workspace_id)
    owner = (
        sa.select(threads.c.created_by)
        .join(workspaces, workspaces.c.owner_id == threads.c.id)
        .where(workspaces.c.id == workspace_id, workspaces.c.owner_type == "thread")
    )
    works = sa.select(threads.c.created_by).where(threads.c.workspace_id == workspace_id).limit(1)
    for query in (hosted, owner, works):
        user: str | None = tx.execute(query).scalar()
        if user is not None:
            return user
    return None


def add_uses(tx: Tx, uses: Sequence[Use]) -> None:
    """Append lines; those of a project that was deleted meanwhile are dropped."""
    wanted = {use.project_id for use in uses}
    # A deleted project would refuse the whole batch.
    found = set(tx.execute(sa.select(projects.c.id).where(projects.c.id.in_(wanted))).scalars())
    tx.insert_many(secret_uses, [asdict(use) for use in uses if use.project_id in found])


def forget_uses(tx: Tx, user_id: str, secret: str) -> None:
    """Delete the lines of a secret of the user's own."""
    mine = secret_uses.c.user_id == user_id, secret_uses.c.secret == secret, secret_uses.c.is_own
    tx.execute(sa.delete(secret_uses).where(*mine))


def uses_of(
    tx: Tx, project_id: str, limit: int, before: int | None, sandbox_id: str | None, secret: str | None, user_id: str
) -> list[SecretUseAnswer]:
    """The project's lines, newest first, without those of other people's own secrets."""
    seen = sa.or_(~secret_uses.c.is_own, secret_uses.c.user_id == user_id)
    query = sa.select(secret_uses).where(secret_uses.c.project_id == project_id, seen)
    if before is not None:
        query = query.where(secret_uses.c.id < before)
    if sandbox_id is not None:
        query = query.where(secret_uses.c.sandbox_id == sandbox_id)
    if secret is not None:
        query = query.where(secret_uses.c.secret == secret)
    rows = tx.rows(SecretUseRow, query.order_by(secret_uses.c.id.desc()).limit(limit))
    return [shape_of(SecretUseAnswer, row, id=str(row.id)) for row in rows]
