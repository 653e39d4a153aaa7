"""One sandbox for each workspace that needs one: made at the first use, found again, woken, put to sleep,
replaced."""

import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast.base.clock import Clock
from outlast.base.errors import SandboxLost
from outlast.base.settings import SandboxSettings
from outlast.core.sandboxes import store
from outlast.core.sandboxes.folders import remove_folder
from outlast.core.sandboxes.interface import Limits, Sandbox, SandboxProvider, SandboxSpec
from outlast.core.sandboxes.rules import (
    Idle,
    PauseKind,
    State,
    Step,
    awake_allowed,
    idle_step,
    is_alive,
    may_become,
    must_thaw,
    step_to_use,
    to_stop,
)
from outlast.core.sandboxes.store import Announce, SandboxRow, announce_to_project
from outlast.db.database import Database

TOUCH_EVERY_S: Final = 30.0
FAILED_START_S: Final = 20.0
MEBIBYTE: Final = 1024 * 1024


class SandboxManager:
    """Joins provider, rows and files. Files of a workspace lie in `data_dir/workspaces/<workspace id>` and stay for as
    long as its owner.

    In memory: handles on living sandboxes (open sockets, found again by ref after a restart) and one lock per
    workspace, so that two calls never make two sandboxes. Every change of state is told through `announce`, in its
    transaction.
    """

    def __init__(
        self,
        db: Database,
        provider: SandboxProvider,
        clock: Clock,
        settings: SandboxSettings,
        data_dir: Path,
        *,
        node_id: str = "local",
        announce: Announce = announce_to_project,
    ) -> None:
        self._db = db
        self._provider = provider
        self._clock = clock
        self._settings = settings
        self._data_dir = data_dir
        self._node_id = node_id
        self._announce = announce
        self._handles: dict[str, Sandbox] = {}
        self._locks: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        self._touched: dict[str, float] = {}
        self._room = (
            anyio.Lock()
        )  # taken inside a workspace's lock; nobody waits for a workspace's lock inside it
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._allowed = awake_allowed(settings.max_awake, memory, settings.memory_mb * MEBIBYTE)

    @property
    def provider(self) -> SandboxProvider:
        return self._provider

    def workspace_dir(self, workspace_id: str) -> Path:
        """Where the workspace's files lie on this machine; read them through a sandbox, never directly."""
        return self._data_dir / "workspaces" / workspace_id

    async def ensure(self, workspace_id: str, project_id: str) -> Sandbox:
        """A sandbox that is awake: the one there is, woken or found again; else a new one over the same files.

        Raises `SandboxUnavailable` when none can be made. Repeatable. A cancelled call leaves either a usable
        sandbox or none. The id of the answer tells whether it is still the one that a command was started in.
        """
        async with self._locks[workspace_id]:
            row = await self._db.read(store.newest, workspace_id)
            sandbox = await self._wake(row) if row is not None else None
            if sandbox is None:
                sandbox = await self._create(workspace_id, project_id)
            await self._touch(sandbox.sandbox_id, workspace_id)
            return sandbox

    async def find(self, workspace_id: str) -> Sandbox | None:
        """The workspace's sandbox if it lives, awake; never makes one."""
        async with self._locks[workspace_id]:
            row = await self._db.read(store.newest, workspace_id)
            if row is None or row.life.pause_kind is PauseKind.STOPPED:
                return None
            return await self._wake(row)

    async def freeze(self, workspace_id: str) -> None:
        """Put it to sleep with its memory; where the provider cannot, kill it. Nothing happens unless it is awake."""
        async with self._locks[workspace_id]:
            row = await self._db.read(store.newest, workspace_id)
            if row is not None and row.life.state is State.READY:
                await self._freeze(row)

    async def thaw(self, workspace_id: str) -> None:
        """Wake a frozen sandbox. Nothing happens when there is none, or it is awake, or stopped."""
        await self.find(workspace_id)

    async def stop(self, workspace_id: str) -> None:
        """End its processes and keep its place: the next use starts it again over the same files."""
        async with self._locks[workspace_id]:
            row = await self._db.read(store.newest, workspace_id)
            if row is not None and row.life.state in (State.READY, State.PAUSED):
                await self._stop(row)

    async def kill(self, workspace_id: str) -> None:
        """End it for good; the files stay. Fine when there is none."""
        async with self._locks[workspace_id]:
            row = await self._db.read(store.newest, workspace_id)
            if row is not None and is_alive(row.life.state):
                await self._end(row, State.KILLED)

    async def stop_commands(self, workspace_id: str, effect_ids: Sequence[str]) -> None:
        """End these commands and evaluations with all that they started. Fine when they have ended or there is no
        sandbox."""
        sandbox = await self.find(workspace_id)
        if sandbox is None:
            return
        with suppress(SandboxLost):
            for effect_id in effect_ids:
                await sandbox.kill_command(effect_id)

    async def pause_idle(self, busy: Collection[str] = ()) -> None:
        """Freeze, stop or kill what has been idle for as long as the settings say, but no workspace named in
        `busy`; and stop what is awake beyond the limit, which holds back nobody who is at work."""
        settings = self._settings
        async with self._room:
            await self._make_room(0)
        for row in await self._db.read(store.alive_on, self._provider.name, self._node_id):
            if row.workspace_id in busy:
                continue
            async with self._locks[row.workspace_id]:
                fresh = await self._db.read(store.newest, row.workspace_id)
                if fresh is None or fresh.id != row.id:
                    continue
                idle_s = (self._clock.now() - fresh.last_used_at).total_seconds()
                match idle_step(
                    fresh.life, idle_s, settings.idle_pause_s, settings.stop_after_s, settings.kill_after_s
                ):
                    case Idle.FREEZE:
                        await self._freeze(fresh)
                    case Idle.STOP:
                        await self._stop(fresh)
                    case Idle.KILL:
                        await self._end(fresh, State.KILLED)

    async def collect(self) -> None:
        """End the sandboxes and remove the files of workspaces whose owner was deleted. Repeatable; what a killed
        server did not get to is done by the next call."""
        for workspace_id in await self._db.read(store.garbage, self._node_id):
            async with self._locks[workspace_id]:
                handle = self._handles.pop(workspace_id, None)
                if handle is not None:
                    with suppress(SandboxLost):
                        await handle.kill()
                await self._end_unknown()
                try:
                    await anyio.to_thread.run_sync(remove_folder, self.workspace_dir(workspace_id))
                except OSError:  # tried again with the next collection
                    continue
                await self._db.write(store.collected, workspace_id)

    async def reconcile(self) -> None:
        """At the server's start: keep what lives, mark what vanished as lost, end what no row knows, collect what a
        deleted owner left. Repeatable."""
        refs = dict(await self._provider.list_refs())
        for row in await self._db.read(store.alive_on, self._provider.name, self._node_id):
            if row.life.state is State.CREATING or not await self._adopt(row, refs.get(row.id)):
                if row.life.pause_kind is not PauseKind.STOPPED:
                    await self._change(row, State.LOST)
            else:
                refs.pop(row.id)
        await self._end_all(refs)
        await self.collect()

    async def aclose(self) -> None:
        """Drop every connection; the sandboxes live on for the next server."""
        handles, self._handles = self._handles, {}
        for sandbox in handles.values():
            await sandbox.aclose()

    def statistics(self) -> dict[str, int]:
        return {"connected": len(self._handles)}

    async def _end_unknown(self) -> None:
        """Every sandbox has its row before it exists: one without has lost its owner."""
        refs = dict(await self._provider.list_refs())
        without = await self._db.read(store.unknown, refs.keys())
        await self._end_all({sandbox_id: refs[sandbox_id] for sandbox_id in without})

    async def _end_all(self, refs: Mapping[str, str]) -> None:
        for sandbox_id, ref in refs.items():
            with suppress(SandboxLost):
                orphan = await self._provider.connect(sandbox_id, ref)
                await orphan.kill()

    async def _adopt(self, row: SandboxRow, ref: str | None) -> bool:
        """Whether the recorded sandbox still lives; one that was left half asleep is woken."""
        if ref is None or ref != row.ref:
            return False
        try:
            sandbox = self._handles[row.workspace_id] = await self._provider.connect(row.id, row.ref)
            if must_thaw(row.life):
                await sandbox.thaw()
                await self._change(row, State.READY)
        except SandboxLost:
            self._handles.pop(row.workspace_id, None)
            return False
        return True

    async def _wake(self, row: SandboxRow) -> Sandbox | None:
        """A handle on the recorded sandbox, awake; None when a new one is needed, with the row closed."""
        handle = self._handles.get(row.workspace_id)
        if handle is not None and handle.sandbox_id != row.id:
            handle = None
        step = step_to_use(row.life, handle is not None)
        if step is Step.RESTART:
            return await self._restart(row)
        if step is Step.CREATE:
            if is_alive(row.life.state):
                await self._end(row, State.LOST)
            return None
        try:
            sandbox = handle or await self._provider.connect(row.id, row.ref)
            await sandbox.statistics()
            if row.life.state is not State.READY:
                await self._thaw(row, sandbox)
        except SandboxLost:
            self._handles.pop(row.workspace_id, None)
            await self._change(row, State.LOST)
            return None
        self._handles[row.workspace_id] = sandbox
        return sandbox

    async def _thaw(self, row: SandboxRow, sandbox: Sandbox) -> None:
        if may_become(row.life.state, State.RESUMING):
            await self._change(row, State.RESUMING)
        await sandbox.thaw()
        await self._change(row, State.READY)

    async def _freeze(self, row: SandboxRow) -> None:
        sandbox = await self._wake(row)
        if sandbox is None:
            return
        if not self._provider.capabilities.pause:
            await self._end(row, State.KILLED)
            return
        await self._change(row, State.PAUSING)
        await sandbox.freeze()
        await self._change(row, State.PAUSED, PauseKind.FROZEN)

    async def _stop(self, row: SandboxRow) -> None:
        if row.life.state is State.READY:
            await self._change(row, State.PAUSING)
        await self._kill_processes(row)
        await self._change(row, State.PAUSED, PauseKind.STOPPED)

    async def _end(self, row: SandboxRow, state: State) -> None:
        await self._kill_processes(row)
        await self._change(row, state)

    async def _kill_processes(self, row: SandboxRow) -> None:
        sandbox = self._handles.pop(row.workspace_id, None)
        self._touched.pop(row.id, None)
        with suppress(SandboxLost):
            if sandbox is None or sandbox.sandbox_id != row.id:
                if not row.ref:
                    return
                sandbox = await self._provider.connect(row.id, row.ref)
            await sandbox.kill()

    async def _create(self, workspace_id: str, project_id: str) -> Sandbox:
        name, node = self._provider.name, self._node_id
        async with self._room:
            await self._make_room(1)
            with anyio.CancelScope(shield=True):  # or the row might be there with nobody to start or close it
                row = await self._db.write(store.add, workspace_id, project_id, name, node, self._announce)
        return await self._start(row)

    async def _restart(self, row: SandboxRow) -> Sandbox:
        async with self._room:
            await self._make_room(1)
            await self._change(row, State.RESUMING)
        return await self._start(row)

    async def _make_room(self, coming: int) -> None:
        """Stop what rests until so many more may be awake. One that somebody is using at this moment is let be."""
        awake = await self._db.read(store.awake_on, self._provider.name, self._node_id)
        chosen = to_stop([waking for _, waking in awake], self._allowed, coming)
        for row in [row for row, _ in awake if row.id in chosen]:
            try:
                self._locks[row.workspace_id].acquire_nowait()
            except anyio.WouldBlock:
                continue
            try:
                await self._stop_for_room(row)
            finally:
                self._locks[row.workspace_id].release()

    async def _stop_for_room(self, seen: SandboxRow) -> None:
        row = await self._db.read(store.newest, seen.workspace_id)
        if row is not None and row.life == seen.life and row.last_used_at == seen.last_used_at:
            await self._stop(row)
            await self._db.write(store.tell_stopped, row, self._announce)

    async def _start(self, row: SandboxRow) -> Sandbox:
        """Start the recorded sandbox; a failed or cancelled start closes its row."""
        sandbox = None
        try:
            sandbox = await self._provider.create(self._spec(row))
            await self._change(row, State.READY, ref=sandbox.ref)
        except BaseException:
            with anyio.move_on_after(FAILED_START_S, shield=True):
                if sandbox is not None:
                    await sandbox.kill()
                await self._change(row, State.LOST)
            raise
        self._handles[row.workspace_id] = sandbox
        return sandbox

    def _spec(self, row: SandboxRow) -> SandboxSpec:
        settings = self._settings
        limits = Limits(
            memory_bytes=settings.memory_mb * MEBIBYTE,
            cpu_count=settings.cpus,
            processes=settings.processes,
            disk_bytes=settings.disk_mb * MEBIBYTE,
            output_bytes=settings.output_bytes,
        )
        return SandboxSpec(row.id, self.workspace_dir(row.workspace_id), limits)

    async def _change(
        self, row: SandboxRow, state: State, pause_kind: PauseKind | None = None, *, ref: str | None = None
    ) -> None:
        """Record what has happened. Shielded: a cancelled write may or may not be kept, and the next reader would not
        know which."""
        with anyio.CancelScope(shield=True):
            await self._db.write(store.change, row.id, state, self._announce, pause_kind=pause_kind, ref=ref)

    async def _touch(self, sandbox_id: str, workspace_id: str) -> None:
        """Record the use, at most every half minute: the idle clocks are counted in minutes."""
        now = self._clock.monotonic()
        if now - self._touched.get(sandbox_id, float("-inf")) >= TOUCH_EVERY_S:
            self._touched[sandbox_id] = now
            await self._db.write(store.touch, sandbox_id, workspace_id)
