"""One leg: load, decide, carry out, record, and again, until the run has ended or waits for a person."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import anyio

from outlast.base.errors import OutlastError
from outlast.base.events import ErrorData, RunStarted, StepReset
from outlast.db.database import Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.model import Effect, Run, Transcript
from outlast.kernel.runs.model_turn import REFUSED, ask_model
from outlast.kernel.runs.parked import announce_decisions, park
from outlast.kernel.runs.profile import lines_of, stages_of
from outlast.kernel.runs.rules import AskModel, CallTools, Check, End, Next, Prepare, Wait, next_step
from outlast.kernel.runs.settlement import Ending, settle
from outlast.kernel.runs.stages import perform_stage
from outlast.kernel.runs.tool_calls import call_tools, lost_so_far
from outlast.kernel.streams.fold import RunFold, apply, fold_lines
from outlast.kernel.streams.log import NamedEvent, read_all
from outlast.kernel.streams.writer import RunWriter

T = TypeVar("T")
LAST_WORDS_S = 5.0  # how long the last transaction of a cancelled leg may take
SAVE_FILES_S = 15.0  # how long an answer waits for its checkpoint; then it is taken afterwards


class Leg:
    """A claimed run in the hands of this worker. `stop` is None while it may work; "person" (cancelled), "shutdown", or
    "fence" (another attempt has the run). `over` is set once nothing of it runs any more."""

    def __init__(self, engine: Engine, run: Run, first_seq: int) -> None:
        self.engine = engine
        self.run = run
        self.profile = engine.profiles[run.profile]
        self.staged, self.lined = stages_of(self.profile), lines_of(self.profile)
        self.steps_began: dict[str, datetime] = {}  # when each step of the workflow was last said to begin
        self.stop: str | None = None
        self.fatal: OutlastError | None = None
        self.ended = False
        self.over = anyio.Event()
        self.shown = RunFold()
        self.opening: list[NamedEvent] = []  # facts of the claim, recorded together with the first effect
        self.named: tuple[Transcript, Effect] | None = (
            None  # the next turn, named with the last call's result
        )
        self.lost: set[str] = set()  # sandboxes whose loss this leg has told of
        self.untold: list[str] = []  # what the model is to read with the next result
        self.workspace_id = run.workspace_id  # where its calls have changed files
        self.scope = anyio.CancelScope()
        self._streamed: dict[tuple[str, str], list[str]] = {}  # (event, part id): deltas not yet folded
        self.writer = RunWriter(
            engine.db,
            engine.hub,
            engine.clock,
            run.id,
            run.attempt,
            run.seq_saved,
            first_seq,
            run.seq_reserved,
        )

    async def work(self) -> None:
        """Until the run has ended, waits for a person, or is taken away. Raises `FenceLost`, `StorageUnavailable` or
        `DiskFull` (the run is taken up again), nothing else."""
        try:
            self.writer.open()
            self.engine.flusher.add(self.writer)
            with self.scope:
                await self._open()
                while not await self._advance():
                    pass
            if self.stop == "person" and not self.ended:
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + LAST_WORDS_S):
                    await self._end_now()
        finally:
            self.engine.flusher.remove(self.writer)
            self.writer.close()

    def cancel(self, reason: str) -> None:
        """Stop at once: "person" ends the run as cancelled, "shutdown" and "fence" leave it to the next attempt."""
        self.stop = self.stop or reason
        self.scope.cancel()

    async def record(self, events: Sequence[NamedEvent], change: Callable[[Tx], T], last: bool = False) -> T:
        """`RunWriter.record`, with the facts of the claim before the first, and folded into what is shown. `change` may
        add to `events`; it may be run again."""
        opening, given = self.opening, list(events)
        all_events: list[NamedEvent] = []

        def run(tx: Tx) -> T:
            if isinstance(events, list):
                events[:] = given
            result = change(tx)
            all_events[:] = [*opening, *events]
            return result

        self._fold_streamed()
        result = await self.writer.record(all_events, run, last)
        if self.opening is opening:
            self.opening = []
        for name, data in all_events:
            apply(self.shown, {"event": name, "data": data.model_dump(), "sequenceNumber": 0})
        return result

    def show(self, deltas: Sequence[tuple[str, str, str]]) -> None:
        """Show streamed deltas at once; they are saved within the save interval."""
        self.writer.deltas(deltas)
        for event, part_id, text in deltas:
            self._streamed.setdefault((event, part_id), []).append(text)

    def _fold_streamed(self) -> None:
        """Add what was streamed to what is shown: once per record, not once per delta, so that a long answer costs no
        more per word than a short one."""
        streamed, self._streamed = self._streamed, {}
        for (event, part_id), texts in streamed.items():
            data = {"part_id": part_id, "delta": "".join(texts)}
            apply(self.shown, {"event": event, "data": data, "sequenceNumber": 0})

    def files_changed(self, effect_id: str | None) -> None:
        """A call may have changed files: they are saved beside what comes next."""
        if self.engine.files is not None and self.workspace_id is not None:
            self.engine.files.changed(self.workspace_id, self.run.id, effect_id)

    async def files_saved(self) -> None:
        """Before the run ends or waits: its files are in a checkpoint, unless that takes too long."""
        if self.engine.files is not None and self.workspace_id is not None:
            with anyio.move_on_after(SAVE_FILES_S):
                await self.engine.files.settled(self.workspace_id)

    async def transcript(self) -> Transcript:
        return await self.engine.db.read(store.transcript_of, self.run.id, self.engine.questions())

    def next(self, transcript: Transcript) -> Next:
        """What the rules say comes next."""
        mark = None if self.staged is None else self.staged.done_mark
        return next_step(transcript.situation(self.engine.max_steps(self.run.profile), mark))

    def settle_in(
        self, tx: Tx, end: End, error: ErrorData | None = None, save_message: bool = True
    ) -> list[NamedEvent]:
        """End the run inside a record of this leg; returns the closing events."""
        self._fold_streamed()
        run = store.run_of(tx, self.run.id)
        by = run.cancelled_by if end.status == "cancelled" else None
        ending = Ending(end, self.shown.parts, error, save_message=save_message, by=by)
        if self.staged is not None:
            journal = store.transcript_of(tx, self.run.id, self.engine.questions())
            problems = journal.problems if end.stop_reason == "problems" else ()
            ending = replace(ending, problems=problems, facts=journal.facts, workflow=self.shown.workflow)
        elif self.lined is not None and end.status == "completed":
            journal = store.transcript_of(tx, self.run.id, self.engine.questions())
            ending = replace(ending, problems=journal.untold)
        return settle(tx, self.engine.settings, self.profile, run, ending)

    async def _open(self) -> None:
        """Begin: a first attempt starts the run; a later one rebuilds what was shown and takes back what was cut."""
        self.opening.append(("run.started", RunStarted(run_id=self.run.id, attempt=self.run.attempt)))
        if self.run.attempt == 1 and self.run.seq_saved <= 1:
            return
        self.files_changed(None)  # a killed worker may not have come to it
        lines = await self.engine.db.read(read_all, self.run.id)
        self.shown, self.lost = fold_lines(lines), lost_so_far(lines)
        self.shown.parts = [part for part in self.shown.parts if "type" in part]
        transcript = await self.transcript()
        turn = transcript.last_turn
        cut = [e for e in (transcript.calls_of(turn.step) if turn else ()) if e.status == "started"]
        if turn is not None and (cut or turn.status == "started"):
            again = {effect.part_id for effect in cut}
            parts = [_cleared(part) if part["id"] in again else part for part in self.shown.parts]
            kept: Any = [part for part in parts if part["step"] == turn.step]
            reset = StepReset(run_id=self.run.id, step=turn.step, attempt=self.run.attempt, parts=kept)
            self.opening.append(("step.reset", reset))

    async def _advance(self) -> bool:
        """One effect. True: the leg is over."""
        if self.stop == "shutdown":
            await self.engine.db.write(store.hand_back, self.run.id, self.run.attempt)
            return True
        if self.named is not None:
            (transcript, turn), self.named = self.named, None
            await ask_model(self, transcript, turn.step, turn)
            return self.ended
        transcript = await self.transcript()
        await announce_decisions(self, transcript)
        coming = self.next(transcript)
        if isinstance(coming, AskModel):
            await ask_model(self, transcript, coming.step)
        elif isinstance(coming, (Prepare, Check)):
            await perform_stage(self, transcript, coming)
        elif isinstance(coming, CallTools):
            await call_tools(self, [transcript.effect(effect_id) for effect_id in coming.effect_ids])
        elif isinstance(coming, Wait):
            await self.files_saved()
            return await park(self, coming.waiting_for)
        else:
            await self.end(coming, REFUSED if coming.stop_reason == "policy" else None)
        if self.fatal is not None and not self.ended:
            await self.end(
                End("error", "sandbox"),
                _error_data(self.fatal),
                save_message=self._did_something(await self.transcript()),
            )
        return self.ended

    async def end(self, end: End, error: ErrorData | None = None, save_message: bool = True) -> None:
        """End the run, in a transaction of its own."""
        if end.status != "cancelled":  # that is confirmed at once
            await self.files_saved()
        events: list[NamedEvent] = []
        await self.record(
            events, lambda tx: events.extend(self.settle_in(tx, end, error, save_message)), last=True
        )
        self.ended = True

    async def _end_now(self) -> None:
        run = await self.engine.db.read(store.run_of, self.run.id)
        await self.end(End("cancelled", run.cancel_reason or "user"))
        self.files_changed(None)

    def _did_something(self, transcript: Transcript) -> bool:
        """Whether any tool has ever answered in this run: without, an answer could not even begin."""
        return any(effect.kind == "tool" and effect.status == "finished" for effect in transcript.effects)


def _cleared(part: dict[str, Any]) -> dict[str, Any]:
    """A call that is asked about again shows its output anew, from the start."""
    return {**part, "output": "", "status": "pending"}


def _error_data(error: OutlastError) -> ErrorData:
    return ErrorData(
        code=error.code, message=error.message, hint=error.hint, retry_after_s=error.retry_after_s
    )


def lease_of(engine: Engine) -> timedelta:
    return timedelta(seconds=engine.settings.runs.lease_s)
