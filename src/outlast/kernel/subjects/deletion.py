"""Deleting a subject with its conversation, workspace and sandbox."""

from typing import Any

from outlast.base.errors import ThreadBusy
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.actions import end_given_up
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.services import Services
from outlast.kernel.subjects.new_subject import SubjectRow
from outlast.kernel.subjects.store import SubjectStore
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.called_threads import delete_called


async def delete_with_files(
    services: Services, store: SubjectStore[Any, Any, Any], actor: Actor, subject_id: str
) -> None:
    """Delete a subject with its conversation, files and sandbox (owners). Once this returns it is gone; a sandbox that
    cannot be ended now is ended later. Raises `NotFound`, `Forbidden`, `ThreadBusy` while a run of it has not ended."""

    def demand(tx: Tx) -> SubjectRow:
        store.require(tx, actor, subject_id, Right.OWN)
        row: SubjectRow = store.hold(tx, subject_id)
        demand_idle(tx, row.thread_id, f"on this {store.noun}")
        return row

    def run(tx: Tx) -> None:
        row = demand(tx)
        store.delete(tx, subject_id)
        give_up(tx, row.project_id, workspace_id=row.workspace_id)
        threads.delete_thread(tx, row.thread_id)

    await delete_called(services.db, lambda tx: [demand(tx).thread_id])
    await services.db.write(run)
    await end_given_up(services)


def demand_idle(tx: Tx, thread_id: str, where: str) -> None:
    """Raise `ThreadBusy` while a run of the thread has not ended; `where` names its place: "on this page". The thread
    is held until the transaction ends."""
    active = threads.hold(tx, thread_id).active_run_id
    if active is not None:
        raise ThreadBusy(
            f"The agent still works {where}, or waits for a user.",
            hint="Wait for the run to end, or cancel it first.",
            thread_id=thread_id,
            active_run_id=active,
        )
