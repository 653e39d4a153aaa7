"""The journal of a guest: an agent of another library, whose own loop is called again from its top as a flow is.

Its units (a turn of its model, a call of a tool, discovery) are known by their names and not by their places, since
its library starts them from tasks of its own. Its turns and calls are effects too, as those of our own agents: shown,
judged by the policy, and decided by people.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, field
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

import anyio
import anyio.to_thread
import orjson

from outlast.base.agent_errors import FlowMisused
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.models.protocol import Delta, TurnEnd
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs import journal_store, policy, store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_starts import name_turn
from outlast.kernel.runs.function_questions import ask_person, question_of, withdraw_question
from outlast.kernel.runs.journal import MAX_STEPS, Parked, RunJournal, contained
from outlast.kernel.runs.outcome import NO_OUTCOME
from outlast.kernel.runs.parked import announce_decisions
from outlast.kernel.runs.rows import FunctionStepRow
from outlast.kernel.runs.shapes import StepCompleted, ToolResultData, UsageData
from outlast.kernel.runs.tables import approvals, effects
from outlast.kernel.runs.tool_call_validation import JudgedCall, ask_approval, plan_call
from outlast.kernel.runs.transcript import Effect, Transcript
from outlast.kernel.runs.turns import OpenPart, Turn, encodable
from outlast.kernel.streams.log_store import NamedEvent

MAX_UNIT_BYTES: Final = 8_000_000  # a turn or a result, perhaps with images
MAX_RESULT_CHARS: Final = 60_000  # of what people see of a result
MAX_PATH_CHARS: Final = 200
IDLE_S: Final = 0.05  # a guest that waits is parked once it has begun nothing for this long
PASSED_ON: Final = "This call was open when an earlier run ended. Call it again if it is still needed."
T = TypeVar("T")
Show = Callable[[Sequence[Delta]], Awaitable[None]]
Also = Callable[[Any, Tx, list[NamedEvent]], None]


class UnitFailed(Exception):
    """A unit that fails in a way that the guest may act on, again each time. `data` is JSON."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data["message"])
        self.data = data


class Result(NamedTuple):
    """What a call gave, as people see it."""

    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """A turn of the guest's model. `value` is JSON; `call_ids` are the guest's ids of its calls, in order; `reasons`:
    why the guest's own code asks a person, by the tool's name; `unjudged`: tools without effects."""

    value: Any
    end: TurnEnd
    call_ids: Sequence[str] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    unjudged: frozenset[str] = frozenset()


