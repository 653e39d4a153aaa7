"""Passes a model's lines to their agent while the model still writes: lines are committed with the events that announce
them, before they are shown.

Lines that arrive during a commit go together into the next one. In addition to the lines taken, the open model effect
keeps their sums, so that a run that is cut in the middle of a step ends with that step's part.
"""

from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
import sqlalchemy as sa
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from outlast.base.errors import OutlastError
from outlast.db.database import Tx
from outlast.db.savepoints import savepoint
from outlast.kernel.agents.hooks import Lines, LinesTaken
from outlast.kernel.models.protocol import Delta, ModelRequest
from outlast.kernel.runs import store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.lined_turn import MAX_LINE_CHARS, TOO_LONG, Line, LinedTurn, TooLong, added
from outlast.kernel.runs.outcome import NO_OUTCOME
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.runs.turns import OpenPart
from outlast.kernel.streams.log_store import NamedEvent

BATCHES_AHEAD: Final = 256  # how far reading the model may run ahead of the commits
LINES_AT_ONCE: Final = 64  # at most, in one transaction: others write to the same database
LONG_LINE_CHARS: Final = 10_000  # parsing such a line may take longer than others should wait for a transaction
NOT_TAKEN: Final = "These {count} lines could not be taken: {reason} None of them took effect."


async def stream_lines(
    context: RunContext, taker: Lines, request: ModelRequest, effect: Effect, turn: LinedTurn
) -> None:
    """The turn as it arrives, with its lines taken. Raises as a model's stream does, after the earlier lines were
    taken."""
    model = context.engine.catalog.language_model(request.model.provider)
    given, ahead = anyio.create_memory_object_stream[Sequence[Delta]](BATCHES_AHEAD)
    failures: list[Exception] = []

    async def read(given: MemoryObjectSendStream[Sequence[Delta]]) -> None:
        with given:
            try:
                async with aclosing(model.stream(request)) as batches:
                    async for batch in batches:
                        await given.send(batch)
            except Exception as error:
                failures.append(error)

    async with anyio.create_task_group() as group:  # a failure leaves it as itself, not in a group
        group.start_soon(read, given)
        try:
            with ahead:
                await _take_all(context, taker, effect, turn, ahead)
        except Exception as error:
            failures.insert(0, error)  # the cause: the reader's closed stream follows from it
        group.cancel_scope.cancel()
    if failures:
        raise failures[0]


async def _take_all(
    context: RunContext,
    taker: Lines,
    effect: Effect,
    turn: LinedTurn,
    ahead: MemoryObjectReceiveStream[Sequence[Delta]],
) -> None:
    take = partial(_take, context, taker, effect, turn)
    async for first in ahead:
        deltas = [*first]
        while ahead.statistics().current_buffer_used:
            deltas += ahead.receive_nowait()
        await context.show_turn(turn, deltas, take)
        if any(turn.waiting):  # blank lines wait for the lines that follow them
            await take(None)


async def _take(context: RunContext, taker: Lines, effect: Effect, turn: LinedTurn, begun: NamedEvent | None) -> None:
    """Pass on the waiting lines, and record the part that begins after them."""
    while turn.waiting or begun is not None:
        lines, turn.waiting = turn.waiting[:LINES_AT_ONCE], turn.waiting[LINES_AT_ONCE:]
        last = begun if not turn.waiting else None

        def change(
            tx: Tx, events: list[NamedEvent], lines: list[Line] = lines, last: NamedEvent | None = last
        ) -> tuple[LinesTaken, OpenPart | None]:
            taken = _take_in(tx, context, taker, turn.step, lines)
            prose, shown = turn.prose_events(taken.prose)
            events.extend([*taken.events, *shown, *([last] if last is not None else ())])
            if taken.counts:
                store.update_effect(tx, effect.id, result={"counts": added(turn.counts, taken.counts)})
            return taken, prose

        whole = [line for line in lines if isinstance(line, str)]
        if any(len(line) >= LONG_LINE_CHARS for line in whole):
            await anyio.to_thread.run_sync(taker.prepare, whole)
        taken, prose = await context.record(change)
        turn.taken(taken, prose, closes=last is not None)
        if last is not None:
            begun = None


def _take_in(tx: Tx, context: RunContext, taker: Lines, step: int, lines: Sequence[Line]) -> LinesTaken:
    """The result of the lines. An error in taking them is reported to the model and does not end the run."""
    whole = [line for line in lines if isinstance(line, str)]
    long = tuple(
        TOO_LONG.format(most=MAX_LINE_CHARS, begins=line.begins) for line in lines if isinstance(line, TooLong)
    )
    if not whole:
        return LinesTaken(problems=long)
    try:
        with savepoint(tx):
            taken = taker.take(tx, context.run, step, whole)
    except (*NO_OUTCOME, sa.exc.SQLAlchemyError, OSError):
        raise  # not about these lines: the run is resumed
    except OutlastError as error:
        taken = LinesTaken(problems=(NOT_TAKEN.format(count=len(whole), reason=error.message),))
    except Exception as bug:  # the edge of an effect, as for tools
        context.engine.log("lines not taken", run_id=context.run.id, step=step, error=bug)
        reason = f"the server failed ({type(bug).__name__})."
        taken = LinesTaken(problems=(NOT_TAKEN.format(count=len(whole), reason=reason),))
    return LinesTaken(taken.events, taken.prose, (*taken.problems, *long), taken.counts)
