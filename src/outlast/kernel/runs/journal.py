"""The journal of a function, a flow or a tool's: each step is recorded once, and returned when the function is called
again. A step that has to wait raises `Parked`, which ends the call; the run is then only a row.

A step is identified by its place: which call of the function it is, and for a branch of `gather` which call of that
branch. The order within a branch is the function's own, whatever finishes first; so a place with another name means
that the code has changed.
"""

import inspect
from asyncio import CancelledError, current_task
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import field
from datetime import datetime
from functools import lru_cache, partial
from itertools import count
from random import Random
from typing import Any, Final, NoReturn, TypeVar, get_type_hints

import anyio
import anyio.lowlevel
import anyio.to_thread
from pydantic import PydanticSchemaGenerationError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from outlast.base.agent_errors import FlowChanged, FlowMisused, StateTooLarge, StepFailed
from outlast.base.connection_errors import ConnectionNeeded
from outlast.base.errors import SandboxLost, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.agents.context import Callee, Kept, nothing
from outlast.kernel.runs import account_questions, child_runs, journal_store, timers
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.finishers import workflow_step
from outlast.kernel.runs.forms import Form, items_of
from outlast.kernel.runs.function_questions import ask_person, question_of
from outlast.kernel.runs.outcome import NO_OUTCOME
from outlast.kernel.runs.rows import FunctionStepRow
from outlast.kernel.runs.shapes import AccountData, WorkflowStatus
from outlast.kernel.runs.tables import StepKind, function_steps
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.runs.turns import encodable
from outlast.kernel.streams.log_store import NamedEvent

MAX_ROW_BYTES: Final = 256 * 1024  # of a value in its row; a longer one lies in a blob
MAX_INLINE_BYTES: Final = 16 * 1024 * 1024  # of all values in rows, which a replay loads; later ones lie in blobs
MAX_BYTES: Final = 1024 * 1024  # a value of objects that is this long takes 30 ms to read, and the event loop waits
MAX_STEPS: Final = 20_000
MAX_NAME_CHARS: Final = 200
YIELD_EVERY: Final = 64
MAX_SHOWN_STEPS: Final = 500  # of a flow, as steps of its workflow
MAX_MESSAGE_CHARS: Final = 2_000
PLAIN: Final = TypeAdapter(Any)
SHOWN: Final = ("step", "sandbox")  # kinds of steps that people see in a flow
UNRECORDED: Final = (SandboxLost, SandboxUnavailable, FlowMisused, *NO_OUTCOME)  # errors that a step does not keep
_VALUE_FAULTS: Final = (PydanticSerializationError, PydanticSchemaGenerationError, ValidationError, ValueError)
T = TypeVar("T")

Also = Callable[[Tx, list[NamedEvent]], None]


def nothing_else(_tx: Tx, _events: list[NamedEvent]) -> None:
    """Record only the step."""


@dataclass(frozen=True, slots=True)
class Write:
    """A change of the database, and its value as JSON. `change` returns False if it came too late and changed
    nothing."""

    value: bytes
    change: Callable[[Tx], bool | None]


class Parked(BaseException):
    """The function waits for a person, another run or a time."""


@dataclass(slots=True)
class _Scope:
    """A sequence of calls: the function itself, or a branch of a `gather`. Its calls come from one task. `now` is when
    its last step ended. Once one of its steps waits, it is `parked`: nothing more is done, not even in a `finally`."""

    prefix: str
    now: datetime
    task: Any = field(default_factory=current_task)
    calls: int = 0
    parked: bool = False


_scope: ContextVar[_Scope | None] = ContextVar("outlast_function", default=None)