class GuestJournal(RunJournal):
    """The units of one guest's run, and the calls of its turns by the ids that the guest knows them by."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._reset()

    def _reset(self) -> None:
        self._named: Counter[str] = Counter()
        self._calls: dict[str, Effect] = {}
        self._asked: set[str] = set()
        self._scope = anyio.CancelScope()
        self._at_work_now = self._begun = 0
        self._waits_for_calls = False
        self._fault: BaseException | None = None

    async def call(self, function: Callable[[], Awaitable[T]]) -> T:
        """Call the guest from its top. Raises `Parked` once it only waits."""
        self._reset()
        self._transcript = await self._reopened()
        with self._scope:
            try:
                value = await contained(function())
            except Exception:
                if not self._scope.cancel_called:  # else it is what the guest makes of its end
                    raise
            else:
                if not self._scope.cancel_called:
                    return value
        if self._fault is not None:
            raise self._fault
        raise Parked

    async def _reopened(self) -> Transcript:
        """The effects of earlier calls of this guest. A decision that comes later is met when the guest would wait."""
        transcript = await self._context.transcript()
        allowed = [effect.id for effect in transcript.effects if (effect.kind, effect.status) == ("tool", "allowed")]
        if allowed:  # the leg works on them: only a later decision makes another one

            def hold(tx: Tx, _events: list[NamedEvent]) -> None:
                for effect_id in allowed:
                    store.update_effect(tx, effect_id, status="deferred")

            await self._context.record(hold)
        await announce_decisions(self._context, transcript)  # what the guest acts on, the log shows
        return transcript

    @property
    def waits_for_calls(self) -> bool:
        return self._waits_for_calls and not self._is_stopped

    @property
    def context(self) -> RunContext:
        return self._context

    def count(self, name: str) -> int:
        """How often this name was counted before, in this call of the guest."""
        self._named[name] += 1
        return self._named[name] - 1

    def has(self, name: str) -> bool:
        """Whether the first unit of this name is recorded."""
        return place_of(name, 0) in self._records

    async def unit(
        self, name: str, work: Callable[[], Awaitable[Any]], also: Also = lambda _value, _tx, _events: None
    ) -> Any:
        """The JSON value of a unit, made once and recorded, together with what `also` does. A crash in it makes it
        again. Raises `UnitFailed` if it did."""
        path = self._path_of(name)
        record = self._records.get(path)
        if record is None:
            record = await self._perform_unit(path, name, work, also)
        else:
            await anyio.lowlevel.checkpoint()
        return await self.value_of(record)

    async def _perform_unit(
        self, path: str, name: str, work: Callable[[], Awaitable[Any]], also: Also
    ) -> FunctionStepRow:
        await self._demand_room()
        self._at_work_now += 1
        self._begun += 1
        try:
            value: Any = None
            failed: dict[str, Any] | None = None
            try:
                value = await work()
                body = _encoded(value)
                if len(body) > MAX_UNIT_BYTES:
                    raise FlowMisused(f"{name} gave {len(body):,} bytes; at most {MAX_UNIT_BYTES:,} can be kept.")
            except UnitFailed as error:
                body, failed = b"", {"status": "failed", "error": error.data}
            with anyio.CancelScope(shield=True):  # what was done is written first, then it stops
                kept = failed or await self._kept(body)

                def finish(tx: Tx, events: list[NamedEvent], _step_id: str) -> dict[str, Any]:
                    if failed is None:
                        also(value, tx, events)
                    return {**kept, "ended_at": tx.now}

                recorded = await self._stored(partial(self._begin, path, "step", name, finish))
            return recorded  # noqa: RET504 - a scope may end early, which mypy knows
        finally:
            self._at_work_now -= 1

    async def _stored(self, write: Callable[[], Awaitable[T]]) -> T:
        try:
            return await write()
        except NO_OUTCOME as error:
            self._fault = error
            self._scope.cancel()
            raise

    async def _demand_room(self) -> None:
        if self._context.is_stopping():
            self._is_stopped = True
            await self.wait()
        if len(self._records) >= MAX_STEPS:
            raise FlowMisused(f"A run can record {MAX_STEPS:,} units at most.")

    async def value_of(self, record: FunctionStepRow) -> Any:
        """The JSON value of a unit, of this run or another one."""
        if record.status == "failed":
            raise UnitFailed(dict(record.error or {}))
        body: str | bytes = record.result or "null"
        if record.blob is not None:
            body = await anyio.to_thread.run_sync(self._context.engine.blobs.get, record.blob)
        return json.loads(body) if len(body) < 100_000 else await anyio.to_thread.run_sync(json.loads, body)

    async def wait(self) -> NoReturn:
        """Wait for what only comes in a later call of the guest: this one ends once it does nothing else."""
        while True:
            begun = self._begun
            await anyio.sleep(IDLE_S)
            if begun == self._begun and not self._at_work_now:
                self._scope.cancel()

    async def ask_outside(self, name: str, deliver: Callable[[str], Awaitable[Any]]) -> Any:
        """The answer to a question to people that other programs may answer too: `deliver` gives its id to them, once,
        and may return the answer itself."""
        path = self._path_of(name)
        record = self._records.get(path)
        if record is None:
            item = question_of(name, (), multiple=False)
            ask = partial(ask_person, context=self._context, step=self._step, items=[item])
            record = await self._stored(partial(self._begin, path, "ask", name, ask))
        if record.status != "waiting":
            return await self.value_of(record)
        asked, of_effect = record.id, {"effect_id": record.waits_for}
        question_id = str(await self._context.engine.db.read(lambda tx: tx.value(approvals.c.id, of_effect)))

        def close(value: Any, tx: Tx, events: list[NamedEvent]) -> None:
            if value is not None and journal_store.finish_step(tx, asked, value):
                withdraw_question(tx, events, question_id)

        answer = await self.unit(f"{name}: deliver", partial(deliver, question_id), close)
        return answer if answer is not None else await self.wait()

    @property
    def _step(self) -> int:
        last = self._transcript.last_turn
        return 1 if last is None else last.step

    def _path_of(self, name: str) -> str:
        """The place of the next unit of this name."""
        return place_of(name, self.count(name))

    # ---- turns of the model

    async def turn(self, name: str, work: Callable[[Show], Awaitable[MadeTurn]], results: Mapping[str, Result]) -> Any:
        """The JSON value of a turn of the guest's model. While it is made, `work` shows its deltas. Its calls are
        effects from then on. `results`: those of earlier calls, by the guest's ids, shown where they are not yet."""
        turns: list[Turn] = []
        judged: list[JudgedCall] = []

        async def make() -> Any:
            effect = await self._stored(partial(self._name_turn, results))
            turn = Turn(effect.step)
            turns.append(turn)
            one = await work(lambda deltas: self._context.show_turn(turn, deltas))
            turn.end = one.end
            judged.extend(await anyio.to_thread.run_sync(self._judge, turn, one))
            calls = {of: part.call_id for of, part in zip(one.call_ids, turn.calls, strict=False)}
            asked = [of for of, call in zip(one.call_ids, judged, strict=False) if call.part.tool in one.reasons]
            return {"value": one.value, "step": turn.step, "calls": calls, "asked": asked}

        def also(_value: Any, tx: Tx, events: list[NamedEvent]) -> None:
            self._record_turn(tx, events, turns[-1], judged)

        recorded = await self.unit(name, make, also)
        of_step = {call.call_id: call for call in self._transcript.calls_of(recorded["step"])}
        self._calls |= {of: of_step[call_id] for of, call_id in recorded["calls"].items() if call_id in of_step}
        self._asked.update(recorded["asked"])
        return recorded["value"]

    async def _name_turn(self, results: Mapping[str, Result]) -> Effect:
        context = self._context

        def change(tx: Tx, events: list[NamedEvent]) -> Effect:
            self.close(results, tx, events)
            transcript = context.transcript_in(tx)
            last = transcript.last_turn
            step = 1 if last is None else last.step + (last.status == "finished")
            return name_turn(tx, context.agent, context.run, transcript, step, events)

        return await context.record(change)

    def _judge(self, turn: Turn, made: MadeTurn) -> list[JudgedCall]:
        """In a thread: a command may take long to parse."""
        return [self._judged(part, made) for part in turn.calls]

    def _judged(self, part: OpenPart, made: MadeTurn) -> JudgedCall:
        arguments = parse_arguments(part.whole()) or {}
        rules = () if part.tool in made.unjudged else self._context.engine.settings.policy
        reason = made.reasons.get(part.tool, "")
        return JudgedCall(
            part, "", arguments, policy.judge(rules, self._context.run.profile, part.tool, arguments, reason)
        )

    def _record_turn(self, tx: Tx, events: list[NamedEvent], turn: Turn, judged: Sequence[JudgedCall]) -> None:
        assert turn.end is not None
        context = self._context
        usage = asdict(turn.end.usage)
        before = context.transcript_in(tx)
        effect = before.last_turn
        assert effect is not None
        events.extend(turn.completed())
        store.update_effect(
            tx, effect.id, status="finished", ended_at=tx.now, result=turn.result(), usage=usage, error=None
        )
        store.add_usage(tx, context.run.id, usage)
        grants = store.grants_of(tx, context.run.thread_id) if judged else []
        for ordinal, call in enumerate(judged, start=before.next_ordinal):
            events.extend(plan_call(tx, context, effect, call, ordinal, grants, "deferred"))
        completed = StepCompleted(
            run_id=context.run.id, step=turn.step, finish=turn.end.finish, usage=UsageData(**usage)
        )
        events.append(("step.completed", completed))
        self._transcript = context.transcript_in(tx)

    # ---- calls of tools

    def call_of(self, call_id: str) -> Effect | None:
        """The effect of a call, by the guest's id."""
        return self._calls.get(call_id)

    @property
    def call_ids(self) -> Sequence[str]:
        """The guest's ids of all calls of the turns so far."""
        return list(self._calls)

    def arguments_of(self, call_id: str) -> dict[str, Any] | None:
        """The arguments that a call is to be made with: the model's, or those that a person approved instead."""
        call = self._calls.get(call_id)
        return None if call is None else parse_arguments(call.arguments or "")

    async def admit(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Wait until a call may be made. None, or the text that the model reads because it must not be made."""
        call = self._calls.get(call_id)
        if call is None or call.status == "cancelled":  # made by the guest's code, or open when an earlier run ended
            rules, profile = self._context.engine.settings.policy, self._context.run.profile
            verdict = (await anyio.to_thread.run_sync(policy.judge, rules, profile, tool, arguments)).verdict
            if call is None:  # people cannot be asked
                return None if verdict.decision == "allow" else verdict.reason
            return None if verdict.decision == "allow" and call_id not in self._asked else PASSED_ON
        if call.status == "waiting":
            self._waits_for_calls = True
            await self.wait()
        if call.status == "denied":
            result = await self._context.engine.db.read(lambda tx: tx.value(effects.c.result, {"id": call.id}))
            return str((result or {}).get("content", ""))
        return None

    async def ask_first(self, call_id: str, reason: str) -> None:
        """Let a person decide on a call that the guest's own code wants approved, unless it was asked about already."""
        call = self._calls.get(call_id)
        if call is None or call_id in self._asked:
            return
        part = OpenPart(call.part_id or "", "call", [call.arguments or ""], call.call_id or "", call.tool or "")
        judged = JudgedCall(part, "", parse_arguments(call.arguments or "") or {})

        def ask(_value: Any, tx: Tx, events: list[NamedEvent]) -> None:
            store.update_effect(tx, call.id, status="waiting")
            events.append(ask_approval(tx, self._context, judged, call.id, reason))
            self._calls[call_id] = call._replace(status="waiting")

        await self.unit(f"ask {call_id}", _nothing, ask)
        self._asked.add(call_id)

    def close(self, results: Mapping[str, Result], tx: Tx, events: list[NamedEvent]) -> None:
        """Show the results of those calls that are open."""
        for call_id, result in results.items():
            call = self._calls.get(call_id)
            if call is None or tx.value(effects.c.status, {"id": call.id}) in ("finished", "denied"):
                continue
            content = encodable(result.content)[:MAX_RESULT_CHARS]
            kept = {"content": content, "is_error": result.is_error}
            store.update_effect(tx, call.id, status="finished", ended_at=tx.now, result=kept)
            shown = ToolResultData(
                part_id=call.part_id or "",
                call_id=call.call_id or "",
                status="error" if result.is_error else "done",
                result=content,
            )
            if not call.inherited:  # else an earlier answer shows it
                events.append(("tool_call.result", shown))


def place_of(name: str, number: int) -> str:
    """The place of the unit that is the `number`-th of its name, counted from 0."""
    full = f"@{name} {number}"
    return full if len(full) <= MAX_PATH_CHARS else f"@{sha256(full.encode()).hexdigest()}"


async def _nothing() -> None:
    """The work of a unit that only records."""


def _encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # lone surrogates, and whole numbers of more than 64 bits
        return json.dumps(value).encode()


@dataclass(frozen=True, slots=True)
class Guest:
    """The flow of an agent of another library: `leg` calls its loop with the journal of the run."""

    leg: Callable[[Context, GuestJournal], Awaitable[Any]]

    async def __call__(self, context: Context) -> Any:
        assert isinstance(context.journal, GuestJournal)
        return await self.leg(context, context.journal)
