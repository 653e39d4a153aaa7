"""Keeps workspaces' files: takes checkpoints, restores folders, removes unused ones."""

import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from outlast.base.clock import Clock
from outlast.base.errors import InvalidRequest, OutlastError, StoredFileDamaged, StoredFileMissing, WorkspaceUnreadable
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints import workspaces as places
from outlast.kernel.sandboxes.checkpoints.garbage import GRACE_S, KEEP_UNBOUND, Collected, collect
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.sizes import MEBIBYTE
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.sandboxes.translation import translated, untranslated
from outlast.kernel.set_aside import kinds
from outlast_sandbox.checkpoints.file_lookup import files_in_folder, files_in_tree
from outlast_sandbox.checkpoints.folder_save import Saved, save_folder
from outlast_sandbox.checkpoints.keeper_caches import Memories, Trees
from outlast_sandbox.checkpoints.manifests import read_tree, write_tree
from outlast_sandbox.checkpoints.remote_workspace import fill_sandbox, save_sandbox
from outlast_sandbox.checkpoints.replaced_folders import has_newer, move_aside
from outlast_sandbox.checkpoints.restore import place_tree
from outlast_sandbox.checkpoints.tree import EMPTY, Tree
from outlast_sandbox.checkpoints.tree_edits import Edit, edited_tree
from outlast_sandbox.checkpoints.unsynced import Unsynced
from outlast_sandbox.folders import remove_folder
from outlast_sandbox.interface import Sandbox

ROOM: Final = 2  # sparse files are longer than the size that the quota counts
LOOK_EVERY_S: Final = 60.0
COLLECT_EVERY: Final = 60  # looks
LEFT_FOR: Final = timedelta(seconds=10)  # after that no running tool call is about to save the change
Find = Callable[[str], Awaitable[Sandbox | None]]
Alone = Callable[[str, float], AbstractAsyncContextManager[bool]]
UNSAVED: Final = "checkpoints"
LayersOf = Callable[[str | None], Collection[str]]
log = logging.getLogger("outlast.checkpoints")


def _none(_template: str | None) -> Collection[str]:
    return ()


