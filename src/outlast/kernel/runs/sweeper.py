"""The handler of timers and lapsed leases: sleeps until the next is due, or until a bell reports an earlier one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import anyio

from outlast.base.errors import NotFound, OutlastError
from outlast.base.records import dataclass
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Tx
from outlast.kernel.runs import abandonment, claims, journal_store, leases, retention, store, timers, unknown_agents
from outlast.kernel.runs import parked as parking
from outlast.kernel.runs.cancel import cut_calls, end_cancelled, request_cancel
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.tables import TimerKind
from outlast.kernel.runs.transcript import Run
from outlast.kernel.set_aside import kinds

RETRY_S: Final = 5.0
SET_ASIDE_S: Final = 3_600.0
Handler = Callable[[str], Awaitable[None]]  # by the timer's subject
SandboxStep = Callable[[str], Awaitable[None]]  # by workspace id


class Ahead(NamedTuple):
    """The work ahead: whether something is due, when the next lease lapses, and the times at which more falls due."""

    is_due: bool
    lapse: datetime | None
    moments: list[datetime]


@dataclass(frozen=True, slots=True)
class SandboxSteps:
    """The sweeper's calls to the sandboxes room, by workspace id; commands by effect id."""

    freeze: SandboxStep
    thaw: SandboxStep
    kill: SandboxStep
    stop_commands: Callable[[str, Sequence[str]], Awaitable[None]]


