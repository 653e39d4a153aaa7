"""Checkpoints: list them, view one, compare two, restore one; the files of a sandbox that is asleep."""

from functools import partial

import anyio.to_thread

from outlast.base.errors import Conflict, NotFound, PathRefused, SandboxUnavailable
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require_checkpoint, require_sandbox, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes import store as sandbox_rows
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints.contents import (
    MAX_FILE_BYTES,
    MAX_FILES,
    beginning_of,
    differences,
    kept_file,
    shown_name,
)
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointAnswer, CheckpointData, ComparisonAnswer
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.seeds import first_of
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT
from outlast.kernel.services import Services, in_read
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.subjects.registry import Found
from outlast_sandbox.checkpoints.tree import Entry, Tree
from outlast_sandbox.checkpoints.tree_diff import below
from outlast_sandbox.interface import FileEntry


@in_read
def list_checkpoints(
    tx: Tx, actor: Actor, sandbox_id: str, before: str | None = None, limit: int = 50
) -> Listed[CheckpointData, str]:
    """The checkpoints of a sandbox's workspace."""
    return _page(tx, require_sandbox(tx, actor, sandbox_id, Right.READ).workspace_id, before, limit)


@in_read
def list_of_thread(
    tx: Tx, actor: Actor, thread_id: str, before: str | None = None, limit: int = 50
) -> Listed[CheckpointData, str]:
    """The checkpoints of a thread's files, also while it has no sandbox."""
    workspace_id = require_thread(tx, actor, thread_id, Right.READ).workspace_id
    return Listed([], None) if workspace_id is None else _page(tx, workspace_id, before, limit)


async def read_checkpoint(services: Services, actor: Actor, checkpoint_id: str) -> CheckpointAnswer:
    """One checkpoint with its files, at most 5,000 entries; `truncated`: there are more."""
    checkpoint = await services.db.read(_require, actor, checkpoint_id, Right.READ)
    tree = await keeper_of(services).tree(checkpoint)
    entries = [kept_file(entry) for entry in tree.entries[:MAX_FILES]]
    return CheckpointAnswer(**checkpoint.model_dump(), entries=entries, truncated=len(tree.entries) > MAX_FILES)


async def compare(services: Services, actor: Actor, checkpoint_id: str, to: str | None = None) -> ComparisonAnswer:
    """The changes from this checkpoint to another of the same project. Without `to`: the changes of its answer, or, if
    it belongs to none, the changes since the one before it."""

    def find(tx: Tx) -> tuple[CheckpointData | None, CheckpointData]:
        this = _require(tx, actor, checkpoint_id, Right.READ)
        if to is None:
            return store.before(tx, this), this
        other = _require(tx, actor, to, Right.READ)
        if other.project_id != this.project_id:
            raise NotFound("This checkpoint does not exist in this project.", id=to)
        return this, other

    before, after = await services.db.read(find)
    keeper = keeper_of(services)
    old, new = await keeper.tree(before), await keeper.tree(after)
    compared = await anyio.to_thread.run_sync(partial(differences, services.blobs, old, new))
    return ComparisonAnswer(
        before=before, after=after, changes=compared[:MAX_FILES], truncated=len(compared) > MAX_FILES
    )


async def read_kept_file(services: Services, actor: Actor, checkpoint_id: str, path: str) -> bytes:
    """The first 5 MB of a file as of the checkpoint. Raises `NotFound`, `PathRefused`."""
    checkpoint = await services.db.read(_require, actor, checkpoint_id, Right.READ)
    return await _read(services, await keeper_of(services).tree(checkpoint), path)


async def restore(services: Services, actor: Actor, checkpoint_id: str) -> CheckpointData:
    """Restore the workspace's files from this checkpoint (editors); the current files are kept as a checkpoint. Returns
    the newest checkpoint, which is the subject's if it changed the files. Raises `ThreadBusy` while a run works there
    or waits for a user."""
    checkpoint = await services.db.read(_require, actor, checkpoint_id, Right.EDIT)
    restored = await keeper_of(services).restore(checkpoint)  # checks under its own lock that no run works there
    found = await services.db.read(subjects.of_workspace, restored.workspace_id)
    if found is None:
        return restored
    return await found.kind.files.after_restore(services, actor, found.id) or restored


