"""The one handler of timers and lapsed leases: sleeps until the next is due, or until a bell says an earlier one
was set."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import anyio
import sqlalchemy as sa

from outlast.base.errors import NotFound, OutlastError
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Tx
from outlast.kernel.idempotency import KEPT, idempotency
from outlast.kernel.runs import leases, store, timers, unknown_agents
from outlast.kernel.runs import parked as parking
from outlast.kernel.runs.abandonment import arm_abandonment, followed
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.rules import ENDED, End
from outlast.kernel.runs.settlement import end_unheld
from outlast.kernel.runs.tables import TimerKind, approvals, effects, runs
from outlast.kernel.runs.worker import CANCEL_BELL
from outlast.kernel.set_aside import kinds
from outlast.kernel.streams.fold import fold_deltas, fold_lines
from outlast.kernel.streams.log import read_all, replace_all

RETRY_S: Final = 5.0
SET_ASIDE_S: Final = 3_600.0
Handler = Callable[[str], Awaitable[None]]  # by the timer's subject
SandboxStep = Callable[[str], Awaitable[None]]  # by workspace id


class Ahead(NamedTuple):
    """Whether something is due, when the next lease lapses, and the moments at which more falls due."""

    is_due: bool
    lapse: datetime | None
    moments: list[datetime]


@dataclass(frozen=True, slots=True)
class SandboxSteps:
    """What the sweeper asks of the sandboxes room, by workspace id; commands by effect id."""

    freeze: SandboxStep
    thaw: SandboxStep
    kill: SandboxStep
    stop_commands: Callable[[str, Sequence[str]], Awaitable[None]]


class Sweeper:
    """Handles what is due. Late or double firing is harmless: each handler re-checks the state first."""

    def __init__(
        self,
        engine: Engine,
        sandboxes: SandboxSteps | None,
        further: Mapping[str, Handler] | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        """`further`: who handles the timers of other rooms, by their kind."""
        self._engine = engine
        self._guard = (supervisor or Supervisor(engine.clock)).guard
        self._sandboxes = sandboxes
        self._handlers: Mapping[str, Handler] = {
            **(further or {}),
            "approval_pause": self._pause,
            "paused_kill": self._kill,
            "abandon": self._abandon,
            "cancel_force": self._force_cancel,
            "agent_unknown": self._tell_unknown_agent,
            "fold": self._fold,
            "clean_up": self._clean_up,
        }

    async def run(self) -> None:
        """Until cancelled."""
        hub = self._engine.hub
        with hub.listen(timers.BELL) as channel, hub.listen(store.BELL) as starts:
            while True:
                version, started = channel.version, starts.version  # before looking: what rings meanwhile is not missed
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
                    if not is_quiet or starts.version != started:
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
        if await engine.db.read(_ready_now, engine.agents.names):
            engine.hub.ring(store.BELL)

    async def _handle(self, kind: TimerKind, subject_id: str) -> None:
        """Handle a timer that is due. One that fails is due again a little later, one that is set aside much later, so
        that neither holds up the others."""
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
            # Killed here, it is handled again by the next sweep: handlers find what they have done already.
            await self._engine.db.write(timers.done, kind, subject_id)
        except NotFound:  # its thread was deleted meanwhile
            await self._engine.db.write(timers.clear_timers, subject_id, kind)

    def _until_next(self, ahead: Ahead) -> tuple[float, bool]:
        """Seconds until something is due, and whether nothing can lapse before a run starts here. No bell tells of the
        leases that other nodes take, nor of one whose worker failed: while there may be any, the database is looked at
        once a lease."""
        is_quiet = ahead.lapse is None and self._engine.db.dialect == "sqlite"
        longest_s = timers.LONGEST_SLEEP.total_seconds()
        if not ahead.moments:
            return longest_s, is_quiet
        wait_s = (min(ahead.moments) - self._engine.clock.now()).total_seconds()
        return min(max(wait_s, 0.01), longest_s), is_quiet

    async def _pause(self, run_id: str) -> None:
        """Five minutes without a decision: freeze the sandbox, show the run as paused."""
        run = await self._engine.db.read(store.run_of, run_id)
        if run.leg != "parked" or run.status != "awaiting_approval":
            return
        # A decision may come meanwhile: a frozen sandbox thaws at its next use, and `pause` looks at the run once more.
        if self._sandboxes is not None and run.workspace_id:
            await self._sandboxes.freeze(run.workspace_id)
        await self._engine.db.write(parking.pause, self._engine.settings, run_id)

    async def _kill(self, run_id: str) -> None:
        """A day paused: the sandbox is killed, its workspace stays; the run keeps waiting."""
        run = await self._engine.db.read(store.run_of, run_id)
        if run.status == "paused" and self._sandboxes is not None and run.workspace_id:
            await self._sandboxes.kill(run.workspace_id)

    async def _abandon(self, run_id: str) -> None:
        """Half an hour of running with nobody following: cancel it, with that as the reason. While somebody follows
        the timer is only set anew, so that a follower's node that vanishes is noticed too."""

        def change(tx: Tx) -> None:
            run = store.hold_run(tx, run_id)
            if run.leg not in ("ready", "held"):
                return
            since = tx.value(runs.c.unwatched_since, {"id": run_id})
            after = timedelta(seconds=self._engine.settings.runs.abandoned_after_s)
            waits = unknown_agents.is_waiting(run, self._engine.agents.names)  # nothing to follow yet
            if waits or followed(tx, run.thread_id):
                timers.set_timer(tx, "abandon", run_id, tx.now + after)
            elif since is None:
                arm_abandonment(tx, self._engine.settings, run_id, run.thread_id)
            elif since + after > tx.now:
                timers.set_timer(tx, "abandon", run_id, since + after)
            else:
                request_cancel(tx, self._engine, run_id, "abandoned", None)

        await self._engine.db.write(change)

    async def _tell_unknown_agent(self, run_id: str) -> None:
        """A day queued, and no server had its agent."""
        await self._engine.db.write(unknown_agents.tell, run_id, self._engine.agents.names)

    async def _force_cancel(self, run_id: str) -> None:
        """A cancel that no worker has confirmed: take the run away from its holder and end it here. Then whatever
        its calls still run in the sandbox is stopped, also where the run had ended before."""

        def change(tx: Tx) -> Run:
            run = store.hold_run(tx, run_id)
            if run.status not in ENDED:
                _end_cancelled(tx, self._engine, run)
            return run

        run = await self._engine.db.write(change)
        stopped = await self._engine.db.read(_cut_calls, run_id)
        if self._sandboxes is not None and run.workspace_id and stopped:
            await self._sandboxes.stop_commands(run.workspace_id, stopped)

    async def _fold(self, run_id: str) -> None:
        """The run has ended a while ago: its deltas become snapshots, with an equal result from any cursor."""
        run = await self._engine.db.read(store.run_of, run_id)
        lines = await self._engine.db.read(read_all, run_id)
        if run.status not in ENDED:
            return
        folded = fold_deltas(lines)
        if len(folded) < len(lines):  # an ended run's log does not change any more
            await self._engine.db.write(replace_all, run_id, folded)

    async def _clean_up(self, run_id: str) -> None:
        """The raw records have had their time; messages stay, and the log keeps what replays to the same end."""

        def change(tx: Tx) -> None:
            run = store.hold_run(tx, run_id)
            if run.status not in ENDED:
                return
            kept = [line for line in fold_deltas(read_all(tx, run_id)) if _stays(line[1])]
            replace_all(tx, run_id, kept)
            tx.execute(sa.delete(approvals).where(approvals.c.run_id == run_id))
            tx.execute(sa.delete(effects).where(effects.c.run_id == run_id))
            tx.update(runs, {"id": run_id}, cleaned=True)
            tx.execute(sa.delete(idempotency).where(idempotency.c.created_at < tx.now - KEPT))

        await self._engine.db.write(change)


