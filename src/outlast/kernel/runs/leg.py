"""One leg: load, decide, execute, record, and repeat, until the run has ended or waits for a user."""

from collections.abc import Sequence
from typing import Any, Final

import anyio

from outlast.db.database import Tx
from outlast.kernel.runs import leases, store
from outlast.kernel.runs.claims import Claimed
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.flow_run import perform_flow
from outlast.kernel.runs.handoffs import hand_over
from outlast.kernel.runs.model_turn import REFUSED, ask_model
from outlast.kernel.runs.outcome import error_data
from outlast.kernel.runs.parked import announce_decisions, park
from outlast.kernel.runs.rules import AskModel, CallTools, Check, End, HandOver, Prepare, Wait
from outlast.kernel.runs.shapes import RunStarted, StepReset
from outlast.kernel.runs.stages import perform_stage
from outlast.kernel.runs.tool_calls import call_tools, lost_so_far
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.streams.fold import RunFold, fold_lines
from outlast.kernel.streams.log_store import read_all

LAST_WORDS_S: Final = 5.0  # how long the last transaction of a cancelled leg may take


class Leg:
    """A claimed run at work in this process. `stop` is None while it may work; "person" (cancelled), "shutdown", or
    "fence" (another attempt has the run). `over` is set once no part of it runs any more."""

    def __init__(self, engine: Engine, claimed: Claimed) -> None:
        self.engine = engine
        self.run = claimed.run
        self.context = RunContext(engine, claimed, lambda: self.stop == "shutdown")
        self.stop: str | None = None
        self.ended = False
        self.over = anyio.Event()
        self._first = first = claimed.first
        # The next turn, if it was named with the claim or with the last call's result.
        self._named = (first.before, first.turn) if first is not None and first.turn is not None else None
        self._scope = anyio.CancelScope()

    async def work(self) -> None:
        """Run until the run has ended, waits for a user, or is taken away. Raises only `FenceLost`,
        `StorageUnavailable` or `DiskFull` (the run is resumed later)."""
        try:
            self.context.writer.open()
            self.engine.flusher.add(self.context.writer)
            with self._scope:
                await self._open()
                while not await self._advance():
                    pass
            # Shielded: a stop of the server waits for the last transaction. If it hangs, `cancel_force` ends the run.
            if self.stop == "person" and not self.ended:
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + LAST_WORDS_S):
                    run = await self.engine.db.read(store.run_of, self.run.id)
                    await self.context.end(End("cancelled", run.cancel_reason or "user"))
                    self.ended = True
                    self.context.files_changed(None)
        finally:
            self.engine.flusher.remove(self.context.writer)
            self.context.writer.close()

    def cancel(self, reason: str) -> None:
        """Stop at once: "person" ends the run as cancelled, "shutdown" and "fence" leave it to the next attempt."""
        self.stop = self.stop or reason
        self.context.is_cancelled = self.stop == "person"
        self._scope.cancel()

    async def _open(self) -> None:
        """Begin: a first attempt starts the run; a later one rebuilds the shown parts and takes back the cut ones."""
        context, first = self.context, self._first
        if first is None:
            context.open_with(("run.started", RunStarted(run_id=self.run.id, attempt=self.run.attempt)))
        if self.run.attempt == 1 and self.run.seq_saved <= 1:  # only `run.queued` has been shown
            return
        context.files_changed(None)  # a killed worker may not have saved them
        context.shown, context.lost_sandboxes = await self.engine.db.read(shown_so_far, self.run.id)
        context.shown.parts = [part for part in context.shown.parts if "type" in part]
        if first is not None:  # it cut nothing
            return
        transcript = await context.transcript()
        turn = transcript.last_turn or transcript.flow
        cut = [e for e in (transcript.calls_of(turn.step) if turn else ()) if e.status == "started"]
        if turn is not None and (cut or turn.status == "started"):
            again = {effect.part_id for effect in cut}  # asked again: their output is shown again, from the start
            kept: Any = [
                part | {"output": "", "status": "pending"} if part["id"] in again else part
                for part in context.shown.parts
                if part["step"] == turn.step
            ]
            # Followers may have seen deltas that were never saved: they get the step as stored in the database.
            reset = StepReset(run_id=self.run.id, step=turn.step, attempt=self.run.attempt, parts=kept)
            context.open_with(("step.reset", reset))

    async def _advance(self) -> bool:
        """Run one effect. True if the leg is over."""
        context = self.context
        first, self._first = self._first, None
        if first is not None and first.calls:  # also if it stops: the journal says that they have begun
            return await self._call(first.calls, are_started=True)
        if self.stop == "shutdown":  # between two effects: everything that happened is recorded
            await self.engine.db.write(leases.hand_back, self.run.id, self.run.attempt)
            return True
        if self._named is not None:  # already in the journal: after a kill here the next attempt asks it
            (transcript, turn), self._named = self._named, None
            self.ended = await ask_model(context, transcript, turn.step, turn)
            return self.ended
        transcript = await context.transcript()
        if context.agent.flow is not None:
            self.ended, is_parked = await perform_flow(context, transcript)
            return self.ended or is_parked
        await announce_decisions(context, transcript)
        coming = context.next(transcript)
        if isinstance(coming, AskModel):
            self.ended = await ask_model(context, transcript, coming.step)
        elif isinstance(coming, (Prepare, Check)):
            self.ended = await perform_stage(context, transcript, coming)
        elif isinstance(coming, CallTools):
            return await self._call([transcript.effect(effect_id) for effect_id in coming.effect_ids])
        elif isinstance(coming, HandOver):
            self.ended = await hand_over(context, coming.effect_id)
        elif isinstance(coming, Wait):
            await context.files_saved()
            return await park(context, coming.waiting_for)
        else:
            await context.end(coming, REFUSED if coming.stop_reason == "policy" else None)
            self.ended = True
        return self.ended

    async def _call(self, effects: Sequence[Effect], *, are_started: bool = False) -> bool:
        """The calls of a step. If no sandbox is available, the run ends. True if the leg is over."""
        outcome = await call_tools(self.context, effects, are_started=are_started)
        self._named = outcome.named
        if outcome.unavailable is not None:
            journal = await self.context.transcript()
            # Without any result of a tool, an answer could not even begin.
            answered = any(effect.kind == "tool" and effect.status == "finished" for effect in journal.effects)
            await self.context.end(End("error", "sandbox"), error_data(outcome.unavailable), answered)
            self.ended = True
        elif outcome.suspended:
            await self.context.files_saved()
            return await park(self.context, "run", outcome.suspended)
        return self.ended


def shown_so_far(tx: Tx, run_id: str) -> tuple[RunFold, set[str]]:
    """The run as its log shows it, and the sandboxes whose loss it shows. Not on the event loop: a log may be long."""
    lines = read_all(tx, run_id)
    return fold_lines(lines), lost_so_far(lines)
