"""Copies of programs' sandboxes: snapshots of their files, and forks, which begin with the same files (editors)."""

import anyio.lowlevel

from outlast.base.errors import NotFound, OutlastError
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes import hosted_actions as actions
from outlast.kernel.sandboxes import hosted_snapshots as store
from outlast.kernel.sandboxes.checkpoints.actions import keeper_of
from outlast.kernel.sandboxes.hosted import Hosted, HostedOrder
from outlast.kernel.sandboxes.hosted_snapshots import HostedSnapshot
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.services import Services


async def snapshot_hosted(
    services: Services, actor: Actor, workspace_id: str, name: str | None = None
) -> HostedSnapshot:
    """Keep the files of a sandbox as they are now; it goes on meanwhile. What runs in it is not kept. Raises
    `InputTooLarge`, `DiskFull`, `NotFound`."""
    found = await actions.read_hosted(services, actor, workspace_id)
    await keeper_of(services).take(workspace_id, "fork")
    return await services.db.write(store.add, found.project_id, workspace_id, found.template, name)


async def list_hosted_snapshots(
    services: Services, actor: Actor, source_id: str | None = None, name: str | None = None
) -> list[HostedSnapshot]:
    """Those of the actor's default project, the newest first; of one sandbox, or of one name."""

    def run(tx: Tx) -> list[HostedSnapshot]:
        project_id = projects.find_default_project(tx, actor.user_id)
        if project_id is None:
            return []
        require(tx, actor, project_id, Right.EDIT)
        return store.of_project(tx, project_id, source_id, name)

    return await services.db.read(run)


async def delete_hosted_snapshot(services: Services, actor: Actor, named: str) -> None:
    """Remove one, by its id or name; sandboxes that were started from it are left alone. Raises `NotFound`."""

    def run(tx: Tx) -> None:
        project_id = projects.find_default_project(tx, actor.user_id)
        found = None if project_id is None else store.find(tx, project_id, named)
        if found is None:
            raise NotFound(f"There is no snapshot {named[:80]}.", noun="snapshot")
        require_owned(tx, actor, WorkspaceRow, workspaces, "snapshot", found.workspace_id, Right.EDIT)
        give_up(tx, found.project_id, workspace_id=found.workspace_id)

    await services.db.write(run)


async def fork_hosted(
    services: Services, actor: Actor, workspace_id: str, timeout_s: float, count: int
) -> list[Hosted | OutlastError]:
    """So many new sandboxes with the files, environment and words of this one, each or why there is none. This one goes
    on; what runs in it is not copied."""
    found = await actions.read_hosted(services, actor, workspace_id)
    await keeper_of(services).take(workspace_id, "fork")
    order = HostedOrder(
        timeout_s=timeout_s,
        template=found.template,
        on_timeout=found.on_timeout,
        metadata=found.metadata,
        env=found.env,
        options={**found.options, "timeout_s": timeout_s},
    )
    made: list[Hosted | OutlastError] = []
    for _ in range(count):
        await anyio.lowlevel.checkpoint()
        try:
            made.append(await actions.create_hosted(services, actor, order, files_of=found))
        except OutlastError as error:
            made.append(error)
    return made
