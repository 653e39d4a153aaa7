"""The steps of one sandbox's life: the provider's call, and the row that records it.

The caller holds the workspace's lock (`manager.py`), so that each step sees the row as the last one left it.
"""

import logging
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import anyio

from outlast.base.errors import OutlastError, SandboxLost, SandboxUnavailable
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes import leases, store
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.hosted import BASE
from outlast.kernel.sandboxes.hosted import find as find_hosted
from outlast.kernel.sandboxes.rules import PauseKind, State, Step, can_become, is_alive, is_half_awake, step_to_use
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.sizes import limits_of
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.sandboxes.templates import Template, Templates, preview_environment
from outlast_sandbox.interface import Orphan, Sandbox, SandboxProvider, SandboxSpec

FAILED_START_S: Final = 20.0  # to end a half-started sandbox; its row is closed in any case
ANSWERED_S: Final = 10.0  # an agent that answered is not asked again for this long
log = logging.getLogger("outlast.sandboxes")


class Attendant(Protocol):
    """A service that works with a sandbox while it is awake. Called inside the step: it must neither wait nor raise."""

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        """It is awake and connected; called again after each sleep and each restart of the server."""

    def asleep(self, row: SandboxRecord) -> None:
        """It is about to be frozen, or is gone: stop using it."""


