"""One sandbox for each workspace that needs one: created at the first use, reconnected, woken, paused, replaced."""

import os
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL
from typing import Final

import anyio

from outlast.base.clock import Clock
from outlast.base.errors import NotFound, SandboxLost, SandboxUnavailable
from outlast.base.node_errors import SandboxElsewhere
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database, Tx
from outlast.kernel.nodes import store as nodes
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.leases import ATTEND, LEASE_S, STEP, Leases, holder
from outlast.kernel.sandboxes.lifecycle import Attendant, Lives
from outlast.kernel.sandboxes.rules import PauseKind, State, Step, choose_to_stop, is_alive, is_awake, step_to_use
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.sizes import MEBIBYTE, awake_allowed, places_taken
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.sandboxes.translation import translated_provider
from outlast_sandbox.checkpoints.replaced_folders import KEPT
from outlast_sandbox.interface import Sandbox, SandboxProvider, SandboxStatistics
from outlast_sandbox.recent_disk_usage import DiskUsage

TOUCH_EVERY_S: Final = 30.0


class SandboxManager:
    """Joins provider, rows and files. Files of a workspace are stored in `data_dir/workspaces/<workspace id>` until its
    owner is deleted.

    In memory: one lock per workspace, so that two calls never create two sandboxes, and (in `lives`) handles on living
    sandboxes. If every server reaches the sandboxes (`leases` is set), a lease in the database does the same between
    servers, and the rows belong to no node. Every change of state is published in its transaction. Idle sandboxes are
    paused and ended by `idle_policy.py`; leftovers of an earlier server are handled by `orphans.py`.
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
        supervisor: Supervisor | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        self.db = db
        self.clock = clock
        self.settings = settings
        self.data_dir = data_dir
        self.node_id, self._lease_s = node_id, lease_s
        self.guard = (supervisor or Supervisor(clock)).guard
        self.lives = Lives(db, translated_provider(provider), settings, data_dir)
        self.leases = Leases(db, clock, node_id, lease_s) if provider.capabilities.shared else None
        self._rows_of = None if self.leases else node_id
        self._unreachable: dict[str, float] = {}  # since when (monotonic), by host
        if self.leases is not None:
            self.lives.node_id = node_id
        # None is ever dropped: all callers must wait for the same one.
        self.locks: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        self.disk = DiskUsage(clock)
        self.woken = anyio.Event()  # set, and replaced, when one more is awake than before
        self._touched: dict[str, float] = {}
        self._room = anyio.Lock()  # taken inside a workspace's lock; never wait for a workspace's lock inside it
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.awake_allowed = awake_allowed(settings.max_awake, memory, settings.memory_mb * MEBIBYTE)

    @property
    def provider(self) -> SandboxProvider:
        return self.lives.provider

    def layers_of(self, template: str | None) -> tuple[str, ...]:
        """The folders in a workspace of this app template that do not belong to its files."""
        found = self.lives.template(template)
        return found.layers if found is not None else ()

    def attend(self, attendant: Attendant) -> None:
        """Call it from now on when a sandbox wakes or falls asleep."""
        self.lives.attendants.append(attendant)

    def workspace_dir(self, workspace_id: str) -> Path:
        """The path of the workspace's files on this machine; read them through a sandbox, never directly."""
        return self.lives.workspace_dir(workspace_id)

    def folders_of(self, workspace_id: str) -> list[Path]:
        """Every folder of this machine that belongs only to the workspace."""
        return [
            self.workspace_dir(workspace_id),
            self.data_dir / "services" / workspace_id,
            self.data_dir / KEPT / workspace_id,
        ]

    async def ensure(self, workspace_id: str, project_id: str, *, take_over: bool = False) -> Sandbox:
        """A sandbox that is awake: the existing one, woken or reconnected; otherwise a new one over the same files.
        `take_over`: also if a living node has one that this server cannot reach; its processes are lost then.

        Raises `SandboxUnavailable` if none can be created, `SandboxElsewhere`. Repeatable. A cancelled call leaves
        either a usable sandbox or none. Compare its id to see if it is still the one in which a command was started.
        """
        if self.lives.files is not None:
            # Even one that is awake must not be used while its files are replaced.
            await self.lives.files.ready(workspace_id)
        async with self.locks[workspace_id]:
            sandbox = await self._usable_now(workspace_id) if self.leases is not None else None
            if sandbox is None:
                async with self._leased(workspace_id):
                    sandbox = await self._bring_up(workspace_id, project_id, take_over)
            await self._touch(sandbox.sandbox_id, workspace_id)
            return sandbox

    @asynccontextmanager
    async def step(self, workspace_id: str) -> AsyncIterator[None]:
        """Held while the workspace's sandbox is changed: no other call, and no other server, changes it meanwhile."""
        async with self.locks[workspace_id], self._leased(workspace_id):
            yield

    @asynccontextmanager
    async def alone(self, name: str, rest_s: float = 0.0) -> AsyncIterator[bool]:
        """Whether this server is to do the task of this name now. If every server reaches the sandboxes, one of them
        does it at a time, and none for `rest_s` after it."""
        if self.leases is None:
            yield True
            return
        async with self.leases.alone(name, rest_s) as mine:
            yield mine

    async def find(self, workspace_id: str) -> Sandbox | None:
        """The workspace's sandbox if it lives, awake; never creates one."""
        async with self.locks[workspace_id]:
            if self.leases is not None and (usable := await self._usable_now(workspace_id)) is not None:
                return usable
            row = await self._newest(workspace_id)
            if row is None or row.life.pause_kind is PauseKind.STOPPED:  # a restart would create one
                return None
            if self.leases is None:
                return await self.lives.wake(row)
            if not is_alive(row.life.state):
                return None
            async with self._leased(workspace_id):
                row = await self._newest(workspace_id)  # another server may have changed it
                if row is None or row.life.pause_kind is PauseKind.STOPPED:
                    return None
                return await self.lives.wake(row)

    async def measure(self, workspace_id: str) -> SandboxStatistics | None:
        """Its sandbox's current usage, also while it is frozen, without waking it. None if it uses nothing."""
        row = await self._newest(workspace_id)
        # Without the lock, which a start may hold for minutes: it is only read.
        if row is None or not row.ref or not is_awake(row.life):
            return None
        with suppress(SandboxLost):
            return await (await self.lives.connect(row)).statistics()
        return None

    async def log_of(self, workspace_id: str, sandbox_id: str) -> str:
        """The provider's notes about a sandbox while it lives; it is not woken."""
        row = await self._newest(workspace_id)
        if row is None or row.id != sandbox_id or not row.ref or not is_awake(row.life):  # not its successor's log
            return ""
        with suppress(SandboxLost):
            return await (await self.lives.connect(row)).log()
        return ""

    async def freeze(self, workspace_id: str) -> None:
        """Put it to sleep with its memory; if the provider cannot, kill it. Does nothing unless it is awake."""
        async with self.step(workspace_id):
            row = await self._newest(workspace_id)
            if row is not None and row.life.state is State.READY:
                await self.lives.freeze(row)

    async def thaw(self, workspace_id: str) -> None:
        """Wake a frozen or stopped sandbox. Does nothing if there is none, or it is awake."""
        async with self.step(workspace_id):
            row = await self._newest(workspace_id)
            if row is not None and is_alive(row.life.state):
                await self._wake(row)

    async def stop(self, workspace_id: str) -> None:
        """End its processes and keep its place: the next use starts it again over the same files. Repeatable."""
        async with self.step(workspace_id):
            row = await self._newest(workspace_id)
            if row is not None and row.life.state in (State.READY, State.PAUSED) and is_awake(row.life):
                await self.lives.stop(row)

    async def kill(self, workspace_id: str) -> None:
        """End it for good; the files stay. Does nothing if there is none."""
        async with self.step(workspace_id):
            row = await self.db.read(store.newest, workspace_id)
            if row is None or not is_alive(row.life.state):
                return
            if self._is_here(row):
                await self.lives.end(row, State.KILLED)
            else:  # its holder ends it at the next sweep
                await self.lives.change(row, State.KILLED)

    async def stop_commands(self, workspace_id: str, effect_ids: Sequence[str]) -> None:
        """End these commands and evaluations with all their processes, and the processes whose tag names one of these
        effects. Does nothing if they have ended or there is no sandbox."""
        sandbox = await self.find(workspace_id)  # wakes it: a frozen agent does not accept the call
        if sandbox is None:
            return
        with suppress(SandboxLost):
            for effect_id in effect_ids:
                await sandbox.kill_command(effect_id)
            for process in await sandbox.processes.list() if self.provider.capabilities.interactive else ():
                if not set(effect_ids).isdisjoint((process.spec.tag or "").split(" ")):
                    with suppress(NotFound):  # it has just ended
                        await sandbox.processes.signal(process.pid, SIGKILL, group=True)

    async def end_sessions(self, workspace_id: str) -> int:
        """End the idle code sessions in its sandbox, if that is awake; returns their number. A sleeping one is not
        woken."""
        async with self.locks[workspace_id]:
            row = await self._newest(workspace_id)
            if row is None or row.life.state is not State.READY:
                return 0
            with suppress(SandboxLost):
                return await (await self.lives.connect(row)).end_sessions()
            return 0

    async def recorded(self) -> list[SandboxRecord]:
        """Every sandbox that may still have processes, or waits stopped, oldest use first: of this node, or of all if
        every node reaches them."""
        return await self.db.read(store.alive_on, self.provider.name, self._rows_of)

    async def trim(self) -> None:
        """Stop sandboxes beyond the limit, but none that is in use."""
        async with self._room:
            await self._make_room(0)

    async def aclose(self) -> None:
        """Close every connection; the sandboxes keep running for the next server."""
        await self.lives.aclose()

    def _is_here(self, row: SandboxRecord) -> bool:
        """True if this server can reach it: one whose files are stored on a machine belongs to that machine's node."""
        on_a_machine = self.provider.capabilities.volume
        return row.provider == self.provider.name and (row.node_id == self.node_id or not on_a_machine)

    def _require_dead(self, tx: Tx, row: SandboxRecord) -> None:
        """Raise `SandboxElsewhere` if a living node has this sandbox."""
        if row.node_id in (None, self.node_id):
            return
        node = nodes.living(tx, row.node_id, self._lease_s)
        if node is not None:
            raise SandboxElsewhere(
                f"The sandbox runs on {node.host}, beside another server, and cannot be reached through this one.",
                node_id=node.id,
                host=node.host,
            )

    @asynccontextmanager
    async def _leased(self, workspace_id: str) -> AsyncIterator[None]:
        if self.leases is None:
            yield
            return
        async with self.leases.step(workspace_id):
            yield

    async def _usable_now(self, workspace_id: str) -> Sandbox | None:
        """Of sandboxes that every server reaches: the one that is recorded as awake, if no other server changes it."""

        def look(tx: Tx) -> tuple[SandboxRecord | None, str | None]:
            return store.newest(tx, workspace_id), holder(tx, STEP + workspace_id)

        row, changed_by = await self.db.read(look)
        if row is None or row.life.state is not State.READY or not self._is_here(row):
            return None
        if changed_by not in (None, self.node_id):
            return None
        try:
            sandbox = await self.lives.use(row)
        except SandboxUnavailable as error:
            if not await self._is_gone(row, error):
                raise
            return None
        if sandbox is not None:
            self._unreachable.pop(sandbox.host, None)
        return sandbox

    async def _bring_up(self, workspace_id: str, project_id: str, take_over: bool) -> Sandbox:
        row = await self.db.read(store.newest, workspace_id)
        if row is not None and is_alive(row.life.state) and not self._is_here(row):
            if not take_over:
                await self.db.read(self._require_dead, row)
            await self.lives.lose(row)  # its holder ends it once nothing depends on it any more
            row = None
        sandbox = await self._wake(row) if row is not None else None
        return sandbox or await self._create(workspace_id, project_id)

    async def _is_gone(self, row: SandboxRecord, error: SandboxUnavailable) -> bool:
        """True if the host of a sandbox, which the provider names in the error, has not answered for a lease, and no
        other server that reaches it attends to the sandbox."""
        host = error.fields.get("host")
        if self.leases is None or host is None:
            return False
        since = self._unreachable.setdefault(str(host), self.clock.monotonic())
        if self.clock.monotonic() - since < self.leases.length.total_seconds():
            return False
        return await self.db.read(holder, ATTEND + row.workspace_id) in (None, self.node_id)

    async def _newest(self, workspace_id: str) -> SandboxRecord | None:
        """The workspace's latest sandbox; None if it is another node's."""
        row = await self.db.read(store.newest, workspace_id)
        return row if row is not None and self._is_here(row) else None

    async def _wake(self, row: SandboxRecord) -> Sandbox | None:
        if step_to_use(row.life, False) is Step.RESTART:
            return await self._restart(row)
        try:
            return await self.lives.wake(row)
        except SandboxUnavailable as error:
            if not await self._is_gone(row, error):
                raise
            await self.lives.lose(row)  # when its host comes back, it is ended: its row says so
            return None

    async def _create(self, workspace_id: str, project_id: str) -> Sandbox:
        def add(tx: Tx) -> SandboxRecord:
            self.lives.demand(tx, workspace_id)
            return store.add(tx, workspace_id, project_id, self.provider.name, self._rows_of)

        async with self._room:
            await self._make_room(await self._places_of(workspace_id))
            with anyio.CancelScope(shield=True):  # else the row might remain without a task that starts or closes it
                row = await self.db.write(add)
        return await self._start(row)  # outside of `_room`: it takes seconds, and the row already counts

    async def _restart(self, row: SandboxRecord) -> Sandbox:
        async with self._room:
            await self._make_room(await self._places_of(row.workspace_id))
            # From here on it counts as awake, so the room can be released.
            started = await self.lives.change(row, State.RESUMING, starts=self.leases is not None)
        return await self._start(row._replace(fence=started.fence))

    async def _start(self, row: SandboxRecord) -> Sandbox:
        sandbox = await self.lives.start(row)
        self.woken.set()  # the ladder computes its next step again
        self.woken = anyio.Event()
        return sandbox

    async def _make_room(self, coming: int) -> None:
        """Stop idle sandboxes until `coming` more may be awake. One whose lock is held at this moment is left
        unchanged."""
        awake = await self.db.read(store.awake_on, self.provider.name, self._rows_of)
        named = await self.db.read(store.templates_of, [row.workspace_id for row, _ in awake])
        weighed = [replace(waking, places=self._places(named.get(row.workspace_id))) for row, waking in awake]
        chosen = choose_to_stop(weighed, self.awake_allowed, coming)
        for row in [row for row, _ in awake if row.id in chosen]:
            try:
                # Waiting could deadlock: its holder may wait for the room.
                self.locks[row.workspace_id].acquire_nowait()
            except anyio.WouldBlock:
                continue
            try:
                async with self.alone(STEP + row.workspace_id) as mine:
                    if mine:
                        await self._stop_for_room(row)
            finally:
                self.locks[row.workspace_id].release()

    async def _places_of(self, workspace_id: str) -> int:
        return self._places((await self.db.read(store.templates_of, [workspace_id])).get(workspace_id))

    def _places(self, template: str | None) -> int:
        return places_taken(self.settings, self.lives.template(template))

    async def _stop_for_room(self, seen: SandboxRecord) -> None:
        row = await self._newest(seen.workspace_id)
        # Otherwise it was used meanwhile.
        if row is not None and row.life == seen.life and row.last_used_at == seen.last_used_at:
            await self.lives.stop(row)
            await self.db.write(store.tell_stopped, row)

    async def _touch(self, sandbox_id: str, workspace_id: str) -> None:
        """Record the use, at most every half minute: the idle clocks count in minutes."""
        now = self.clock.monotonic()
        if now - self._touched.get(sandbox_id, float("-inf")) >= TOUCH_EVERY_S:
            self._touched[sandbox_id] = now  # before the write: parallel calls record it once
            await self.db.write(store.touch, [(sandbox_id, workspace_id)])
