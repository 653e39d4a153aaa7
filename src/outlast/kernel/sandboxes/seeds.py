"""Workspaces of subjects and of forked threads, which begin with the files of an app template, of another workspace, or
empty.

A template's files are stored once, as one manifest over shared blobs; each workspace of it is a row and a first
checkpoint that names that manifest. No folder is written and no sandbox is started until one is needed.
"""

from collections.abc import Callable, Mapping
from typing import Final

import anyio.to_thread

from outlast.base.errors import MalformedInput, NotFound
from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.db.database import Tx
from outlast.kernel.sandboxes.checkpoints import store as checkpoints
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint
from outlast.kernel.sandboxes.checkpoints.workspaces import add_workspace
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.services import store as services
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.sandboxes.templates import Templates, dev_server
from outlast.kernel.sandboxes.translation import translated
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import messages, threads
from outlast_sandbox.checkpoints.tree_edits import tree_of_files

WRITTEN_MS: Final = 1_767_225_600_000  # a constant time, so that the same files make the same manifest
Edit = Callable[[bytes], bytes]
Owner = tuple[str, str]  # noun and id of a subject


@dataclass(frozen=True, slots=True)
class Seed:
    """A template's files as stored in the blobs: `tree` is the name of their manifest."""

    template: str
    tree: str
    files: int
    size_bytes: int
    service: Declared


class Seeds:
    """Stores templates' files. In memory are only the templates themselves."""

    def __init__(self, blobs: Blobs, templates: Templates) -> None:
        self._blobs, self._templates = blobs, templates

    @property
    def names(self) -> list[str]:
        return sorted(self._templates)

    async def of(self, template: str, edits: Mapping[str, Edit] | None = None) -> Seed:
        """The stored files of a template, with `edits` applied: valid for a day, so call this before each transaction
        that uses them. Fast once they are stored; safe to cancel and to repeat. Raises `MalformedInput` (unknown
        template), `DiskFull`."""
        found = self._templates.get(template)
        if found is None:
            known = ", ".join(self.names) or "none on this server"
            raise MalformedInput(
                f"Unknown app template {template[:80]!r}.", hint=f"Available: {known}.", field="template"
            )
        changed = {path: edit(found.files.get(path, b"")) for path, edit in (edits or {}).items()}
        with translated():
            files = {**found.files, **changed}
            tree = await anyio.to_thread.run_sync(tree_of_files, self._blobs, files, WRITTEN_MS)
        return Seed(found.name, tree.name, tree.files, tree.size_bytes, dev_server(found))


def new_workspace(tx: Tx, seed: Seed | None, owner: Owner, *, project_id: str, thread_id: str) -> str:
    """Create the workspace of a new subject: with the template's files as its first checkpoint (reason `template`) and
    its dev server declared, or empty if None. The thread, whose row must exist, works in it from now on. The
    workspace's id."""
    workspace_id = _add(tx, project_id, owner, thread_id, None if seed is None else seed.template)
    if seed is None:
        _begin_empty(tx, workspace_id)
        return workspace_id
    services.declare(tx, workspace_id, seed.service)
    checkpoints.add(tx, first_of(seed, workspace_id), tx.now)
    return workspace_id


def first_of(seed: Seed, workspace_id: str) -> NewCheckpoint:
    """The first files of a workspace."""
    return NewCheckpoint(workspace_id, "template", seed.tree, seed.files, seed.size_bytes)


def copy_workspace(tx: Tx, source_id: str, *, owner_id: str, thread_id: str, checkpoint_id: str | None = None) -> str:
    """Create the workspace of a copied screen or page: template, declared services, and the files of the source's
    newest checkpoint, or of the one named. Save the source first (`CheckpointKeeper.take`) to include its newest
    changes. Nothing is copied on disk. Raises `NotFound`. The new workspace's id."""
    kept = checkpoints.newest_of(tx, source_id)
    if checkpoint_id is not None:
        kept = checkpoints.checkpoint(tx, checkpoint_id)
        if kept.workspace_id != source_id:  # the id of another workspace's checkpoint must not reveal its files
            raise NotFound("This checkpoint does not exist for these files.", id=checkpoint_id)
    workspace_id = _add_like(tx, source_id, owner_id, thread_id)
    if kept is not None:
        new = NewCheckpoint(workspace_id, "fork", kept.tree, kept.files, kept.size_bytes)
        checkpoints.add(tx, new, tx.now)
    else:
        _begin_empty(tx, workspace_id)
    return workspace_id