class WayOut(Protocol):
    """The network access of sandboxes. Called inside the step: neither `open` nor `close` waits or raises."""

    async def prepare(self, row: SandboxRecord, spec: SandboxSpec) -> SandboxSpec:
        """The spec of a sandbox about to start, completed."""

    def open(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        """It is awake; called again after each sleep and each restart of the server."""

    def close(self, sandbox_id: str, *, for_good: bool) -> None:
        """Its processes are ended; `for_good`: it never starts again."""


class Lives:
    """In memory: handles on living sandboxes by workspace (open sockets, found again by ref after a restart).

    Set these before the first step: `templates` (by name, the needs of their workspaces), `files` (restores a
    workspace's files before a sandbox starts, and saves them before one is ended), `snapshots` (the snapshots that
    sandboxes start from), `way_out`; `attendants` are called for every sandbox that wakes or falls asleep. `node_id` is
    set if every server reaches the sandboxes: then each change is recorded only while this server, of that id, holds
    the workspace's lease (`leases.py`)."""

    def __init__(self, db: Database, provider: SandboxProvider, settings: SandboxSettings, data_dir: Path) -> None:
        self._db, self._settings, self._data_dir = db, settings, data_dir
        self.provider = provider
        self.templates: Templates = {}
        self.handles: dict[str, Sandbox] = {}
        self.attendants: list[Attendant] = []
        self._answered: dict[str, float] = {}  # time of its agent's last answer, by sandbox
        self._awake: dict[str, SandboxRecord] = {}  # those reported to attendants as awake, by workspace
        self.snapshots: SnapshotKeeper | None = None
        self.way_out: WayOut | None = None
        self.files: CheckpointKeeper | None = None
        self.node_id: str | None = None

    def workspace_dir(self, workspace_id: str) -> Path:
        return self._data_dir / "workspaces" / workspace_id

    def template(self, name: str | None) -> Template | None:
        """The app template of this name, or None if there is no name, or this server no longer has it."""
        return None if name is None else self.templates.get(name)

    async def wake(self, row: SandboxRecord) -> Sandbox | None:
        """A handle on the recorded sandbox, awake; None if a new one is needed, with the row closed."""
        handle = self._handle(row)
        step = step_to_use(row.life, handle is not None)
        if step is Step.CREATE:
            if is_alive(row.life.state):
                await self.end(row, State.LOST)
            return None
        try:
            sandbox = handle or await self._connect(row)
            await sandbox.statistics()  # shows if it exists at all; a sleeping one does not wait here
            if row.life.state is not State.READY:
                await self._thaw(row, sandbox)
            elif self.node_id is not None:
                await sandbox.thaw()  # this handle may still be asleep: another server woke it
        except SandboxLost:
            await self.lose(row)
            return None
        if not await self._answers(sandbox):
            await self.end(row, State.LOST)  # not only lost: its processes would run in parallel with the next one's
            return None
        if step is not Step.USE or row.workspace_id not in self._awake:  # otherwise its attendants already know it
            self._keep(row, sandbox)
        return sandbox

    async def use(self, row: SandboxRecord) -> Sandbox | None:
        """A handle on a sandbox that is recorded as awake and that every server reaches; None if it does not answer.
        Records nothing, so it needs no lease."""
        known = self._handle(row)
        try:
            sandbox = known or await self._connect(row)
            await sandbox.thaw()  # as in `wake`; nothing for one that is awake
            await sandbox.statistics()
        except SandboxLost:
            return None
        if not await self._answers(sandbox):
            return None
        if known is None or row.workspace_id not in self._awake:
            self._keep(row, sandbox)
        return sandbox

    def awake_in(self, project_id: str | None) -> list[str]:
        """The workspaces of the project (None: of all) whose sandboxes are reported as awake."""
        return [key for key, row in self._awake.items() if project_id in (None, row.project_id)]

    def follow(self, workspace_id: str, newest: SandboxRecord | None) -> None:
        """Another server may have changed the workspace's sandbox to `newest`: one that sleeps or is gone is no longer
        used."""
        known = self._awake.get(workspace_id)
        if known is None or (newest is not None and newest.id == known.id and newest.life.state is State.READY):
            return
        self._asleep(known)
        if newest is None or newest.id != known.id or not is_alive(newest.life.state):
            self.handles.pop(workspace_id, None)
            self._shut(known.id, for_good=True)

    async def connect(self, row: SandboxRecord) -> Sandbox:
        """A handle on the recorded sandbox as it is, awake or frozen. Raises `SandboxLost`."""
        return self._handle(row) or await self._connect(row)

    async def _connect(self, row: SandboxRecord) -> Sandbox:
        """A new handle. One that carries a lower number than its row is of an earlier start, and is ended."""
        sandbox = await self.provider.connect(row.id, row.ref)
        if self.node_id is not None and 0 < sandbox.fence < row.fence:
            await sandbox.kill()
            raise SandboxLost("The sandbox was replaced by another.", sandbox_id=row.id)
        return sandbox

    async def freeze(self, row: SandboxRecord) -> None:
        """Put it to sleep with its memory; if the provider cannot, kill it."""
        sandbox = await self.wake(row)
        if sandbox is None:
            return
        if not self.provider.capabilities.pause:
            await self.end(row, State.KILLED)
            return
        self._asleep(row)  # before it sleeps: a running health check would count as missed
        await self.change(row, State.PAUSING)  # after a kill here the next server finds it half awake, and thaws it
        try:
            await sandbox.freeze()
        except SandboxUnavailable:
            await self.change(row, State.READY)
            self._keep(row, sandbox)
            raise
        await self.change(row, State.PAUSED, PauseKind.FROZEN)

    async def stop(self, row: SandboxRecord) -> None:
        """End its processes and keep its place."""
        if row.life.state is State.READY:
            await self.change(row, State.PAUSING)
        await self._kill_processes(row)  # after a kill here no provider lists it, and the next server marks it as lost
        await self.change(row, State.PAUSED, PauseKind.STOPPED)

    async def end(self, row: SandboxRecord, state: State, why: OutlastError | None = None) -> None:
        """End it for good; `why` is published with it."""
        # After a kill here the next server finds a row without a sandbox, and marks it as lost.
        await self._kill_processes(row)
        self._shut(row.id, for_good=True)
        await self.change(row, state, why=why)

    async def lose(self, row: SandboxRecord) -> None:
        """Record that it was found gone."""
        self.handles.pop(row.workspace_id, None)
        self._asleep(row)
        self._shut(row.id, for_good=True)
        await self.change(row, State.LOST)

    async def start(self, row: SandboxRecord) -> Sandbox:
        """Start the recorded sandbox; a failed or cancelled start closes its row."""
        sandbox = None
        try:
            if self.files is not None:
                await self.files.bring_back(row.workspace_id)
            # After a kill here the row is `creating`, and the next server ends it.
            sandbox = await self.provider.create(await self.spec(row))
            if self.files is not None:
                await self.files.fill(row.workspace_id, sandbox)
            host = sandbox.host if self.node_id is not None else None
            await self.change(row, State.READY, ref=sandbox.ref, host=host)
        except BaseException:  # a cancelled start too: no other code knows of the sandbox
            with anyio.move_on_after(FAILED_START_S, shield=True):
                try:
                    if sandbox is not None:
                        await sandbox.kill()
                finally:  # one that cannot be ended is an orphan; its row must not wait for it
                    self._shut(row.id, for_good=True)
                    # It may be recorded as ready without an answer. No caller has it: nothing began there.
                    await self._close(row)
            raise
        self._keep(row, sandbox)
        return sandbox

    async def adopt(self, row: SandboxRecord, ref: str | None) -> bool:
        """True if the recorded sandbox still lives; one that was left half asleep is woken."""
        if ref is None or ref != row.ref:  # gone, or started again without a record
            return False
        try:
            sandbox = await self._connect(row)
            if row.life.pause_kind is None:  # it may have been frozen because no server was there
                await sandbox.thaw()
            if is_half_awake(row.life):
                await self.change(row, State.READY)
            if row.life.pause_kind is None:
                await sandbox.ping()
        except SandboxLost:
            return False  # `reconcile` ends it if it lives and does not answer
        self.handles[row.workspace_id] = sandbox
        if row.life.pause_kind is None:
            self._keep(row, sandbox)
        return True

    async def drop(self, workspace_id: str) -> None:
        """End any sandbox that this server holds for a workspace without a row."""
        handle = self.handles.pop(workspace_id, None)
        if handle is not None:
            if workspace_id in self._awake:
                self._asleep(self._awake[workspace_id])
            self._shut(handle.sandbox_id, for_good=True)
            with suppress(SandboxLost):
                await handle.kill()

    async def spec(self, row: SandboxRecord) -> SandboxSpec:
        """The spec to start it with. Programs that request a sandbox through an API find their files in its home
        folder."""
        hosted = await self._db.read(find_hosted, row.workspace_id)
        template = await self._template_of(row)
        spec = SandboxSpec(
            row.id,
            self.workspace_dir(row.workspace_id),
            limits_of(self._settings, template),
            env={} if hosted is None else hosted.env,
            home_is_workspace=hosted is not None,
            orphan=Orphan(self._settings.idle_pause_s, self._settings.orphan_minutes * 60),
            fence=row.fence,
        )
        if template is not None:
            env = {**template.env, **preview_environment(self._settings)}
            spec = replace(spec, env=env, layers=template.layers)
        named, app = (hosted.template if hosted else None), (template.name if template else "")
        spec = replace(spec, snapshot_ref=await self._snapshot_ref(row, named, app))
        return spec if self.way_out is None else await self.way_out.prepare(row, spec)

    async def _answers(self, sandbox: Sandbox) -> bool:
        """True if the agent in an awake sandbox answers, or did a moment ago."""
        now = time.monotonic()
        if now - self._answered.get(sandbox.sandbox_id, float("-inf")) < ANSWERED_S:
            return True
        with suppress(SandboxLost):
            await sandbox.ping()
            self._answered[sandbox.sandbox_id] = now
            return True
        return False

    async def _template_of(self, row: SandboxRecord) -> Template | None:
        name = (await self._db.read(store.templates_of, [row.workspace_id])).get(row.workspace_id)
        if name is not None and name not in self.templates:
            log.warning("unknown app template", extra={"template": name, "workspace_id": row.workspace_id})
        return self.template(name)

    async def _snapshot_ref(self, row: SandboxRecord, named: str | None, app: str) -> str:
        """The ref of the configured snapshot, of the app template's, or of the one requested by name; empty for the
        bare base."""
        if self.snapshots is None or named == BASE:
            return ""
        return await self.snapshots.start_from(row.id, row.project_id, named, app)

    async def change(
        self,
        row: SandboxRecord,
        state: State,
        pause_kind: PauseKind | None = None,
        *,
        ref: str | None = None,
        why: OutlastError | None = None,
        host: str | None = None,
        starts: bool = False,
    ) -> SandboxRecord:
        """Record a change of state, and return the new row. Shielded: a cancelled write may or may not be committed,
        and the next reader would not know. Raises `SandboxUnavailable` if another server has taken over the lease."""

        def record(tx: Tx) -> SandboxRecord:
            self.demand(tx, row.workspace_id)
            return store.change(tx, row.id, state, pause_kind=pause_kind, ref=ref, why=why, host=host, starts=starts)

        changed = row
        with anyio.CancelScope(shield=True):
            changed = await self._db.write(record)
        return changed  # noqa: RET504  # a scope may suppress an exception, as far as types show

    def demand(self, tx: Tx, workspace_id: str) -> None:
        """Raise `SandboxUnavailable` if another server has taken over the workspace's lease."""
        if self.node_id is not None:
            leases.demand(tx, leases.STEP + workspace_id, self.node_id)

    async def _close(self, row: SandboxRecord) -> None:
        """Record that a start failed, unless another server has taken it over and done so."""
        try:
            await self.change(row, State.LOST, ref=row.ref)
        except SandboxUnavailable:
            if self.node_id is None:
                raise

    async def aclose(self) -> None:
        """Close every connection; the sandboxes keep running for the next server."""
        handles, self.handles = self.handles, {}
        for sandbox in handles.values():
            await sandbox.aclose()

    async def _thaw(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        if can_become(row.life.state, State.RESUMING):
            await self.change(row, State.RESUMING)
        await sandbox.thaw()
        await self.change(row, State.READY)

    async def _kill_processes(self, row: SandboxRecord) -> None:
        self._asleep(row)
        self._shut(row.id, for_good=False)  # it may start again, with the same placeholders
        sandbox = self._handle(row)
        self.handles.pop(row.workspace_id, None)
        with suppress(SandboxLost):
            if sandbox is None:
                if not row.ref:  # it never started
                    return
                sandbox = await self._connect(row)
            if self.node_id is not None:
                await self._db.write(self.demand, row.workspace_id)  # suspended until now, it would end another's
            if self.files is not None:
                if row.life.state is not State.READY and not self.provider.capabilities.volume:
                    await sandbox.thaw()  # its files are inside, and its agent does not answer while it sleeps
                await self.files.leave(row.workspace_id, sandbox)  # if its disk is removed with it
            await sandbox.kill()

    def _handle(self, row: SandboxRecord) -> Sandbox | None:
        handle = self.handles.get(row.workspace_id)
        if handle is None or handle.sandbox_id != row.id:  # an older one's
            return None
        if self.node_id is not None and handle.ref != row.ref:  # another server has started it again
            return None
        return handle

    def _keep(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        self.handles[row.workspace_id] = sandbox
        self._awake[row.workspace_id] = row
        for attendant in self.attendants:
            attendant.awake(row, sandbox)
        if self.way_out is not None:
            self.way_out.open(row, sandbox)

    def _shut(self, sandbox_id: str, *, for_good: bool) -> None:
        self._answered.pop(sandbox_id, None)
        if self.way_out is not None:
            self.way_out.close(sandbox_id, for_good=for_good)

    def _asleep(self, row: SandboxRecord) -> None:
        self._awake.pop(row.workspace_id, None)
        for attendant in self.attendants:
            attendant.asleep(row)
