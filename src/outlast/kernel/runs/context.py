"""The context of a run's effect: the run, its agent, and the only writer of its log.

An effect receives this context and returns its result; it sets no attribute. The state of a leg between two effects
(shown parts, notes for the model, changed workspaces) is kept here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import anyio

from outlast.db.database import Tx
from outlast.kernel.agents.tool import Tool
from outlast.kernel.models.protocol import Delta, ModelSpec, ToolSpec
from outlast.kernel.runs import store
from outlast.kernel.runs.claims import Claimed
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.rules import End, Next, next_step
from outlast.kernel.runs.settlement import settle
from outlast.kernel.runs.shapes import ErrorData
from outlast.kernel.runs.transcript import Run, Transcript
from outlast.kernel.runs.turns import Turn
from outlast.kernel.streams.fold import RunFold, apply
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.streams.writer import RunWriter, Streamed

T = TypeVar("T")
SAVE_FILES_S = 15.0  # how long an answer waits for its checkpoint; a slower one is completed afterwards


class RunContext:
    """`shown` is the run as followers see it; `is_cancelled` says whether a user has ended it, and
    `is_stopping` whether the server stops, so that nothing new begins. `steps_began` has the
    time at which each step of the workflow was last reported to begin."""

    def __init__(self, engine: Engine, claimed: Claimed, is_stopping: Callable[[], bool] = lambda: False) -> None:
        run, first_seq, first = claimed
        self.engine = engine
        self.run = run
        self.agent = engine.agents[run.profile]
        self.shown = RunFold()
        self.lost_sandboxes: set[str] = set()  # losses that the run has shown
        self.is_cancelled = False
        self.is_stopping = is_stopping
        shown = () if first is None else first.lines
        numbers = run.seq_saved, first_seq, run.seq_reserved
        self.writer = RunWriter(engine.db, engine.hub, engine.clock, run.id, run.attempt, *numbers, shown)
        self._steps_began: dict[str, datetime] = {}
        self._opening: list[NamedEvent] = []
        self._notes: list[str] = []
        self._workspace_id = run.workspace_id
        self._streamed: dict[tuple[str, str], list[str]] = {}  # (event, part id): deltas not yet folded
        self._has_recorded = first is not None
        self._connected: Mapping[str, Tool] | None = None  # None: not read yet
        self._missing: Mapping[str, str] | None = None  # None: not looked up yet
        for event in () if first is None else first.events:
            self._fold(event)

    @property
    def model(self) -> ModelSpec:
        """The run's model."""
        return self.engine.catalog.get(self.run.model)

    def tool(self, name: str | None) -> Tool | None:
        """The tool of that name, or None."""
        return self.engine.tool(self.agent, name) or (self._connected or {}).get(name or "")

    def connect_in(self, tx: Tx) -> tuple[ToolSpec, ...]:
        """Read which tools the run has beside those of its agent, as `tool` finds them from then on; returns those that
        a model is offered. A tool of the agent goes before one of the same name."""
        self._connected = self.engine.connected(tx, self.run, self.agent)
        return tuple(tool.spec for name, tool in self._connected.items() if self.agent.tool(name) is None)

    async def connect(self) -> None:
        """As `connect_in`, unless this leg has read them."""
        if self._connected is None:
            await self.engine.db.read(self.connect_in)

    async def missing_tools(self) -> Mapping[str, str]:
        """Why tools beside those of its agent are missing in this leg, by their server. The first call looks it up."""
        if self._missing is None:
            self._missing = await self.engine.connected.prepare(self.run, self.agent)
        return self._missing

    @property
    def tool_names(self) -> Sequence[str]:
        """Names of all its tools."""
        return list(dict.fromkeys([*(tool.name for tool in self.agent.tools), *(self._connected or {})]))

    def open_with(self, event: NamedEvent) -> None:
        """A fact of the claim, recorded together with the first effect."""
        self._opening.append(event)

    async def record(self, change: Callable[[Tx, list[NamedEvent]], T], last: bool = False) -> T:
        """`RunWriter.record`, with the facts of the claim before the first, and folded into `shown`. `change` adds its
        events to the list; it may be run again, with an empty list."""
        opening = self._opening
        events: list[NamedEvent] = []

        def run(tx: Tx) -> T:
            added: list[NamedEvent] = []
            result = change(tx, added)
            events[:] = [*opening, *added]  # reset in each try: a lost connection runs this function again
            return result

        self._fold_streamed()  # first: `change` may read `shown`
        result = await self.writer.record(events, run, last)
        self._has_recorded = True
        if self._opening is opening:
            self._opening = []
        for event in events:
            self._fold(event)
        return result

    async def record_events(self, *facts: NamedEvent) -> None:
        """Record only these facts."""
        await self.record(lambda _tx, events: events.extend(facts))

    def show(self, items: Sequence[Streamed]) -> None:
        """Show streamed deltas and new parts at once; they are saved within the save interval."""
        self.writer.stream(items)
        for item in items:
            if len(item) == 2:
                self._fold_streamed()
                self._fold(item)
            else:
                self._streamed.setdefault(item[:2], []).append(item[2])

    async def show_turn(
        self, turn: Turn, deltas: Iterable[Delta], record: Callable[[NamedEvent], Awaitable[None]] | None = None
    ) -> None:
        """Show the text that these deltas add to the turn. With `record`, a new part is recorded before its text is
        shown; otherwise it is shown with it, since a crash takes back the unfinished turn anyway."""
        shown: list[Streamed] = []
        for delta in deltas:
            begun, grows = turn.take(delta)
            if begun is not None and record is None:
                shown.append(begun)
            elif begun is not None and record is not None:
                if shown:
                    self.show(shown)
                    shown = []
                await record(begun)
            if grows is not None:
                shown.append(grows)
        if shown:
            self.show(shown)

    def _fold(self, event: NamedEvent) -> None:
        name, data = event
        apply(self.shown, {"event": name, "data": data.model_dump(), "sequenceNumber": 0})

    def _fold_streamed(self) -> None:
        """Add the streamed text to `shown`: once per record, not once per delta, so that a long answer costs no more
        per word than a short one."""
        streamed, self._streamed = self._streamed, {}
        for (event, part_id), texts in streamed.items():
            data = {"part_id": part_id, "delta": "".join(texts)}
            apply(self.shown, {"event": event, "data": data, "sequenceNumber": 0})

    def _parts_after(self, events: Sequence[NamedEvent]) -> list[dict[str, Any]]:
        """The shown parts as these events will have changed them once they are recorded."""
        after = replace(self.shown, parts=[dict(part) for part in self.shown.parts])
        for name, data in events:
            apply(after, {"event": name, "data": data.model_dump(), "sequenceNumber": 0})
        return after.parts

    def note(self, text: str) -> None:
        """Add a note that the model reads with the next result of a call."""
        self._notes.append(text)

    def take_notes(self) -> tuple[str, ...]:
        """Remove and return the notes so far: the caller passes them to the model, or its own result replaces them."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def step_began(self, name: str, *, restarts: bool) -> datetime:
        """The time at which this step of the workflow began: now, if it did not begin before or `restarts`."""
        now = self.engine.clock.now()
        if restarts:
            self._steps_began[name] = now
        return self._steps_began.setdefault(name, now)

    def works_in(self, workspace_id: str) -> None:
        """Note that calls of this run change files of that workspace from now on."""
        self._workspace_id = workspace_id

    def files_changed(self, effect_id: str | None) -> None:
        """A call may have changed files: they are saved while the run continues."""
        if self.engine.files is not None and self._workspace_id is not None:
            self.engine.files.changed(self._workspace_id, self.run.id, effect_id)

    async def files_saved(self) -> None:
        """Before the run ends or waits: save its files in a checkpoint, unless that takes too long."""
        if self.engine.files is not None and self._workspace_id is not None:
            # A slower one is not lost: the call's own commit has marked the workspace as changed.
            with anyio.move_on_after(SAVE_FILES_S):
                await self.engine.files.settled(self._workspace_id)

    async def transcript(self) -> Transcript:
        """The journal of the run's effects. A run that was claimed for the first time has none."""
        if self.run.is_new and not self._has_recorded:
            return Transcript(self.run)
        return await self.engine.db.read(self.transcript_in)

    def transcript_in(self, tx: Tx) -> Transcript:
        """The journal of the run's effects, in this transaction."""
        return store.transcript_of(tx, self.run.id, self.engine.agents.questions)

    def next(self, transcript: Transcript) -> Next:
        """The next step, by the rules."""
        return next_step(transcript.situation(self.engine.max_steps(self.agent), self.agent.plan))

    async def end(
        self,
        end: End,
        error: ErrorData | None = None,
        save_message: bool = True,
        first: Callable[[Tx], None] = lambda _tx: None,
    ) -> None:
        """End the run, in a separate transaction that begins with `first`."""
        if end.status != "cancelled":  # a cancel is confirmed at once
            await self.files_saved()

        def change(tx: Tx, events: list[NamedEvent]) -> None:
            first(tx)
            events.extend(self.settle_in(tx, end, error, save_message))

        await self.record(change, last=True)

    def settle_in(
        self,
        tx: Tx,
        end: End,
        error: ErrorData | None = None,
        save_message: bool = True,
        run: Run | None = None,
        *,
        before: Sequence[NamedEvent] = (),
        take_over: Callable[[Tx], None] | None = None,
    ) -> list[NamedEvent]:
        """End the run inside a record of this context; returns the closing events. `run`: the row as read in this
        transaction; `before`: events of this record that the answer shows; `take_over` as in `Ending`."""
        self._fold_streamed()  # the answer includes text that only this record saves
        run = run or store.run_of(tx, self.run.id)
        by = run.cancelled_by if end.status == "cancelled" else None
        parts = self._parts_after(before) if before else self.shown.parts
        ending = Ending(end, parts, error, save_message=save_message, by=by, take_over=take_over)
        if self.agent.plan is not None:
            journal = self.transcript_in(tx)
            problems = journal.problems if end.stop_reason == "problems" else ()
            ending = replace(ending, problems=problems, facts=journal.facts, workflow=self.shown.workflow)
        elif self.agent.lines is not None and end.status == "completed":
            ending = replace(ending, problems=self.transcript_in(tx).untold)
        return settle(tx, self.engine.settings, self.agent, run, ending)
