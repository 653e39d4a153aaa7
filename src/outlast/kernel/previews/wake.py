"""Turns a visit into a connection: wakes, restarts or replaces the sandbox, and dials its port."""

import socket
import time
from dataclasses import field
from typing import Final, Literal

import anyio
from anyio.abc import TaskGroup, TaskStatus

from outlast.base.errors import NotFound, OutlastError, SandboxLost, SandboxUnavailable
from outlast.base.records import dataclass
from outlast.kernel.previews.actions import Visitor
from outlast.kernel.sandboxes.actions import machines_of
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.services import Services
from outlast_sandbox.interface import Sandbox
from outlast_sandbox.ports.line import Line
from outlast_sandbox.ports.pool import Pool

USE_EVERY_S: Final = 30.0
POLL_S: Final = 0.05
MAX_POLL_S: Final = 0.5
PATIENCE_S: Final = 10.0  # for a program's visit, which then gets the error
LOCAL: Final = "local"
RECORD_AFTER_S: Final = 0.02  # what was thawed answers first; the database would compete with it for the interpreter


class Awake:
    """An `Attendant` of the sandbox manager. In memory: the sandboxes that are awake, so that a visit to one of them
    bypasses the manager; and, if a thaw takes about a millisecond (`thaws_fast`), those that fell asleep, so that a
    visit need not wait until their waking is recorded."""

    def __init__(self, *, thaws_fast: bool) -> None:
        self._thaws_fast = thaws_fast
        self._sandboxes: dict[str, Sandbox] = {}
        self._sleeping: dict[str, Sandbox] = {}

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        self._sandboxes[row.workspace_id] = sandbox
        self._sleeping.pop(row.workspace_id, None)

    def asleep(self, row: SandboxRecord) -> None:
        sandbox = self._sandboxes.pop(row.workspace_id, None)
        if sandbox is not None and self._thaws_fast:
            self._sleeping[row.workspace_id] = sandbox

    def get(self, workspace_id: str) -> Sandbox | None:
        return self._sandboxes.get(workspace_id)

    async def thawed(self, workspace_id: str) -> Sandbox | None:
        """A thawed sandbox, able to answer again; None if none is known, or it is gone. The caller must also let the
        manager wake it, which records the change."""
        sandbox = self._sleeping.get(workspace_id)
        if sandbox is None:
            return None
        try:
            await sandbox.thaw()
        except OutlastError:
            self._sleeping.pop(workspace_id, None)
            return None
        return sandbox


Kind = Literal["waking", "silent", "asleep", "refused"]


