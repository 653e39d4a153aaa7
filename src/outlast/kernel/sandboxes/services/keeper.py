"""Keeps the declared services of awake sandboxes running: starts them, finds them again after a restart of the server,
checks that they answer, restarts them when they end."""

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import field
from typing import Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from outlast.base.clock import Clock
from outlast.base.errors import NotFound, OutlastError, SandboxLost
from outlast.base.records import dataclass
from outlast.base.supervision.causes import cause_of, is_of_storage
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes import store as sandbox_rows
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.rules import is_alive
from outlast.kernel.sandboxes.services import store
from outlast.kernel.sandboxes.services.logs import SHOWN_BYTES, ServiceLogs
from outlast.kernel.sandboxes.services.rules import (
    CHECK_EVERY_S,
    MAX_MISSED,
    START_S,
    Declared,
    after_end,
    how_it_ended,
)
from outlast.kernel.sandboxes.shapes import ServiceStatus
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.sandboxes.translation import translated, untranslated
from outlast.kernel.set_aside import kinds
from outlast_sandbox.health import answers, wait_answering
from outlast_sandbox.interactive import ProcessEnd, ProcessInfo, ProcessOutput, ProcessSpec
from outlast_sandbox.interface import Sandbox

SUSPECT_S: Final = (0.05, 0.2, 1.0, 3.0)
KILL: Final = 9  # a child may ignore every other signal
TAG: Final = "service:"


@dataclass(eq=False, slots=True)
class Place:
    """An awake sandbox and its tasks, by service name."""

    row: SandboxRecord
    sandbox: Sandbox
    kept: dict[str, anyio.CancelScope] = field(default_factory=dict)


@dataclass(slots=True)
class ServiceLife:
    """One life of a service: the time at which it became healthy (monotonic), or None if it never did; whether it was
    ended for not answering, otherwise how it ended by itself."""

    healthy_at: float | None = None
    mute: bool = False
    exit_code: int | None = None


