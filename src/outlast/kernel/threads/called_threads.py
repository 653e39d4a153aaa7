"""The threads of agents that the runs of a thread have called. They are deleted before it, a portion in each
transaction: thousands of them in one would hold up every other write."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import ThreadBusy
from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.threads import store
from outlast.kernel.threads.tables import threads

PORTION: Final = 10  # 50 took about 200 ms of CPU on a busy machine


class _Called(NamedTuple):
    id: str
    project_id: str
    active_run_id: str | None


def _called_by(callers: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """The threads that runs in these threads have started."""
    started = sa.select(threads.c.id, threads.c.project_id, threads.c.active_run_id)
    return started.join(runs, runs.c.id == threads.c.caller_run_id).where(callers)


_SOME: Final = _called_by(runs.c.thread_id.in_(sa.bindparam("callers", expanding=True))).limit(PORTION)
_HELD: Final = (
    sa.select(threads.c.id, threads.c.project_id, threads.c.active_run_id)
    .where(threads.c.id.in_(sa.bindparam("portion", expanding=True)))
    .order_by(threads.c.id)
    .with_for_update()
)
_WITH_FILES: Final = sa.select(workspaces.c.owner_id).where(
    workspaces.c.owner_type == "thread", workspaces.c.owner_id.in_(sa.bindparam("portion", expanding=True))
)


def _find_busy() -> sa.Select[Any]:
    """A thread with a run at work among those that were called, however deep."""
    below = _called_by(runs.c.thread_id.in_(sa.bindparam("callers", expanding=True))).cte("below", recursive=True)
    below = below.union(_called_by(runs.c.thread_id == below.c.id))
    return sa.select(below).where(below.c.active_run_id.is_not(None)).limit(1)


_BUSY: Final = _find_busy()


async def delete_called(db: Database, demand: Callable[[Tx], Sequence[str]]) -> None:
    """Delete the threads of agents that the runs of some threads have called, however deep, with their files; at most
    `PORTION` in one transaction. `demand` returns those threads, and raises if they may not be deleted now; each
    transaction calls it. A call that a crash cut off is finished by the next one. Raises `ThreadBusy` while one of the
    agents is at work; nothing is deleted then, unless it has begun meanwhile."""
    await db.read(lambda tx: _demand_idle(tx.row(_Called, _BUSY, {"callers": list(demand(tx))})))
    while await db.write(lambda tx: _delete_portion(tx, demand(tx))):
        pass


def _delete_portion(tx: Tx, callers: Sequence[str]) -> bool:
    """Delete some of the threads; those that have called others come after these, or nothing would lead to the others.
    False if there is none."""
    portion, found = [], list(callers)
    while found := [row.id for row in tx.rows(_Called, _SOME, {"callers": found})]:
        portion = found
    if not portion:
        return False
    # All at once: a run that is started in one of them waits, and then finds it gone.
    held = tx.rows(_Called, _HELD, {"portion": portion})
    with_files = set(tx.execute(_WITH_FILES, {"portion": portion}).scalars())
    for called in held:
        _demand_idle(called)
        if called.id in with_files:
            give_up(tx, called.project_id, called.id)
        store.delete_thread(tx, called.id)
    return True


def _demand_idle(called: _Called | None) -> None:
    if called is not None and called.active_run_id is not None:
        raise ThreadBusy("An agent that it called is being stopped.", hint="Try again soon.", thread_id=called.id)