class RunJournal:
    """The journal of the function of one effect. `records` are its steps so far."""

    def __init__(self, context: RunContext, effect: Effect, records: Sequence[FunctionStepRow] = ()) -> None:
        self._context, self._effect = context, effect
        self._records = {record.path: record for record in records}
        self._unasked: set[str] = set()
        self._at_work = sum(record.kind == "run" and record.status == "waiting" for record in records)
        self._inline_bytes = sum(len(record.result or "") for record in records)
        self._seed = (effect.result or {}).get("seed", effect.id)
        self._is_stopped = False  # by a stop of the server, before a step that it could have done
        self._changed: FlowChanged | None = None
        self._writes = anyio.Lock()

    async def call(self, function: Callable[[], Awaitable[T]]) -> T:
        """Call the function from its top. Raises `Parked` and `FlowChanged` also if the function hid it, and
        `FlowChanged` if it returns without having asked for all of its steps."""
        self._unasked = set(self._records)
        scope = _Scope("", self._effect.started_at or self._context.engine.clock.now())
        _scope.set(scope)
        try:
            value = await contained(function())
        except (Parked, Exception, BaseExceptionGroup) as error:
            if not isinstance(error, NO_OUTCOME):
                self._demand_to_go_on(scope)
            raise
        self._demand_to_go_on(scope)
        if self._unasked:
            left = min(self._unasked, key=lambda path: [int(at) for at in path.split(".")])
            raise _changed(self._records[left].name, "its end")
        return value

    def _demand_to_go_on(self, scope: _Scope) -> None:
        if self._changed is not None:
            raise self._changed
        if scope.parked:
            raise Parked

    @property
    def waits_for_calls(self) -> bool:
        """Whether the function waits for decisions on calls of its run."""
        return False

    @property
    def has_records(self) -> bool:
        return bool(self._records)

    @property
    def waiting(self) -> list[str]:
        """The steps without a value that the function waits for. None: it can go on at once, after a stop."""
        if self._is_stopped:
            return []
        return [one.id for one in self._records.values() if one.status == "waiting" and one.kind != "sandbox"]

    async def step(self, name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        return await self.perform("step", name, partial(function, *args, **named), _shape_of(function))

    async def perform(
        self, kind: StepKind, name: str, call: partial[Any], shape: TypeAdapter[Any] = PLAIN, also: Also = nothing_else
    ) -> Any:
        """The value of a call, made once and recorded, together with what `also` does. A crash in it makes it again."""
        path, record = self._place(kind, name)
        if record is None:
            return await self._value(await self._perform(path, kind, name, call, shape, also), shape)
        await self._give_way()
        return await self._value(record, shape)

    async def command(
        self,
        name: str,
        work: Callable[[str, datetime | None], Awaitable[Any]],
        shape: TypeAdapter[Any],
        also: Also = nothing_else,
    ) -> Any:
        """The value of work that goes on outside of this process. Its step is recorded before it begins, and names it:
        `work` gets the id of the step and, if an earlier process may have begun it, the time of that."""
        path, record = self._place("sandbox", name)
        if record is None:
            record, since = await self._begin(path, "sandbox", name, lambda _tx, _events, _step_id: {}), None
        else:
            since = record.created_at
        if record.status == "waiting":
            if self._context.is_stopping():
                self._is_stopped = True
                self._park()
            finish = await self._outcome("sandbox", name, work(record.id, since), shape, also)
            with anyio.CancelScope(shield=True):
                record = self._records[path] = await self._end(record, finish)
        return await self._value(record, shape)

    async def write(self, kind: StepKind, name: str, prepare: Callable[[], Awaitable[Write]]) -> Any:
        """The value of a change of the database, made once: in the transaction that records it. `prepare` is called
        again if the change came too late."""
        path, record = self._place(kind, name)
        if record is None:
            async with self._writes:  # branches of one function do not overtake each other
                record = await self._write(path, kind, name, prepare)
        else:
            await self._give_way()
        return await self._value(record, PLAIN)

    async def run(self, agent: Callee | str, message: str, context: Any, key: str) -> Any:
        name = agent if isinstance(agent, str) else agent.name
        path, record = self._place("run", f"{name}:{key}" if key else name)
        if record is None:
            if self._at_work >= child_runs.AT_ONCE:
                self._park()
            start = partial(
                child_runs.start,
                context=self._context,
                agent=agent,
                message=encodable(child_runs.message_with(message, context)),
                step_number=self._effect.step,
            )
            self._at_work += 1
            record = await self._begin(path, "run", f"{name}:{key}" if key else name, start)
            if record.status == "failed":  # it was refused
                self._at_work -= 1
        called: Callee | None = self._context.engine.agents.get(name) if isinstance(agent, str) else agent
        if record.status != "waiting" and not record.announced:
            title = name if called is None else called.title
            shown = partial(child_runs.announce, step=record, step_number=self._effect.step, title=title)
            await self._context.record(shown)
        return await self._value(record, PLAIN if called is None or called.output is None else _adapter(called.output))

    async def ask(self, question: str, options: Sequence[str], multiple: bool) -> Any:
        path, record = self._place("ask", question)
        if record is None:
            asked = question_of(question, options, multiple)
            ask = partial(ask_person, context=self._context, step=self._effect.step, items=[asked])
            record = await self._begin(path, "ask", question, ask)
        return await self._value(record, PLAIN)

    async def ask_form(self, form: Form) -> Any:
        path, record = self._place("ask", form.message)
        if record is None:
            step = self._effect.step
            ask = partial(ask_person, context=self._context, step=step, items=items_of(form), form=form)
            record = await self._begin(path, "ask", form.message, ask)
        return await self._value(record, PLAIN)

    async def exchange(self, name: str, work: Callable[[], Awaitable[T | Kept]]) -> T | Kept:
        """The value of `work`; what it wants to be `Kept` is recorded, and returned instead of doing it again."""
        if self._is_next("step", name):
            return Kept(await self.perform("step", name, partial(nothing)))
        found = await work()
        if isinstance(found, Kept):
            also = found.also
            kept = await self._kept(_body_of(found.value, PLAIN))

            def change(tx: Tx, _events: list[NamedEvent], step_id: str) -> dict[str, Any]:
                if also is not None:
                    also(tx, step_id)
                return {**kept, "ended_at": tx.now}

            with anyio.CancelScope(shield=True):  # also if the server stops: it was done
                await self._begin(self._next_path(), "step", name, change)
        return found

    async def with_account(
        self, account: AccountData, work: Callable[[], Awaitable[T]], is_connected: Callable[[Tx], bool]
    ) -> T | None:
        """The value of `work`. If it raises `ConnectionNeeded`, which it does before any step of its own, the person is
        asked to connect, and the run waits; None if they go on without it. `is_connected` looks whether they did
        meanwhile."""
        name = account_questions.text_of(account)
        for asked in count():
            if not self._is_next("ask", name):
                try:
                    return await work()
                except ConnectionNeeded:
                    if asked == account_questions.MOST:
                        raise
            path, record = self._place("ask", name)
            if record is None:
                ask = partial(account_questions.ask, context=self._context, step=self._effect.step, account=account)
                record = await self._begin(path, "ask", name, ask)
            if record.status == "waiting":
                await self._context.engine.db.write(account_questions.look_again, record.waits_for or "", is_connected)
            if await self._value(record, PLAIN) != account_questions.CONNECTED:
                return None
        return None

    async def sleep_until(self, when: datetime) -> None:
        path, record = self._place("sleep", "sleep")
        if when.tzinfo is None:
            raise FlowMisused(
                "A time to wait for needs a zone.", hint="Use ctx.now() + timedelta(…), or datetime(…, tzinfo=…)."
            )

        def wait(tx: Tx, _events: list[NamedEvent], step_id: str) -> dict[str, Any]:
            timers.set_timer(tx, "step_due", step_id, when)
            return {}

        if record is None:
            record = await self._begin(path, "sleep", "sleep", wait)
        await self._value(record, PLAIN)

    async def gather(self, *branches: Awaitable[Any]) -> list[Any]:
        scope, path = self._here(), self._next_path()
        scopes: list[_Scope] = []
        results: list[Any] = [None] * len(branches)
        errors: dict[int, BaseException] = {}

        async def work(index: int, branch: Awaitable[Any]) -> None:
            scopes.append(inner := _Scope(f"{path}.{index}.", scope.now))
            _scope.set(inner)
            try:
                results[index] = await contained(branch)
            except (Parked, Exception, BaseExceptionGroup) as error:
                errors[index] = error

        async with anyio.create_task_group() as group:
            for index, branch in enumerate(branches):
                group.start_soon(work, index, branch)
                if not index % YIELD_EVERY:
                    await anyio.lowlevel.checkpoint()
        scope.now = max((inner.now for inner in scopes), default=scope.now)
        for storage in (error for error in errors.values() if isinstance(error, NO_OUTCOME)):
            raise storage
        if any(inner.parked for inner in scopes):
            self._park()
        for index in sorted(errors):
            raise errors[index]
        return results

    def now(self) -> datetime:
        return self._here().now

    def random(self) -> Random:
        return Random(f"{self._seed} {self._next_path()}")

    def _here(self) -> _Scope:
        scope = _scope.get()
        if scope is None or scope.task is not current_task():
            raise FlowMisused(
                "A step was asked for outside of the function, or by a task of its own.",
                hint="Await it in the function itself or in a coroutine that is given to ctx.gather, not in a step.",
            )
        if scope.parked:
            raise Parked
        return scope

    def _park(self) -> NoReturn:
        self._here().parked = True
        raise Parked

    def _next_path(self) -> str:
        scope = self._here()
        scope.calls += 1
        return f"{scope.prefix}{scope.calls - 1}"

    def _is_next(self, kind: StepKind, name: str) -> bool:
        """Whether the next place has a record of this kind and name."""
        scope = self._here()
        record = self._records.get(f"{scope.prefix}{scope.calls}")
        return record is not None and (record.kind, record.name) == (kind, _short(name))

    def _place(self, kind: StepKind, name: str) -> tuple[str, FunctionStepRow | None]:
        """The next place, and what is recorded there."""
        if self._changed is not None:
            raise self._changed
        path = self._next_path()
        record = self._records.get(path)
        if record is None and self._context.is_stopping():
            self._is_stopped = True
            self._park()
        if record is None:
            if len(self._records) >= MAX_STEPS:
                raise FlowMisused(
                    f"A function can record {MAX_STEPS:,} steps at most.", hint="Let it call other agents for parts."
                )
            return path, None
        self._unasked.discard(path)
        if (record.kind, record.name) != (kind, _short(name)):
            self._changed = _changed(record.name, name)
            raise self._changed
        return path, record

    async def _give_way(self) -> None:
        """Many steps may be recorded: other work is not held up while they are read."""
        if not len(self._unasked) % YIELD_EVERY:
            await anyio.lowlevel.checkpoint()

    async def _write(
        self, path: str, kind: StepKind, name: str, prepare: Callable[[], Awaitable[Write]]
    ) -> FunctionStepRow:
        while True:
            try:
                wanted = await _without_steps(prepare())
            except UNRECORDED:
                raise
            except Exception as error:  # the edge of a step
                return await self._begin(path, kind, name, partial(_ended, self._failure(name, error)))
            change = partial(self._change, name, wanted, await self._kept(wanted.value))
            record = await self._try(path, kind, name, change)
            if record is not None:
                return record

    def _change(
        self, name: str, wanted: Write, kept: dict[str, Any], tx: Tx, _events: list[NamedEvent], _step_id: str
    ) -> dict[str, Any] | None:
        try:
            is_late = wanted.change(tx) is False
        except StateTooLarge as error:  # nothing was written
            return {**self._failure(name, error), "ended_at": tx.now}
        return None if is_late else {**kept, "ended_at": tx.now}

    async def _perform(
        self, path: str, kind: StepKind, name: str, call: partial[Any], shape: TypeAdapter[Any], also: Also
    ) -> FunctionStepRow:
        finish = await self._outcome(kind, name, self._awaited(call), shape, also)
        with anyio.CancelScope(shield=True):  # what was done is written first, then it stops
            recorded = await self._begin(path, kind, name, finish)
        return recorded  # noqa: RET504 - a scope may end early, which mypy knows

    async def _outcome(
        self, kind: StepKind, name: str, work: Awaitable[Any], shape: TypeAdapter[Any], also: Also
    ) -> Callable[[Tx, list[NamedEvent], str], dict[str, Any]]:
        """Do the work of a step. Returns what records it."""
        began = self._context.engine.clock.now()
        body, failed = b"", None
        try:
            body = _body_of(await _without_steps(work), shape)
        except UNRECORDED:
            raise
        except Exception as error:  # the edge of a step: the function may catch it, now and when it is called again
            failed = self._failure(name, error)
        took_s = (self._context.engine.clock.now() - began).total_seconds()
        word: WorkflowStatus = "done" if failed is None else "failed"
        shown = workflow_step(self._context.run.id, _short(name), word, duration_s=took_s)
        with anyio.CancelScope(shield=True):
            kept = failed or await self._kept(body)

        def finish(tx: Tx, events: list[NamedEvent], _step_id: str) -> dict[str, Any]:
            also(tx, events)
            if kind in SHOWN and self._effect.kind == "flow" and len(self._records) < MAX_SHOWN_STEPS:
                events.append(shown)
            return {**kept, "ended_at": tx.now}

        return finish

    async def _end(
        self, record: FunctionStepRow, finish: Callable[[Tx, list[NamedEvent], str], dict[str, Any]]
    ) -> FunctionStepRow:
        """Record the outcome of a step that was recorded when it began."""

        def change(tx: Tx, events: list[NamedEvent]) -> FunctionStepRow:
            outcome = finish(tx, events, record.id)
            tx.update(function_steps, {"id": record.id}, **outcome)
            return record._replace(**outcome)

        return await self._context.record(change)

    def _failure(self, name: str, error: Exception) -> dict[str, Any]:
        self._context.engine.log("step failed", run_id=self._context.run.id, step=name, error=error)
        message = encodable(str(getattr(error, "message", error))[:MAX_MESSAGE_CHARS])
        return {"status": "failed", "error": {"kind": type(error).__name__, "message": message}}

    async def _awaited(self, call: partial[Any]) -> Any:
        """The value of a function: an `async def` on the event loop, a `def` in a thread."""
        if inspect.iscoroutinefunction(call.func):
            return await call()
        value = await anyio.to_thread.run_sync(call, limiter=self._context.engine.threads)
        return await value if inspect.isawaitable(value) else value

    async def _begin(
        self, path: str, kind: StepKind, name: str, change: Callable[[Tx, list[NamedEvent], str], Mapping[str, Any]]
    ) -> FunctionStepRow:
        """Record a step with what `change` returns, in one transaction with what it does. By default it waits."""
        recorded = await self._try(path, kind, name, change)
        assert recorded is not None
        return recorded

    async def _try(
        self,
        path: str,
        kind: StepKind,
        name: str,
        change: Callable[[Tx, list[NamedEvent], str], Mapping[str, Any] | None],
    ) -> FunctionStepRow | None:
        """As `_begin`; records nothing and returns None if `change` returns None."""
        step_id, context = new_id("step"), self._context

        def record(tx: Tx, events: list[NamedEvent]) -> FunctionStepRow | None:
            changed = change(tx, events, step_id)
            if changed is None:
                return None
            row = FunctionStepRow(
                id=step_id, run_id=context.run.id, effect_id=self._effect.id, path=path, name=_short(name),
                kind=kind, status="waiting", attempt=context.run.attempt, result=None, blob=None, error=None,
                waits_for=None, part_id=None, announced=False, created_at=tx.now, ended_at=None,
            )  # fmt: skip
            row = row._replace(**changed)
            tx.insert(function_steps, **row._asdict())
            return row

        recorded = await context.record(record)
        if recorded is not None:
            self._records[path] = recorded
        return recorded

    async def _kept(self, body: bytes) -> dict[str, Any]:
        if len(body) <= MAX_ROW_BYTES and self._inline_bytes + len(body) <= MAX_INLINE_BYTES:
            self._inline_bytes += len(body)
            return {"status": "finished", "result": body.decode()}
        return {"status": "finished", "blob": await anyio.to_thread.run_sync(self._context.engine.blobs.put, body)}

    async def _value(self, record: FunctionStepRow, shape: TypeAdapter[Any]) -> Any:
        if record.status == "waiting":
            self._park()
        scope = self._here()
        scope.now = max(scope.now, record.ended_at or scope.now)
        if record.status == "failed":
            error = record.error or {}
            raise StepFailed(f"{record.name}: {error.get('message', '')}", step=record.name, kind=error.get("kind", ""))
        body = record.result
        if record.blob is not None:
            body = (await anyio.to_thread.run_sync(self._context.engine.blobs.get, record.blob)).decode()
        try:
            return shape.validate_json(body or "null") if record.kind != "run" else _child_value(body or "null", shape)
        except ValidationError as error:
            raise StepFailed(
                f"{record.name}: its value is not of the declared type: {error.errors()[0]['msg']}.",
                step=record.name,
                kind="ValidationError",
            ) from None


async def open_journal(context: RunContext, effect: Effect, kind: type[RunJournal] = RunJournal) -> RunJournal:
    """The journal of an effect with the steps that earlier calls of its function recorded."""
    if not effect.attempt and effect.result is None:  # it was never started, and continues no other run's
        return kind(context, effect)
    return kind(context, effect, await context.engine.db.read(journal_store.steps_of, effect.id))


def _child_value(body: str, shape: TypeAdapter[Any]) -> Any:
    """The text of another agent's answer, or the object of its `output`, whose JSON that text is."""
    text = PLAIN.validate_json(body)
    return text if shape is PLAIN else shape.validate_json(text)


def _changed(recorded: str, asked: str) -> FlowChanged:
    return FlowChanged(
        f"The code was changed while this run waited: it recorded the step {recorded!r} and now asks for {asked!r}.",
        recorded=recorded,
        asked=asked,
    )


def _shape_of(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """What a function returns, by its annotation."""
    try:
        return _adapter(get_type_hints(function).get("return", Any))
    except (TypeError, NameError, *_VALUE_FAULTS):  # a partial, a builtin, or a name that cannot be resolved
        return PLAIN


@lru_cache(256)
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return PLAIN if hint is Any else TypeAdapter(hint)


def _body_of(value: Any, shape: TypeAdapter[Any]) -> bytes:
    body = shape.dump_json(value)
    if len(body) > MAX_BYTES:
        raise ValueError(f"its value has {len(body):,} bytes; at most {MAX_BYTES:,} can be kept")
    return body


def _ended(outcome: Mapping[str, Any], tx: Tx, _events: list[NamedEvent], _step_id: str) -> dict[str, Any]:
    return {**outcome, "ended_at": tx.now}


async def _without_steps(work: Awaitable[T]) -> T:
    """The value of a step's work: a step has no steps."""
    outer = _scope.get()
    _scope.set(None)
    try:
        return await contained(work)
    finally:
        _scope.set(outer)


def _short(name: str) -> str:
    return encodable(name)[:MAX_NAME_CHARS]


async def contained(work: Awaitable[T]) -> T:
    """The value of a person's function. What would end more than this function is its error: `sys.exit`, and a cancel
    that is its own."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"sys.exit({error.code!r}) was called") from error
    except CancelledError as error:
        task = current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("something that it waited for was cancelled") from error