def fork_workspace(tx: Tx, parent: ThreadRow, fork_id: str, message_id: str, *, owner_id: str) -> str:
    """As `copy_workspace`, for the fork of a screen's or page's thread: the files as of the message (before the first
    answer: the first files), with the history up to it. `parent` is the row of the forked thread, `message_id` is one
    of its messages, and the fork's copies must exist. The new workspace's id. Raises `NotFound` for a thread without
    files."""
    source_id = parent.workspace_id
    if source_id is None:
        raise NotFound("The thread has no files.", id=parent.id)
    position = tx.value(messages.c.position, {"id": message_id})
    kept = checkpoints.at_message(tx, source_id, parent.id, position)
    workspace_id = _add_like(tx, source_id, owner_id, fork_id)
    if kept is None and tx.value(workspaces.c.template, {"id": source_id}) is not None:
        kept = checkpoints.first_of(tx, source_id)
    _copy_upto(tx, parent, fork_id, workspace_id, position, kept)
    if kept is None:
        _begin_empty(tx, workspace_id)
    return workspace_id


def fork_files(tx: Tx, parent: ThreadRow, fork_id: str, message_id: str) -> None:
    """Give a forked thread the files as of the message, with the history up to it. Nothing is copied on disk: until its
    first use the new workspace exists only in its checkpoint. Does nothing if no checkpoint was kept by then."""
    if parent.workspace_id is None:
        return
    position = tx.value(messages.c.position, {"id": message_id})
    kept = checkpoints.at_message(tx, parent.workspace_id, parent.id, position)
    if kept is not None:
        workspace_id = _add(tx, parent.project_id, ("thread", fork_id), fork_id, None)
        _copy_upto(tx, parent, fork_id, workspace_id, position, kept)


def _copy_upto(
    tx: Tx, parent: ThreadRow, fork_id: str, workspace_id: str, position: int, kept: CheckpointData | None
) -> None:
    """The parent's history before the message at this position, then the checkpoint kept by then, which belongs to the
    copied message if it belonged to one."""
    checkpoints.copy_history(tx, parent, fork_id, workspace_id, position)
    if kept is None:
        return
    copied = {"thread_id": fork_id, "position": position}
    bound = None if kept.message_id is None else tx.value(messages.c.id, copied)
    new = NewCheckpoint(workspace_id, "fork", kept.tree, kept.files, kept.size_bytes, message_id=bound)
    checkpoints.add(tx, new, tx.now)


def _begin_empty(tx: Tx, workspace_id: str) -> None:
    """There is nothing to restore."""
    tx.update(workspaces, {"id": workspace_id}, evicted_at=None)


def _add_like(tx: Tx, source_id: str, owner_id: str, thread_id: str) -> str:
    """An empty workspace with the template and the declared services of another, for an owner of the same kind. Raises
    `NotFound`."""
    source = tx.find(WorkspaceRow, workspaces, {"id": source_id})
    if source is None:
        raise NotFound("These files were deleted.", id=source_id)
    owner = source.owner_type, owner_id
    workspace_id = _add(tx, source.project_id, owner, thread_id, source.template)
    for row in services.services_of(tx, source_id):
        services.declare(tx, workspace_id, services.declared_by(row))
    return workspace_id


def _add(tx: Tx, project_id: str, owner: Owner, thread_id: str, template: str | None) -> str:
    # Until the first use the files exist only in the checkpoint.
    workspace_id = add_workspace(tx, project_id, *owner, template=template, evicted_at=tx.now)
    tx.update(threads, {"id": thread_id}, workspace_id=workspace_id)
    return workspace_id
