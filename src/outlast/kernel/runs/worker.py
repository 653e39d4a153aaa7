"""The worker: claims ready legs, renews its leases, passes cancels on, and stops in two steps."""

from collections.abc import Collection
from datetime import timedelta

import anyio
import sqlalchemy as sa
from anyio.abc import TaskGroup

from outlast.base.errors import FenceLost, OutlastError, StorageUnavailable, TryLater
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Tx
from outlast.kernel.runs import claims, crashes, leases, store
from outlast.kernel.runs.claims import Claimed
from outlast.kernel.runs.direct_claim import begin_new
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.lease_renewer import LeaseRenewer, LegKey
from outlast.kernel.runs.leg import Leg, shown_so_far
from outlast.kernel.runs.outcome import Ending, leaves_of
from outlast.kernel.runs.rules import End
from outlast.kernel.runs.settlement import end_unheld
from outlast.kernel.runs.shapes import ErrorData
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.set_aside import kinds
from outlast.kernel.streams.fold import RunFold

CANCEL_BELL = "cancels"
CLAIM_BATCH = 50
RECOVER_S = (0.2, 0.5, 1.0, 2.0, 5.0)
FAULT = ErrorData(
    code="internal_error", message="The run stopped because of a bug in the server.", hint="Retry the run."
)
OLD_LEG_S = 20.0  # how long the old leg of a run that was claimed again may take to end