class Sweeper:
    """Handles due timers and lapsed leases. Late or double firing is harmless: each handler checks the state again
    first."""

    def __init__(
        self,
        engine: Engine,
        sandboxes: SandboxSteps | None,
        further: Mapping[str, Handler] | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        """`further`: handlers of other rooms' timers, by kind."""
        self._engine = engine
        self._guard = (supervisor or Supervisor(engine.clock)).guard
        self._sandboxes = sandboxes
        self._handlers: Mapping[str, Handler] = {
            **(further or {}),
            "approval_pause": self._pause,
            "paused_kill": self._kill,
            "abandon": self._abandon,
            "cancel_force": self._force_cancel,
            "agent_unknown": self._notify_unknown_agent,
            "step_due": self._go_on,
            "end_children": self._end_children,
            "fold": self._fold,
            "clean_up": self._clean_up,
        }

    async def run(self) -> None:
        """Until cancelled."""
        hub, intake = self._engine.hub, self._engine.intake
        with hub.listen(timers.BELL) as channel, hub.listen(store.BELL) as starts:
            while True:
                # Before the read: no ring is missed.
                version, started = channel.version, (starts.version, intake.came_in)
                try:
                    if (ahead := await self._engine.db.read(look, self._engine.agents.names)).is_due:
                        await self.sweep()
                        ahead = await self._engine.db.read(look, self._engine.agents.names)
                    wait_s, is_quiet = self._until_next(ahead)
                except OutlastError as error:
                    self._engine.log("sweep failed", error=error)
                    wait_s, is_quiet = RETRY_S, False
                while wait_s > 0:
                    with anyio.move_on_after(step_s := min(wait_s, self._engine.settings.runs.lease_s)):
                        await channel.wait(version)
                        break
                    wait_s -= step_s
                    if not is_quiet or (starts.version, intake.came_in) != started:
                        break

    async def sweep(self) -> None:
        """Handle everything that is due now."""
        engine = self._engine
        lapse = await engine.db.read(leases.next_lapse)
        if lapse is not None and lapse < engine.clock.now():
            await engine.db.write(leases.free_lapsed)
        if await engine.db.read(unknown_agents.unwatched, engine.agents.names):
            await engine.db.write(unknown_agents.set_timers, engine.agents.names)
        while due := await engine.db.read(timers.due_now):
            for timer in due:
                await self._handle(timer.kind, timer.subject_id)
        if await engine.db.read(claims.has_ready, engine.agents.names):
            engine.hub.ring(store.BELL)

    async def _handle(self, kind: TimerKind, subject_id: str) -> None:
        """Handle a timer that is due. A failed one is due again a little later, and one that is set aside much later,
        so that neither holds up the others."""
        item = f"{kind}:{subject_id}"
        if await self._guard.attempt_now(kinds.TIMER, item, self._fire, kind, subject_id):
            return
        wait_s = SET_ASIDE_S if await self._guard.is_set_aside(kinds.TIMER, item) else RETRY_S

        def postpone(tx: Tx) -> None:
            timers.set_timer(tx, kind, subject_id, tx.now + timedelta(seconds=wait_s))

        await self._engine.db.write(postpone)

    async def _fire(self, kind: str, subject_id: str) -> None:
        handler = self._handlers.get(kind)
        try:
            if handler is not None:
                await handler(subject_id)
            # After a kill here it is handled again by the next sweep: handlers recognise their finished work.
            await self._engine.db.write(timers.done, kind, subject_id)
        except NotFound:  # its thread was deleted meanwhile
            await self._engine.db.write(timers.clear_timers, subject_id, kind)

    def _until_next(self, ahead: Ahead) -> tuple[float, bool]:
        """Seconds until something is due, and whether nothing can lapse before a run starts here. No bell reports
        leases that other nodes take, or a lease of a failed worker: while there may be any, the database is read once a
        lease."""
        is_quiet = ahead.lapse is None and self._engine.db.dialect == "sqlite"
        longest_s = timers.LONGEST_SLEEP.total_seconds()
        if not ahead.moments:
            return longest_s, is_quiet
        wait_s = (min(ahead.moments) - self._engine.clock.now()).total_seconds()
        return min(max(wait_s, 0.01), longest_s), is_quiet

    async def _pause(self, run_id: str) -> None:
        """Five minutes without a decision: freeze the sandbox and show the run as paused."""
        run = await self._engine.db.read(store.run_of, run_id)
        if run.leg != "parked" or run.status != "awaiting_approval":
            return
        # A decision may come meanwhile: a frozen sandbox thaws at its next use, and `pause` checks the run again.
        if self._sandboxes is not None and run.workspace_id:
            await self._sandboxes.freeze(run.workspace_id)
        await self._engine.db.write(parking.pause, self._engine.settings, run_id)

    async def _kill(self, run_id: str) -> None:
        """A day paused: the sandbox is killed, its workspace stays; the run keeps waiting."""
        run = await self._engine.db.read(store.run_of, run_id)
        if run.status == "paused" and self._sandboxes is not None and run.workspace_id:
            await self._sandboxes.kill(run.workspace_id)

    async def _abandon(self, run_id: str) -> None:
        """Half an hour of running without a follower."""
        await self._engine.db.write(abandonment.abandon, self._engine, run_id)

    async def _notify_unknown_agent(self, run_id: str) -> None:
        """A day in the queue without a server that has its agent."""
        await self._engine.db.write(unknown_agents.tell, run_id, self._engine.agents.names)

    async def _force_cancel(self, run_id: str) -> None:
        """A cancel that no worker has confirmed: take the run from its holder and end it here. Then stop commands of
        its calls that still run in the sandbox, even if the run had ended before."""

        def change(tx: Tx) -> Run:
            run = store.hold_run(tx, run_id)
            if run.status not in ENDED:
                end_cancelled(tx, self._engine, run)
            return run

        run = await self._engine.db.write(change)
        stopped = await self._engine.db.read(cut_calls, run_id)
        if self._sandboxes is not None and run.workspace_id and stopped:
            await self._sandboxes.stop_commands(run.workspace_id, stopped)

    async def _go_on(self, step_id: str) -> None:
        """A time that a function waits for is over, or a run that it has started has ended."""
        await self._engine.db.write(parking.go_on, self._engine, step_id)

    async def _end_children(self, effect_id: str) -> None:
        """A function has ended before the runs that it had started."""
        for step in await self._engine.db.read(journal_store.waiting_steps, effect_id):
            if step.kind == "run" and step.waits_for is not None:
                with suppress(NotFound):  # its thread was deleted
                    await self._engine.db.write(request_cancel, self._engine, step.waits_for, "superseded", None)

    async def _fold(self, run_id: str) -> None:
        await retention.fold(self._engine.db, run_id)

    async def _clean_up(self, run_id: str) -> None:
        await retention.clean_up(self._engine.db, run_id)


def look(tx: Tx, agents: frozenset[str]) -> Ahead:
    """All checks of a round in one transaction: an idle server runs one a minute, not five."""
    lapse = leases.next_lapse(tx)
    is_due = (
        (lapse is not None and lapse < tx.now)
        or bool(unknown_agents.unwatched(tx, agents))
        or bool(timers.due_now(tx))
        or claims.has_ready(tx, agents)
    )
    found = (timers.next_due(tx), lapse, claims.next_ready_at(tx))
    return Ahead(is_due, lapse, [moment for moment in found if moment is not None])