class Waiting(Exception):
    """There is no connection yet. `waking`: the sandbox itself is not ready; `silent`: nothing listens on the port;
    `asleep`: it was not woken for this; `refused`: it is not available (`why` and `hint` have details). `for_s`:
    seconds that visitors have been waiting."""

    def __init__(self, kind: Kind, for_s: float = 0.0, *, why: str = "", hint: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.for_s = for_s
        self.why = why
        self.hint = hint


@dataclass(slots=True)
class _Wake:
    """A sandbox that is being woken: shared by all waiting visitors, and ended by none of them."""

    done: anyio.Event = field(default_factory=anyio.Event)
    outcome: Sandbox | OutlastError = field(
        default_factory=lambda: SandboxUnavailable("The sandbox could not be woken.")
    )


@dataclass(frozen=True, slots=True)
class Reached:
    """A connection to the port. `is_fresh`: nothing has been sent on it yet."""

    sandbox: Sandbox
    line: Line
    is_fresh: bool


class Waker:
    """In memory: the sandboxes being woken, the last use of each workspace, the time since which visitors wait for a
    port, and the idle lines. `run` must be running."""

    def __init__(self, services: Services) -> None:
        self._services = services
        manager = services.sandboxes.manager
        self._awake_now = Awake(thaws_fast=manager is not None and manager.provider.name == LOCAL)
        if manager is not None:
            manager.attend(self._awake_now)
        self.pool = Pool()
        self._guard = services.supervisor.guard
        self._wakes: dict[str, _Wake] = {}
        self._used: dict[str, float] = {}
        self._waits: dict[tuple[str, int], tuple[float, float]] = {}  # since when, and when last
        self._tasks: TaskGroup | None = None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run the tasks that wake sandboxes, which continue when visitors leave; until cancelled."""
        try:
            async with anyio.create_task_group() as self._tasks:
                task_status.started()
                while True:
                    await anyio.sleep(USE_EVERY_S)
                    self.pool.sweep()
                    self._forget()
        finally:
            self._tasks = None
            self.pool.close()

    async def reach(self, visitor: Visitor, patience_s: float, *, fresh: bool = False) -> Reached:
        """A connection to the visitor's port. Wakes the sandbox if needed and counts as a use. `fresh`: not an idle
        connection. Raises `Waiting` if there is none within `patience_s`."""
        place = visitor.workspace_id, visitor.port
        began = time.monotonic()
        try:
            reached = await self._reach(visitor, began + patience_s, fresh)
        except Waiting as waiting:
            waiting.for_s = self._waited(place, began)
            raise
        self._waits.pop(place, None)
        return reached

    async def reach_awake(self, visitor: Visitor) -> Reached:
        """A new connection, if the sandbox is awake or frozen: this restarts nothing, and does not count as a use.
        Raises `Waiting`."""
        sandbox, manager = self._awake_now.get(visitor.workspace_id), self._services.sandboxes.manager
        if sandbox is None and manager is not None:
            try:
                sandbox = await manager.find(visitor.workspace_id)
            except OutlastError as error:
                raise _refused(error) from None
        if sandbox is None:
            raise Waiting("asleep")
        try:
            return Reached(sandbox, Line(await sandbox.dial(visitor.port)), True)
        except NotFound:
            raise Waiting("silent") from None
        except OutlastError as error:
            raise _refused(error) from None

    def use(self, visitor: Visitor) -> None:
        """An open connection is in use: keep its sandbox awake, or wake it. Returns at once."""
        if self._in_use(visitor.workspace_id) is None and self._tasks is not None:
            self._tasks.start_soon(self._guard.once, "waking", visitor.workspace_id, self._keep_awake, visitor)

    async def wake_again(self, visitor: Visitor) -> None:
        """Wake the sandbox if it fell asleep since it was reached."""
        if self._awake_now.get(visitor.workspace_id) is None:
            await self._keep_awake(visitor)

    async def _keep_awake(self, visitor: Visitor) -> None:
        try:
            await self._awake(visitor)
        except Waiting:  # the visits that wait for an answer report it
            return

    async def _reach(self, visitor: Visitor, until: float, fresh: bool) -> Reached:
        pause = POLL_S
        sandbox = await self._awake_by(visitor, until)
        while True:
            kept = None if fresh else self.pool.take(sandbox.sandbox_id, visitor.port)
            if kept is not None:
                return Reached(sandbox, kept, False)
            try:
                return Reached(sandbox, Line(await self._dial(sandbox, visitor.port, until)), True)
            except NotFound:
                if time.monotonic() + pause >= until:
                    raise Waiting("silent") from None
                await anyio.sleep(pause)
                pause = min(2 * pause, MAX_POLL_S)
            except SandboxLost:
                self._used.pop(visitor.workspace_id, None)
                sandbox = await self._awake_by(visitor, until)
                if time.monotonic() >= until:
                    raise Waiting("waking") from None

    async def _dial(self, sandbox: Sandbox, port: int, until: float) -> socket.socket:
        with anyio.move_on_after(max(0.1, until - time.monotonic())):
            return await sandbox.dial(port)
        raise Waiting("silent")

    async def _awake_by(self, visitor: Visitor, until: float) -> Sandbox:
        with anyio.move_on_after(max(0.0, until - time.monotonic())):
            return await self._awake(visitor)
        raise Waiting("waking")

    async def _awake(self, visitor: Visitor) -> Sandbox:
        """The sandbox, awake and marked as used. Cancelling does not stop the wake for other visitors."""
        workspace_id = visitor.workspace_id
        if (sandbox := self._in_use(workspace_id)) is not None:
            return sandbox
        thawed = await self._awake_now.thawed(workspace_id)
        wake = self._wakes.get(workspace_id)
        if wake is None:
            if self._tasks is None:
                raise Waiting("refused", why="The server is stopping.", hint="Reload the page in a moment.")
            wake = self._wakes[workspace_id] = _Wake()
            after_s = RECORD_AFTER_S if thawed is not None else 0.0
            self._tasks.start_soon(self._guard.once, "waking", workspace_id, self._wake, visitor, wake, after_s)
        if thawed is not None:
            return thawed
        await wake.done.wait()
        if isinstance(wake.outcome, OutlastError):
            raise _refused(wake.outcome)
        return wake.outcome

    async def _wake(self, visitor: Visitor, wake: _Wake, after_s: float) -> None:
        try:
            await anyio.sleep(after_s)
            machines = machines_of(self._services)
            wake.outcome = await machines.ensure(visitor.workspace_id, visitor.project_id)
            self._used[visitor.workspace_id] = time.monotonic()
        except OutlastError as error:
            wake.outcome = error
        finally:
            del self._wakes[visitor.workspace_id]
            wake.done.set()

    def _waited(self, place: tuple[str, int], began: float) -> float:
        """Seconds for which visitors have been requesting the port, without a longer break."""
        since, last = self._waits.get(place, (began, began))
        if began - last >= USE_EVERY_S:
            since = began
        self._waits[place] = since, time.monotonic()
        return time.monotonic() - since

    def _in_use(self, workspace_id: str) -> Sandbox | None:
        """The sandbox, if it is awake and was marked as used a moment ago."""
        is_stale = time.monotonic() - self._used.get(workspace_id, float("-inf")) >= USE_EVERY_S
        return None if is_stale else self._awake_now.get(workspace_id)

    def _forget(self) -> None:
        """Drop ports that were not requested for a while."""
        now = time.monotonic()
        self._used = {key: at for key, at in self._used.items() if now - at < USE_EVERY_S}
        self._waits = {key: times for key, times in self._waits.items() if now - times[1] < USE_EVERY_S}


def _refused(error: OutlastError) -> Waiting:
    return Waiting("refused", why=error.message, hint=error.hint)