class CheckpointKeeper:
    """One per server. `local`: the provider's workspaces are folders of this machine; otherwise they are read and
    filled through `find`, which returns a workspace's sandbox if it lives. `layers_of` returns the folders of an app
    template's workspaces that do not belong to their files. `alone`: see `SandboxManager.alone`.

    In memory: one lock per workspace (taken inside the sandbox manager's own, never around it), trees and the state of
    files at their last read, which may be missing, and the workspaces that wait for a checkpoint. A killed server loses
    at most the checkpoint that it was taking: unsaved changes of a workspace are noted in its row.
    """

    def __init__(
        self,
        db: Database,
        blobs: Blobs,
        clock: Clock,
        settings: SandboxSettings,
        data_dir: Path,
        *,
        node_id: str,
        local: bool,
        find: Find,
        keep_unbound: timedelta = KEEP_UNBOUND,
        layers_of: LayersOf = _none,
        alone: Alone | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self._db, self._blobs, self._clock, self._settings = db, blobs, clock, settings
        self._data_dir, self._node_id, self._local, self._find = data_dir, node_id, local, find
        self._keep_unbound, self._layers_of, self._alone = keep_unbound, layers_of, alone
        self._supervisor = supervisor or Supervisor(clock)
        self._guard = self._supervisor.guard
        self._locks: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        # Of edits by users; taken before every other lock.
        self._hands: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        self._trees = Trees()
        self._memories = Memories(data_dir / "checkpoints")
        self._unsynced = Unsynced(data_dir / "checkpoints")
        self._wanted: dict[str, tuple[str | None, str | None]] = {}
        self._moving: set[str] = set()
        self._still: set[str] = set()  # asleep, and saved since
        self._news = anyio.Event()

    # --- taking

    async def take(
        self,
        workspace_id: str,
        reason: str,
        *,
        run_id: str | None = None,
        effect_id: str | None = None,
        sandbox: Sandbox | None = None,
    ) -> CheckpointData | None:
        """Save the files as they are now. Returns None if nothing has changed, or there is nothing to save (the files
        are only in a checkpoint, on another node, or in a sandbox that does not run).

        Raises `InputTooLarge` (too many or too large files), `DiskFull`, `SandboxLost`, `NotFound` (it is gone). A
        cancelled call leaves the files unchanged and no checkpoint, or a whole one.
        """
        if not self._local and sandbox is None:
            sandbox = await self._find(workspace_id)  # before our lock: it takes the manager's, which comes first
        async with self._locks[workspace_id]:
            return await self._take(NewCheckpoint(workspace_id, reason, run_id=run_id, effect_id=effect_id), sandbox)

    def changed(self, workspace_id: str, run_id: str | None, effect_id: str | None) -> None:
        """A tool call may have changed files: they are saved soon, by `run`, in parallel with other work."""
        self._wanted[workspace_id] = (run_id, effect_id)
        self._news.set()
        self._news = anyio.Event()

    async def settled(self, workspace_id: str) -> None:
        """Return once everything reported by `changed` is saved. A failure is logged, not raised: the files stay in
        place, and saving them is tried again with the next change."""
        await self._guard.once(kinds.WORKSPACE_CHECKPOINT, workspace_id, self._settle, workspace_id)

    async def run(self) -> None:
        """Until cancelled: save changes reported by `changed`, and run `look_after` every minute."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._supervisor.keep, "checkpoints of changed workspaces", self._serve, tasks)
            for look in count(1):
                await self._clock.sleep(LOOK_EVERY_S)
                await self.look_after()
                if look % COLLECT_EVERY == 0:
                    await self.collect()

    async def look_after(self) -> None:
        """Save the unsaved changes of a killed or cancelled run, and remove folders that were unused for as long as the
        settings allow."""
        if self._alone is None:
            await self._save_left()
        else:
            async with self._alone(UNSAVED, LOOK_EVERY_S / 2) as mine:
                if mine:
                    await self._save_left()
        if self._local:
            for workspace_id in await self._db.read(places.idle, self._node_id, self._ttl):
                await self._guard.attempt(kinds.WORKSPACE_EVICTION, workspace_id, self._evict, workspace_id)
        await anyio.to_thread.run_sync(self._sync_folders)  # waits for the disk: for seconds on a busy machine
        await anyio.to_thread.run_sync(self._memories.write)
        known = {*self._memories.known(), *self._unsynced.noted()}
        for workspace_id in await self._db.read(places.unknown, known):
            self._memories.forget(workspace_id)
            self._unsynced.forget(workspace_id)
            self._locks.pop(workspace_id, None)  # gone from the tables: no caller asks for it any more
            self._hands.pop(workspace_id, None)

    async def _save_left(self) -> None:
        for workspace_id, run_id in await self._db.read(places.unsaved, self._node_id, LEFT_FOR):
            self.changed(workspace_id, run_id, None)
            await self._guard.attempt(kinds.WORKSPACE_CHECKPOINT, workspace_id, self._settle, workspace_id)

    async def collect(self, grace_s: float = GRACE_S) -> Collected:
        """Remove checkpoints that are no longer kept, and blobs without a reference since `grace_s`; see `garbage`."""
        collected = await collect(self._db, self._blobs, self._keep_unbound, grace_s, data_dir=self._data_dir)
        if collected.held:
            log.warning("stored files are not collected", extra={"reason": collected.held})
        return collected

    # --- the folder

    async def ready(self, workspace_id: str) -> None:
        """Wait while the workspace's files are being replaced."""
        if workspace_id in self._moving:
            async with self._locks[workspace_id]:
                pass

    async def bring_back(self, workspace_id: str) -> None:
        """Before a sandbox starts: restore its folder if it was removed, was lost, or is on another node. Raises
        `DiskFull`, `WorkspaceUnreadable` (a stored file is missing or damaged)."""
        if not self._local:
            return
        async with self._locks[workspace_id]:
            place = await self._db.read(places.place_of, workspace_id)
            if place is None:
                return
            if place.checkpoint_id is not None and not self._is_here(place):
                # After a kill here a half-written folder does not count.
                await self._db.write(places.away, workspace_id)
                await self._keep_newer(workspace_id)
                with _explaining_unreadable():
                    await self._place(workspace_id)
            await self._db.write(places.back, workspace_id, self._node_id)  # last: from now on the folder is the truth

    async def fill(self, workspace_id: str, sandbox: Sandbox) -> None:
        """After a sandbox with its own disk has started: give it the files of the newest checkpoint. Raises
        `WorkspaceUnreadable`."""
        if self._local:
            return
        async with self._locks[workspace_id]:
            # The time before the files are written, by the database's clock.
            since, _, newest = await self._db.read(store.place_now, workspace_id)
            if newest is not None:
                with _explaining_unreadable(), translated():
                    await fill_sandbox(untranslated(sandbox), await self.tree(newest), self._blobs)
            await self._db.write(places.mark_kept, workspace_id, since)  # unsaved changes are lost

    async def leave(self, workspace_id: str, sandbox: Sandbox) -> None:
        """Before a sandbox with its own disk is ended: save its files. A failure is logged, not raised."""
        if self._local:
            return
        try:
            await self.take(workspace_id, "sleep", sandbox=sandbox)
        except OutlastError as error:
            _log_failure(workspace_id, error)  # changes without a checkpoint are lost with its disk

    async def restore(self, target: CheckpointData) -> CheckpointData:
        """Restore the workspace's files from a checkpoint; the current files are kept as a checkpoint first. Returns
        the new newest checkpoint. Once this has begun it cannot be lost: after a kill, the next use of the workspace
        completes it.

        Raises `ThreadBusy` while a run works there or waits for a user, `NotFound`, `DiskFull`.
        """
        workspace_id = target.workspace_id
        async with self._moved(workspace_id) as (place, sandbox):
            await self._take(NewCheckpoint(workspace_id, "person"), sandbox)
            return await self._exchange(place, target, sandbox)

    async def start_empty(self, workspace_id: str, first: NewCheckpoint | None = None) -> CheckpointData:
        """Give the workspace no files (or those of `first`), even if its newest checkpoint cannot be read any more.
        Returns the new newest checkpoint. Files of the workspace on this machine are saved first, as a checkpoint or as
        a folder that is moved aside; earlier checkpoints stay. Raises `ThreadBusy` while a run works there or waits for
        a user, `NotFound`, `DiskFull`."""
        async with self._moved(workspace_id) as (place, sandbox):
            if self._local and not self._is_here(place):  # a folder there may have files without a checkpoint
                await anyio.to_thread.run_sync(self._move_aside, workspace_id)
            else:
                saved = NewCheckpoint(workspace_id, "person")
                await self._take(saved, sandbox, upon_nothing=True)
            if first is None:
                empty = await anyio.to_thread.run_sync(write_tree, self._blobs, EMPTY)
                first = NewCheckpoint(workspace_id, "person", empty.name)
            return await self._exchange(place, first, sandbox)

    def one_hand(self, workspace_id: str) -> anyio.Lock:
        """Held while a user's change reads and then writes files of a workspace, so that no other change comes
        between."""
        return self._hands[workspace_id]

    async def rewrite(self, workspace_id: str, edits: Mapping[str, Edit]) -> CheckpointData | None:
        """Change files, by path, of a workspace whose sandbox is asleep, or that has none, all or none: each edit
        receives the content (None if the file does not exist) and returns the new one. Returns the new newest
        checkpoint, or None if nothing changed. Errors, and the state after a kill, as of `restore`; also the errors of
        an edit."""
        async with self._moved(workspace_id) as (place, _):
            await self._take(NewCheckpoint(workspace_id, "person"), None)
            newest = await self._db.read(store.newest_of, workspace_id)
            tree = EMPTY if newest is None else await self.tree(newest)
            with translated():
                edited = await anyio.to_thread.run_sync(edited_tree, self._blobs, tree, edits)
            if edited is None:
                return None
            new = NewCheckpoint(workspace_id, "person", edited.name, edited.files, edited.size_bytes)
            return await self._exchange(place, new, None)

    @asynccontextmanager
    async def _moved(self, workspace_id: str) -> AsyncIterator[tuple[WorkspaceRow, Sandbox | None]]:
        """The workspace, while its files are replaced: no other code reads or writes them. With the sandbox that has
        its files, if they are not in a folder of this machine. Raises `ThreadBusy`, `NotFound`."""
        # Before a sandbox is woken for it; checked again below, under the lock.
        await self._db.read(places.demand_idle, workspace_id)
        sandbox = None if self._local else await self._find(workspace_id)
        self._moving.add(workspace_id)  # from here on callers that need its sandbox wait in `ready`
        try:
            async with self._locks[workspace_id]:
                yield await self._db.read(places.demand_idle, workspace_id), sandbox
        finally:
            self._moving.discard(workspace_id)

    # --- reading

    async def tree(self, checkpoint: CheckpointData | None) -> Tree:
        """The contents of a checkpoint, empty for None. Raises `StoredFileMissing` (its manifest is missing),
        `StoredFileDamaged`."""
        if checkpoint is None:
            return EMPTY
        known = self._trees.get(checkpoint.tree)
        if known is None:
            with translated():
                known = await anyio.to_thread.run_sync(read_tree, self._blobs, checkpoint.tree)
            self._trees.put(checkpoint.tree, known)
        return known

    async def current(self, workspace_id: str) -> CheckpointData | None:
        """The newest checkpoint of a workspace whose sandbox is asleep, taken now if the folder here has changed since;
        no sandbox is woken."""
        _, place, newest = await self._db.read(store.place_now, workspace_id)
        looked_at = workspace_id in self._still and place is not None and place.changed_at is None
        if not self._local or place is None or looked_at:
            return newest
        self._still.add(workspace_id)  # before the save: one that wakes meanwhile is saved again
        with suppress(OutlastError):
            await self.take(workspace_id, "sleep")
        return await self._db.read(store.newest_of, workspace_id)

    async def holds(self, workspace_id: str, paths: Collection[str]) -> frozenset[str]:
        """The paths that are files of the workspace now: in its folder if that is here, otherwise in its newest
        checkpoint. No sandbox is woken; for one with its own disk the checkpoint counts. An unreadable checkpoint
        raises as in `tree`."""
        _, place, newest = await self._db.read(store.place_now, workspace_id)
        if place is None:
            return frozenset()
        # While the folder is replaced, it holds neither the old files nor the new ones.
        if self._local and workspace_id not in self._moving and self._is_here(place):
            return await anyio.to_thread.run_sync(files_in_folder, self._folder(workspace_id), paths)
        return frozenset() if newest is None else files_in_tree(await self.tree(newest), paths)

    # --- called by the sandbox manager

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        """Its processes may change files at any time."""
        self._still.discard(row.workspace_id)

    def asleep(self, row: SandboxRecord) -> None:
        """The next save includes its last changes."""
        self._still.discard(row.workspace_id)

    # --- inner steps; the workspace's lock is held

    async def _exchange(
        self, place: WorkspaceRow, target: CheckpointData | NewCheckpoint, sandbox: Sandbox | None
    ) -> CheckpointData:
        """Make the workspace's files those of `target`, wherever they are stored."""
        now = await self._db.write(store.begin_restore, target)  # first: after a kill, the next use does the rest
        if self._local and self._is_here(place):
            await self._place(place.id)
            await self._db.write(places.back, place.id, self._node_id)
        elif sandbox is not None:  # otherwise the files are in no place: the next start restores them
            tree = await self.tree(now)
            with translated():
                await fill_sandbox(untranslated(sandbox), tree, self._blobs)
        return now

    async def _evict(self, workspace_id: str) -> None:
        """Save unsaved changes, then remove the folder if allowed."""
        async with self._locks[workspace_id]:
            await self._take(NewCheckpoint(workspace_id, "sleep"), None)
            # After a kill here the folder stays unused until it is restored over.
            if await self._db.write(places.evict, workspace_id, self._ttl):
                # First: what is known of this folder must not count for a later one.
                self._memories.forget(workspace_id)
                await anyio.to_thread.run_sync(remove_folder, self._folder(workspace_id))

    async def _serve(self, tasks: TaskGroup) -> None:
        """Save the reported workspaces in parallel."""
        while True:
            news = self._news  # before the list: a report meanwhile wakes it again
            for workspace_id in list(self._wanted):
                attempt = self._guard.attempt
                tasks.start_soon(attempt, kinds.WORKSPACE_CHECKPOINT, workspace_id, self._settle, workspace_id)
            await news.wait()

    async def _settle(self, workspace_id: str) -> None:
        """As `settled`; raises the error."""
        sandbox = None
        if not self._local and workspace_id in self._wanted:
            with suppress(OutlastError):
                sandbox = await self._find(workspace_id)
        # Locked: its save may already be running.
        if workspace_id in self._wanted or self._locks[workspace_id].locked():
            async with self._locks[workspace_id]:
                await self._take_wanted(workspace_id, sandbox)

    async def _take_wanted(self, workspace_id: str, sandbox: Sandbox | None) -> None:
        wanted = self._wanted.pop(workspace_id, None)  # before the save: a change during it is reported again
        if wanted is None:
            return
        run_id, effect_id = wanted
        try:
            await self._take(NewCheckpoint(workspace_id, "tool", run_id=run_id, effect_id=effect_id), sandbox)
        except InvalidRequest as error:  # too much to save, until some of it is removed inside
            _log_failure(workspace_id, error)

    async def _take(
        self, new: NewCheckpoint, sandbox: Sandbox | None, *, upon_nothing: bool = False
    ) -> CheckpointData | None:
        """`upon_nothing`: without reading the newest checkpoint, which may be unreadable."""
        since, place, newest = await self._db.read(store.place_now, new.workspace_id)
        if place is None or (self._local and not self._is_here(place)):
            return None
        if sandbox is not None and not self._local:
            new = replace(new, fence=sandbox.fence)
        before = EMPTY if newest is None or upon_nothing else await self.tree(newest)
        saved = await self._save(place, before, sandbox)
        if saved is None:
            return None
        self._memories.put(new.workspace_id, saved.memory)  # also if nothing has changed: it is not read again
        if saved.manifest:
            return await self._record(new, saved, since)
        if place.changed_at is not None and saved.whole:  # read, and equal to its checkpoint
            await self._db.write(places.mark_kept, new.workspace_id, since)
        return None

    async def _save(self, place: WorkspaceRow, before: Tree, sandbox: Sandbox | None) -> Saved | None:
        workspace_id, without = place.id, self._layers_of(place.template)
        memory = self._memories.held(workspace_id)
        if memory is None:
            memory = await anyio.to_thread.run_sync(self._memories.of, workspace_id)
        most = self._settings.disk_mb * MEBIBYTE * ROOM
        if sandbox is not None and not self._local:
            with translated():
                inner = untranslated(sandbox)
                return await save_sandbox(inner, before, memory, self._blobs, self._locate, most)
        if not self._local:
            return None
        try:
            folder = self._folder(workspace_id)
            with translated():
                return await save_folder(folder, before, memory, self._blobs, self._locate, most, without)
        except OSError as error:  # its row is still marked as changed: `look_after` tries again
            _log_failure(workspace_id, error)
            return None

    async def _record(self, new: NewCheckpoint, saved: Saved, since: datetime) -> CheckpointData:
        tree = saved.tree
        new = replace(new, tree=saved.manifest, packed=saved.packed, files=tree.files, size_bytes=tree.size_bytes)
        # Incomplete: the workspace stays marked as changed.
        data = await self._db.write(store.add, new, since if saved.whole else None)
        self._trees.put(saved.manifest, tree)
        return data

    async def _place(self, workspace_id: str) -> None:
        """Make the folder hold the newest checkpoint. Meanwhile its row marks the folder as invalid."""
        _, place, newest = await self._db.read(store.place_now, workspace_id)
        if place is None or newest is None:
            return
        tree, without = await self.tree(newest), self._layers_of(place.template)
        self._memories.forget(workspace_id)
        with anyio.CancelScope(shield=True):  # a thread cannot be stopped: the lock is held until it has ended
            await anyio.to_thread.run_sync(self._write_folder, workspace_id, tree, without)

    async def _keep_newer(self, workspace_id: str) -> None:
        """A folder that is about to be replaced by a checkpoint may have files without a checkpoint: after a manual
        restore, a lost node id, or a crash of the machine. Then it is moved aside, and the log has its new path."""
        newest = await self._db.read(store.newest_of, workspace_id)
        if newest is None:
            return
        folder, taken = self._folder(workspace_id), datetime.fromisoformat(newest.created_at).timestamp()
        if await anyio.to_thread.run_sync(has_newer, folder, taken):
            await anyio.to_thread.run_sync(self._move_aside, workspace_id)

    def _move_aside(self, workspace_id: str) -> None:
        kept = move_aside(self._data_dir, self._folder(workspace_id), self._clock.now())
        if kept is not None:
            self._memories.forget(workspace_id)
            facts = {"workspace_id": workspace_id, "kept_in": str(kept)}
            log.warning("a workspace folder was replaced and kept", extra=facts)

    def _write_folder(self, workspace_id: str, tree: Tree, without: Collection[str]) -> None:
        with translated():
            place_tree(self._folder(workspace_id), tree, self._blobs, without)
        self._unsynced.note(workspace_id)  # before its row marks the folder as present

    def _sync_folders(self) -> None:
        for workspace_id in self._unsynced.noted():
            if self._unsynced.in_doubt(workspace_id):  # the machine crashed since: it is restored, not synced
                continue
            with suppress(OSError):  # retried in the next round
                self._unsynced.sync(workspace_id, self._folder(workspace_id))

    async def _locate(self, hashes: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        return await self._db.read(store.located, set(hashes))

    def _is_here(self, place: WorkspaceRow) -> bool:
        """True if the folder on this machine is the workspace's."""
        ours = place.node_id in (None, self._node_id) and place.evicted_at is None
        return ours and self._folder(place.id).is_dir() and not self._unsynced.in_doubt(place.id)

    def _folder(self, workspace_id: str) -> Path:
        return self._data_dir / "workspaces" / workspace_id

    @property
    def _ttl(self) -> timedelta:
        return timedelta(minutes=self._settings.volume_ttl_minutes)


@contextmanager
def _explaining_unreadable() -> Iterator[None]:
    """Report files that cannot be restored with the ways out, of which a user has to choose one."""
    try:
        yield
    except (StoredFileMissing, StoredFileDamaged) as error:
        what = "missing" if isinstance(error, StoredFileMissing) else "damaged"
        raise WorkspaceUnreadable(
            f"The files of this workspace cannot be restored: a stored file is {what}.", **error.fields
        ) from error


def _log_failure(workspace_id: str, error: OutlastError | OSError) -> None:
    code = error.code if isinstance(error, OutlastError) else type(error).__name__
    facts = {"workspace_id": workspace_id, "code": code, "reason": str(error)}
    log.warning("workspace not saved", extra=facts)