class Worker:
    """Runs legs in this process, up to `settings.runs.max_concurrent` at once. While idle, it waits on a bell.

    `stop_softly`: claim nothing more and let each leg finish its current effect; `run` returns when none is left, or
    when its scope is cancelled (then leases are handed back, and the attempts do not count as failures).
    """

    def __init__(self, engine: Engine, supervisor: Supervisor | None = None) -> None:
        self._engine = engine
        self._supervisor = supervisor or Supervisor(engine.clock)
        self._legs: dict[LegKey, Leg] = {}
        self._stopping = False
        self._idle = anyio.Event()
        self._renewer = LeaseRenewer(engine, lambda: tuple(self._legs), self._drop)

    async def run(self) -> None:
        """Until stopped or cancelled."""
        async with anyio.create_task_group() as group:
            keep = self._supervisor.keep
            group.start_soon(keep, "saving of streamed text", self._engine.flusher.run)
            group.start_soon(keep, "renewal of leases", self._renewer.run)
            group.start_soon(keep, "cancels of runs", self._pass_cancels)
            group.start_soon(keep, "runs that come in", self._take_in, group)
            # A failed claim must not cut the running legs: it is restarted without them.
            await keep("claims of runs", self._claim_forever, group, vital=True)
            group.cancel_scope.cancel()

    def stop_softly(self) -> None:
        """Claim nothing more; every leg hands its run back before its next effect."""
        self._stopping = True
        self._engine.intake.shut()
        for leg in self._legs.values():
            leg.stop = leg.stop or "shutdown"  # an earlier cancel by a user still ends the run
        self._engine.hub.ring(store.BELL)  # the claims notice that they are stopped

    async def stop_hard(self) -> None:
        """Cut every leg short and hand the runs back."""
        for leg in list(self._legs.values()):
            leg.cancel("shutdown")
        with anyio.move_on_after(2):
            while self._legs:
                await self._idle.wait()

    async def _claim_forever(self, group: TaskGroup) -> None:
        # Unsure at first too: an earlier process under this node's name may have left runs that it held.
        engine, is_unsure = self._engine, True
        with engine.hub.listen(store.BELL) as channel:
            while not (self._stopping and not self._legs and not engine.intake.waiting):
                version = channel.version  # before the claim: a bell during it is not missed
                room = engine.settings.runs.max_concurrent - len(self._legs)
                most = min(room, CLAIM_BATCH)
                claimed: list[Claimed] = []
                if room > 0 and not self._stopping:
                    engine.intake.leave(room - most)
                    try:
                        claimed = await self._claim(most, is_unsure)
                    except TryLater as error:
                        is_unsure = True  # it may have been committed anyway: its runs have no leg here
                        engine.intake.shut()
                        engine.log("claim failed", error=error)
                        await engine.clock.sleep(error.retry_after_s or 1)
                        continue
                    is_unsure = False
                for one in claimed:
                    self._begin(group, one)
                if room <= 0 or len(claimed) < most or self._stopping:
                    if room > 0 and not self._stopping:
                        engine.intake.let_in(engine.settings.runs.max_concurrent - len(self._legs))
                    await channel.wait(version)

    async def _take_in(self, group: TaskGroup) -> None:
        async for claimed in self._engine.intake.come_in():
            self._begin(group, claimed)

    def _begin(self, group: TaskGroup, claimed: Claimed) -> None:
        """Start the leg of a run that this process has claimed."""
        once, run = self._supervisor.guard.once, claimed.run
        if run.deaths >= crashes.FATAL_DEATHS:
            group.start_soon(once, kinds.RUN, run.id, self._refuse, run)
            return
        leg = Leg(self._engine, claimed)
        leg.stop = "shutdown" if self._stopping else None
        self._legs[run.id, run.attempt] = leg
        self._renewer.wake()
        group.start_soon(once, kinds.RUN, run.id, self._work, leg)

    async def _claim(self, most: int, is_unsure: bool) -> list[Claimed]:
        """Claim up to `most` runs of the agents that this server has. `is_unsure`: an earlier claim may have been
        committed without an answer."""
        engine, known = self._engine, set(self._legs) if is_unsure else None
        lease = timedelta(seconds=engine.settings.runs.lease_s)
        agents = engine.agents.names

        def run(tx: Tx) -> list[Claimed]:
            claimed = claims.claim_ready(tx, engine.node_id, lease, most, known, agents)
            return [begin_new(tx, engine, *one) for one in claimed]

        return await engine.db.write(run)

    async def _work(self, leg: Leg) -> None:
        """The edge of a leg: in any case, the run is ended, parked or claimable again."""
        try:
            await self._end_older(leg)
            await leg.work()
            if leg.stop == "fence":
                await self._outlived(leg)
        except FenceLost:
            await self._outlived(leg)
        except BaseExceptionGroup as group:
            await self._recover(leg, group)
        except Exception as error:
            await self._recover(leg, error)
        finally:
            self._legs.pop((leg.run.id, leg.run.attempt), None)
            leg.over.set()
            # Shielded, since a hard stop cancels this task. After a kill before it, the run waits for its lease to
            # lapse.
            if leg.stop == "shutdown" and not leg.ended:
                with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                    await self._hand_back(leg, 0)
            if not self._legs:
                self._idle.set()
                self._idle = anyio.Event()
            if not self._engine.intake.free_place():
                self._engine.hub.ring(store.BELL)  # there is room for a run that waits

    async def _end_older(self, leg: Leg) -> None:
        """This process held the run before, and its lease lapsed while the process was suspended: that leg ends before
        the new one writes."""
        older = [other for other in self._legs_of(leg.run.id) if other.run.attempt < leg.run.attempt]
        for other in older:
            other.cancel("fence")
        with anyio.move_on_after(OLD_LEG_S):  # one that cannot end writes nothing any more: the fence refuses it
            for other in older:
                await other.over.wait()

    async def _outlived(self, leg: Leg) -> None:
        """Another attempt has the run, and this process lives: its lease lapsed because it was delayed."""
        try:
            await self._engine.db.write(crashes.take_back_death, leg.run.id, leg.run.attempt)
        except OutlastError as error:
            self._engine.log("death not taken back", run_id=leg.run.id, error=error)

    def _legs_of(self, run_id: str) -> list[Leg]:
        return [leg for (id_, _), leg in self._legs.items() if id_ == run_id]

    async def _recover(self, leg: Leg, error: BaseException) -> None:
        """Storage failed: try again from the transcript. Any other error is our bug: the run ends with it."""
        causes = leaves_of(error)
        if any(isinstance(cause, FenceLost) for cause in causes):
            await self._outlived(leg)
            return
        storage = any(isinstance(cause, TryLater) for cause in causes)
        self._engine.log("leg broke off", run_id=leg.run.id, attempt=leg.run.attempt, error=error)
        for wait_s in RECOVER_S:  # after the last, the lease lapses and another attempt takes the run
            try:
                if storage:
                    await self._hand_back(leg, 1.0)  # not at once: the storage has just failed
                else:
                    # End the run with the state in its log: the leg's own state is no longer trusted.
                    await self._end_claimed(leg.run, FAULT)
                return
            except FenceLost:
                return
            except OutlastError:
                await self._engine.clock.sleep(wait_s)

    async def _hand_back(self, leg: Leg, after_s: float) -> None:
        try:
            await self._engine.db.write(leases.hand_back, leg.run.id, leg.run.attempt, after_s)
        except StorageUnavailable:
            if not after_s:
                return  # stopping: the lease lapses by itself
            raise

    async def _refuse(self, run: Run) -> None:
        """End a run that no leg may execute, because it crashes the server."""
        try:
            await self._end_claimed(run, crashes.ERROR)
        except OutlastError as error:  # the lease lapses, and the next claim tries again
            self._engine.log("run not ended", run_id=run.id, error=error)

    async def _end_claimed(self, claimed: Run, error: ErrorData) -> None:
        """End the run with the state in its log; without it, if reading that may crash the server."""
        readable = claimed.deaths <= crashes.FATAL_DEATHS
        shown = (await self._engine.db.read(shown_so_far, claimed.id))[0] if readable else RunFold()

        def change(tx: Tx) -> None:
            run = store.run_of(tx, claimed.id)
            if run.leg == "held" and run.attempt == claimed.attempt:  # else another attempt has it, or it ended
                ending = Ending.of(End("error", "provider"), shown, error)
                end_unheld(tx, self._engine.settings, self._engine.agents.get(run.profile), run, ending)

        await self._engine.db.write(change)

    def _drop(self, lost: Collection[LegKey]) -> None:
        """Cancel legs whose run another attempt has, or may have. One that hangs in a lost connection ends later; its
        followers go on from the database at once."""
        for key in lost:
            leg = self._legs.get(key)
            if leg is not None and not leg.ended:
                leg.cancel("fence")
                self._engine.hub.unwrite(*key)

    async def _pass_cancels(self) -> None:
        """A cancel is a durable flag first; the bell only delivers it sooner."""
        with self._engine.hub.listen(CANCEL_BELL) as channel:
            while True:
                version = channel.version  # before the flags are read: a cancel meanwhile rings again
                try:
                    held = list({run_id for run_id, _ in self._legs})
                    cancelled = await self._engine.db.read(_cancelled_among, held) if held else []
                except OutlastError as error:  # try again: the flags are still in the database
                    self._engine.log("cancels not read", error=error)
                    await self._engine.clock.sleep(error.retry_after_s or 1)
                    continue
                for leg in [leg for run_id in cancelled for leg in self._legs_of(run_id)]:
                    leg.cancel("person")
                await channel.wait(version)


def _cancelled_among(tx: Tx, run_ids: list[str]) -> list[str]:
    cancelled = sa.select(runs.c.id).where(runs.c.id.in_(run_ids), runs.c.cancel_requested_at.is_not(None))
    return list(tx.execute(cancelled).scalars())