def request_cancel(tx: Tx, engine: Engine, run_id: str, reason: str, by: str | None) -> None:
    """The durable cancel flag. A run that nobody holds ends in this transaction; for a held one the bell rings,
    and taken away if that is not confirmed in time. Repeating it is harmless: the first one counts."""
    run = store.hold_run(tx, run_id)
    if run.status in ENDED or run.cancel_reason is not None:
        return
    tx.update(runs, {"id": run_id}, cancel_requested_at=tx.now, cancelled_by=by, cancel_reason=reason)
    if run.leg == "held":
        # The worker may hang or be dead: then this timer ends the run in its place.
        force_at = tx.now + timedelta(seconds=engine.settings.runs.cancel_force_s)
        timers.set_timer(tx, "cancel_force", run_id, force_at)
        tx.ring(CANCEL_BELL)
        return
    _end_cancelled(tx, engine, run._replace(cancelled_by=by, cancel_reason=reason))


def _end_cancelled(tx: Tx, engine: Engine, run: Run) -> None:
    """End a run that has its cancel flag, with what its log shows. What its calls still run in the sandbox is stopped
    by `cancel_force`."""
    end = End("cancelled", run.cancel_reason or "user")
    ending = Ending.of(end, fold_lines(read_all(tx, run.id)), by=run.cancelled_by)
    end_unheld(tx, engine.settings, engine.agents.get(run.profile), run, ending)
    if _cut_calls(tx, run.id):  # set anew, since the end clears all clocks: a kill before the stop forgets no command
        timers.set_timer(tx, "cancel_force", run.id, tx.now)


_GONE_WITH_THE_RECORDS: Final = (b'"event":"step.', b'"event":"part.', b'"event":"tool_call.', b'"event":"approval.',
                                 b'"event":"question.', b'"event":"run.status"', b'"event":"files.')  # fmt: skip


def _stays(line: bytes) -> bool:
    """Whether a cleaned log keeps this line: the beginning and the end with the saved message, nothing in between."""
    head = line[:120]
    return not any(mark in head for mark in _GONE_WITH_THE_RECORDS)


def _ready_now(tx: Tx, agents: frozenset[str]) -> bool:
    due = sa.or_(runs.c.ready_at.is_(None), runs.c.ready_at <= tx.now)
    ready = sa.select(runs.c.id).where(runs.c.leg == "ready", due, leases.of_agents(agents))
    return tx.execute(ready.limit(1)).first() is not None


def look(tx: Tx, agents: frozenset[str]) -> Ahead:
    """All that a round looks for, in one transaction: a server with nothing to do pays for one a minute, not five."""
    lapse = leases.next_lapse(tx)
    is_due = (
        (lapse is not None and lapse < tx.now)
        or bool(unknown_agents.unwatched(tx, agents))
        or bool(timers.due_now(tx))
        or _ready_now(tx, agents)
    )
    found = (timers.next_due(tx), lapse, leases.next_ready_at(tx))
    return Ahead(is_due, lapse, [moment for moment in found if moment is not None])


def _cut_calls(tx: Tx, run_id: str) -> list[str]:
    """Calls and stages that had begun when the run was cancelled."""
    mine = sa.select(effects.c.id).where(effects.c.run_id == run_id, effects.c.kind != "model", ~effects.c.inherited)
    cut = mine.where(effects.c.status == "cancelled", effects.c.started_at.is_not(None))
    return list(tx.execute(cut).scalars())