class ServiceKeeper:
    """An `Attendant` of the sandbox manager. In memory: only the awake sandboxes and the task of each service;
    everything else is in rows and logs. `find` (`SandboxManager.find`) is called when a sandbox seems to be gone,
    `take_over` before a declaration changes: from then on no other server keeps the workspace's services."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        logs: ServiceLogs,
        *,
        find: Callable[[str], Awaitable[object]] | None = None,
        take_over: Callable[[str], Awaitable[None]] | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self._db, self._clock, self._find = db, clock, find
        self.logs = logs
        self.take_over = take_over
        self._guard = (supervisor or Supervisor(clock)).guard
        self._awake: dict[str, Place] = {}
        self._tasks: TaskGroup | None = None
        self._news = anyio.Event()  # set, and replaced, whenever a service's state changes

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Until cancelled. The processes keep running; the next server finds them again."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                for place in self._awake.values():
                    place.kept.clear()  # their tasks ended with an earlier `run`
                    self._soon(tasks, place, self._begin_all)
                task_status.started()
                await anyio.sleep_forever()
            finally:
                self._tasks = None

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        self.asleep(row)  # woken without a sleep: its old tasks would handle the same processes
        place = self._awake[row.workspace_id] = Place(row, sandbox)
        if self._tasks is not None:
            self._soon(self._tasks, place, self._begin_all)

    def asleep(self, row: SandboxRecord) -> None:
        place = self._awake.pop(row.workspace_id, None)
        for scope in place.kept.values() if place is not None else ():
            scope.cancel()

    async def declare(self, workspace_id: str, wanted: Declared) -> ServiceRow:
        """Record it, and start it now if its sandbox is awake, otherwise with the sandbox. A process under its name
        with another declaration is ended first. Raises `MalformedInput`, `NotFound` (the workspace is gone)."""

        def change(tx: Tx) -> tuple[ServiceRow, bool]:
            declared = store.declare(tx, workspace_id, wanted)
            self._publish_newest(tx, workspace_id)
            return declared

        if self.take_over is not None:
            await self.take_over(workspace_id)
        service, restart = await self._db.write(change)
        self._begin(service, restart=restart)
        return service

    async def remove(self, workspace_id: str, name: str) -> None:
        """End the process under its name and remove the service with its log. Raises `NotFound`."""

        def change(tx: Tx) -> None:
            store.remove(tx, workspace_id, name)
            self._publish_newest(tx, workspace_id)

        if self.take_over is not None:
            await self.take_over(workspace_id)
        await self._db.write(change)  # after a kill here `_end_removed` ends it when the sandbox is next reported awake
        place = self._awake.get(workspace_id)
        if place is not None:
            scope = place.kept.pop(name, None)
            if scope is not None:
                scope.cancel()
            with suppress(SandboxLost):
                await self._end_process(place, name)
        self.logs.forget(workspace_id, name)

    async def wait_settled(self, workspace_id: str, name: str, timeout_s: float) -> ServiceRow:
        """Return once it is healthy or failed, after `timeout_s` at the latest. Raises `NotFound` once removed."""
        with anyio.move_on_after(timeout_s):
            while True:
                news = self._news  # before the check: a change after it is not missed
                row = await self._db.read(store.service_of, workspace_id, name)
                if row.state in ("healthy", "failed"):
                    return row
                await news.wait()
        return await self._db.read(store.service_of, workspace_id, name)

    def statistics(self) -> dict[str, int]:
        """The numbers of awake sandboxes and of their services with a task."""
        return {"awake": len(self._awake), "kept": sum(len(place.kept) for place in self._awake.values())}

    def output(self, workspace_id: str, name: str, max_bytes: int) -> str:
        """The end of its output, at most 64 KiB."""
        return self.logs.tail(workspace_id, name, max_bytes)

    def _soon(self, tasks: TaskGroup, place: Place, what: Callable[[Place], Awaitable[None]]) -> None:
        tasks.start_soon(self._guard.keep, kinds.SERVICES_START, place.row.workspace_id, what, place)

    async def _begin_all(self, place: Place) -> None:
        declared = await self._db.read(store.services_of, place.row.workspace_id)
        for service in declared:
            if self._awake.get(place.row.workspace_id) is place:  # it may have fallen asleep while the rows were read
                self._begin(service, restart=False)
        if self.logs.knows(place.row.workspace_id):
            await self._end_removed(place, {service.name for service in declared})

    async def _end_removed(self, place: Place, declared: set[str]) -> None:
        """End services that were removed while the sandbox slept."""
        with suppress(OutlastError):
            for process in await self._processes(place):
                name = (process.spec.tag or "").removeprefix(TAG).partition(":")[0]
                if name not in declared:
                    await self._end_process(place, name)

    def _begin(self, service: ServiceRow, *, restart: bool) -> None:
        place = self._awake.get(service.workspace_id)
        if place is None or self._tasks is None or (service.name in place.kept and not restart):  # else `run` begins it
            return
        if service.name in place.kept:
            place.kept[service.name].cancel()
        scope = place.kept[service.name] = anyio.CancelScope()
        self._tasks.start_soon(self._keep, place, service, scope, restart)

    async def _keep(self, place: Place, service: ServiceRow, scope: anyio.CancelScope, restart: bool) -> None:
        """One life after the other, until the service has failed or is not to be restarted."""
        name = f"{service.workspace_id}/{service.name}"
        with scope:
            await self._guard.keep(kinds.SERVICE, name, self._keep_once, place, service, restart)
        if place.kept.get(service.name) is scope:  # a newer declaration may have taken its place
            del place.kept[service.name]

    async def _keep_once(self, place: Place, service: ServiceRow, restart: bool) -> None:
        try:
            if restart:
                await self._end_process(place, service.name)
            await self._lives(place, store.declared_by(service))
        except* SandboxLost:
            if self._tasks is not None:
                self._soon(self._tasks, place, self._suspect)  # a separate task: this one is over
        except* OutlastError as errors:
            if is_of_storage(errors):
                raise  # not about the service, which may still run: it is checked again
            await self._publish(place, service.name, "failed", str(cause_of(errors)))

    async def _suspect(self, place: Place) -> None:
        """Its connections broke: check if it is gone, which shows a moment later; if it is not, begin again."""
        for pause_s in SUSPECT_S:
            await anyio.sleep(pause_s)
            if self._awake.get(place.row.workspace_id) is not place:
                return
            if self._find is not None:
                await self._find(place.row.workspace_id)
        await self._begin_all(place)

    async def _lives(self, place: Place, service: Declared) -> None:
        failures = 0
        while True:
            life = await self._live(place, service)
            lived_s = 0.0 if life.healthy_at is None else self._clock.monotonic() - life.healthy_at
            why = self._why(place, service.name, life)
            restart = after_end(failures, lived_s)
            if restart is None:
                await self._publish(place, service.name, "failed", why)
                return
            failures = restart.failures
            await self._publish(place, service.name, "starting", why, restarted=True)
            await self._clock.sleep(restart.delay_s)

    async def _live(self, place: Place, service: Declared) -> ServiceLife:
        """One life: from the start, or from the state that an earlier server left, to the end of its process."""
        pid, found = await self._process(place, service)
        row = await self._db.read(store.service_of, place.row.workspace_id, service.name)
        # The start time of one that was healthy under an earlier server is over.
        life = ServiceLife(healthy_at=self._clock.monotonic() if found and row.state == "healthy" else None)
        if life.healthy_at is None:
            await self._publish(place, service.name, "starting", row.error)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._check, place, service, pid, life)
            async with place.sandbox.processes.follow(pid) as news:
                async for one in news:
                    if isinstance(one, ProcessOutput):
                        self.logs.append(place.row.workspace_id, service.name, one.data)
                    elif not life.mute:
                        life.exit_code = one.exit_code
            tasks.cancel_scope.cancel()
        return life

    async def _process(self, place: Place, service: Declared) -> tuple[int, bool]:
        """(its process, True if it was already running)."""
        tag = _tag(service)
        for process in await self._processes(place, service.name):
            if process.spec.tag == tag:
                return process.pid, True
        await self._end_process(place, service.name)  # another declaration's process
        self.logs.append(place.row.workspace_id, service.name, b"")
        argv = ("/bin/sh", "-c", service.command)
        spec = ProcessSpec(argv, env={"PORT": str(service.port)}, stdin=False, tag=tag)
        # After a kill here the next server finds it by its tag.
        return (await place.sandbox.processes.start(spec)).pid, False

    async def _check(self, place: Place, service: Declared, pid: int, life: ServiceLife) -> None:
        """Note when it becomes healthy; end it if it does not answer, or no longer does."""
        at = untranslated(place.sandbox), service.port, service.health_path
        if life.healthy_at is None:
            with anyio.move_on_after(START_S), translated():
                await wait_answering(*at)
                life.healthy_at = self._clock.monotonic()
                await self._publish(place, service.name, "healthy")
        missed = 0
        while life.healthy_at is not None and missed < MAX_MISSED:
            await self._clock.sleep(CHECK_EVERY_S)
            with translated():
                missed = 0 if await answers(*at) else missed + 1
        life.mute = True  # first: its end is then caused by this check, and its exit code has no meaning
        await self._end_process(place, service.name)

    async def _processes(self, place: Place, name: str = "") -> list[ProcessInfo]:
        """The processes of this service, of any declaration; of any service if the name is empty."""
        head = f"{TAG}{name}:" if name else TAG
        running = await place.sandbox.processes.list()
        return [one for one in running if (one.spec.tag or "").startswith(head) and one.exit_code is None]

    async def _end_process(self, place: Place, name: str) -> None:
        for process in await self._processes(place, name):
            with suppress(NotFound):
                async with place.sandbox.processes.follow(process.pid) as news:
                    # Followed before: its end cannot be missed.
                    await place.sandbox.processes.signal(process.pid, KILL, group=True)
                    async for one in news:
                        if isinstance(one, ProcessEnd):
                            break

    def _why(self, place: Place, name: str, life: ServiceLife) -> str:
        ended = how_it_ended(life.exit_code, life.healthy_at is not None)
        end = self.logs.tail(place.row.workspace_id, name, SHOWN_BYTES).strip()
        return f"{ended}\n{end}" if end else ended

    def _publish_newest(self, tx: Tx, workspace_id: str) -> None:
        newest = sandbox_rows.newest(tx, workspace_id)
        if newest is not None and is_alive(newest.life.state):
            sandbox_rows.tell(tx, newest)

    async def _publish(
        self, place: Place, name: str, state: ServiceStatus, error: str | None = None, *, restarted: bool = False
    ) -> None:
        """Record and announce it, unless the sandbox is no longer awake: then its state is not ours to report."""

        def change(tx: Tx) -> None:
            newest = sandbox_rows.newest(tx, place.row.workspace_id)
            # Its successor has its own services.
            if newest is None or newest.id != place.row.id or newest.life.pause_kind is not None:
                return
            if store.set_state(tx, place.row.workspace_id, name, state, error=error, restarted=restarted):
                sandbox_rows.tell(tx, newest)

        await self._db.write(change)
        news, self._news = self._news, anyio.Event()
        news.set()


def _tag(service: Declared) -> str:
    """Names the process of a service and the declaration that started it."""
    said = f"{service.port}\0{service.command}".encode()
    return f"{TAG}{service.name}:{hashlib.sha256(said).hexdigest()[:16]}"