async def reset_workspace(services: Services, actor: Actor, thread_id: str) -> CheckpointData:
    """Give the thread an empty workspace, or one with the files with which its subject begins (editors); see
    `start_empty`. Raises `Conflict` for a thread without a workspace, `ThreadBusy` while a run works there or waits for
    a user."""

    def find(tx: Tx) -> tuple[str | None, Found | None]:
        workspace_id = require_thread(tx, actor, thread_id, Right.EDIT).workspace_id
        return workspace_id, subjects.of_thread(tx, thread_id)

    workspace_id, found = await services.db.read(find)
    # May fail, so it comes before any change.
    seed = None if found is None else await found.kind.files.seed(services, found.id)
    if workspace_id is None:
        raise Conflict("This thread has no files yet.", hint="Its first tool call creates them.", thread_id=thread_id)
    begun = await keeper_of(services).start_empty(workspace_id, seed and first_of(seed, workspace_id))
    if found is not None:
        await found.kind.files.after_reset(services, actor, found.id)
    return begun


async def list_asleep(services: Services, workspace_id: str, path: str) -> list[FileEntry] | None:
    """The answer of `list_files` for a sandbox that is asleep, from its checkpoint, or None if it is awake or has no
    checkpoint. Raises `PathRefused`, `NotFound`."""
    tree = await _tree_asleep(services, workspace_id)
    if tree is None:
        return None
    folder = _inside(path)
    if folder and _entry(tree, folder).kind != "directory":
        raise PathRefused(f"{path!r} is not a folder.", path=path)
    return [
        FileEntry(shown_name(entry.path), entry.size, entry.kind == "directory", entry.mtime_ms / 1000)
        for entry in below(tree, folder)[:MAX_FILES]
    ]


async def read_asleep(services: Services, workspace_id: str, path: str) -> bytes | None:
    """The answer of `read_file`; as `list_asleep`."""
    tree = await _tree_asleep(services, workspace_id)
    return None if tree is None else await _read(services, tree, path)


def keeper_of(services: Services) -> CheckpointKeeper:
    """Raises `SandboxUnavailable` if the configuration offers no sandboxes."""
    if services.sandboxes.checkpoints is None:
        raise SandboxUnavailable(
            "This server has no sandboxes configured, so it stores no files.", hint=NO_SANDBOXES_HINT
        )
    return services.sandboxes.checkpoints


async def _tree_asleep(services: Services, workspace_id: str) -> Tree | None:
    newest = await services.db.read(sandbox_rows.newest, workspace_id)
    awake = newest is not None and newest.life.state in (State.READY, State.RESUMING, State.CREATING)
    if awake or services.sandboxes.checkpoints is None:  # an awake sandbox may change its files
        return None
    kept = await services.sandboxes.checkpoints.current(workspace_id)
    return None if kept is None else await services.sandboxes.checkpoints.tree(kept)


async def _read(services: Services, tree: Tree, path: str) -> bytes:
    entry = _entry(tree, _inside(path))
    if entry.kind != "file":
        raise PathRefused(f"{path!r} is not a regular file.", path=path)
    return await anyio.to_thread.run_sync(beginning_of, services.blobs, entry, MAX_FILE_BYTES)


def _require(tx: Tx, actor: Actor, checkpoint_id: str, right: Right) -> CheckpointData:
    return store.to_data(require_checkpoint(tx, actor, checkpoint_id, right))


def _page(tx: Tx, workspace_id: str, before: str | None, limit: int) -> Listed[CheckpointData, str]:
    found = store.list_of(tx, workspace_id, before, limit + 1)
    return Listed(found[:limit], found[limit - 1].id if len(found) > limit else None)


def _inside(path: str) -> str:
    """A relative path without its slashes at the ends. Raises `PathRefused`."""
    if path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise PathRefused(f"The path {path!r} is not relative to the workspace, or contains '..'.", path=path)
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _entry(tree: Tree, path: str) -> Entry:
    found = tree.by_path.get(path)
    if found is None:
        raise NotFound(f"The file {path!r} does not exist.", path=path)
    return found
