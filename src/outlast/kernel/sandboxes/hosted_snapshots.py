"""Snapshots that programs make of their sandboxes: the files in a separate workspace without processes, so that they
outlive the sandbox. First argument: the open transaction."""

from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint, newest_of
from outlast.kernel.sandboxes.checkpoints.store import add as add_checkpoint
from outlast.kernel.sandboxes.checkpoints.workspaces import add_workspace
from outlast.kernel.sandboxes.hosted import OWNER
from outlast.kernel.sandboxes.tables import hosted_snapshots, workspaces


class HostedSnapshot(NamedTuple):
    """`template` is the template of its sandbox, and of sandboxes started from it."""

    workspace_id: str
    project_id: str
    source_id: str
    name: str | None
    template: str
    created_at: datetime


def add(tx: Tx, project_id: str, source_id: str, template: str, name: str | None) -> HostedSnapshot:
    """Keep the files of the source's newest checkpoint."""
    workspace_id = new_id("workspace")
    add_workspace(tx, project_id, OWNER, workspace_id, workspace_id)
    own = {"source_id": source_id, "name": name, "template": template, "created_at": tx.now}
    tx.insert(hosted_snapshots, workspace_id=workspace_id, **own)
    copy_files(tx, source_id, workspace_id)
    return HostedSnapshot(workspace_id, project_id, source_id, name, template, tx.now)


def copy_files(tx: Tx, source_id: str, workspace_id: str) -> None:
    """Give a new workspace the files of another's newest checkpoint. Nothing is copied on disk: until its first use
    they exist only in its checkpoint."""
    source = newest_of(tx, source_id)
    if source is None:  # there were no files
        return
    new = NewCheckpoint(workspace_id, "fork", source.tree, source.files, source.size_bytes)
    add_checkpoint(tx, new, tx.now)
    tx.update(workspaces, {"id": workspace_id}, evicted_at=tx.now)  # its first use restores the folder


def find(tx: Tx, project_id: str, named: str) -> HostedSnapshot | None:
    """The project's snapshot with this id, or the newest of this name."""
    wanted = sa.or_(hosted_snapshots.c.workspace_id == named, hosted_snapshots.c.name == named)
    return tx.row(HostedSnapshot, _all(project_id).where(wanted).limit(1))


def of_project(tx: Tx, project_id: str, source_id: str | None, name: str | None) -> list[HostedSnapshot]:
    """The project's snapshots, the newest first; of one sandbox, or of one name."""
    wanted = _all(project_id)
    if source_id is not None:
        wanted = wanted.where(hosted_snapshots.c.source_id == source_id)
    if name is not None:
        wanted = wanted.where(hosted_snapshots.c.name == name)
    return tx.rows(HostedSnapshot, wanted)


def _all(project_id: str) -> sa.Select[Any]:
    mine = sa.select(
        hosted_snapshots.c.workspace_id,
        workspaces.c.project_id,
        hosted_snapshots.c.source_id,
        hosted_snapshots.c.name,
        hosted_snapshots.c.template,
        hosted_snapshots.c.created_at,
    ).join(workspaces, workspaces.c.id == hosted_snapshots.c.workspace_id)
    return mine.where(workspaces.c.project_id == project_id).order_by(hosted_snapshots.c.workspace_id.desc())
