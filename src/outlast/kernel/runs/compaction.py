"""The compaction effect: a model turn of its own sums up the oldest messages of the thread, or the oldest steps of the
run. It is named before it starts, recorded with its summary, and asked again if it was cut. If it fails, the run
continues without it."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from outlast.base.errors import InternalError, ModelCut, ModelOutputInvalid, OutlastError, TryLater
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.agents.context_window import CHARS_PER_TOKEN, exchange_size, size_of
from outlast.kernel.agents.prompt import context_messages, token_budget
from outlast.kernel.compactions.prompt import SUMMARY_CHARS, SYSTEM, exchanges_prompt, steps_prompt
from outlast.kernel.compactions.rules import KEPT, count_covered
from outlast.kernel.compactions.store import add_compaction
from outlast.kernel.models.protocol import ModelMessage, ModelRequest, ModelSpec, TextPiece
from outlast.kernel.runs import store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_retries import Retries
from outlast.kernel.runs.history import MAX_READ, history_before
from outlast.kernel.runs.outcome import NO_OUTCOME
from outlast.kernel.runs.shapes import PartCarrier
from outlast.kernel.runs.transcript import Effect, Run
from outlast.kernel.runs.turns import Sent, Turn, sent_after, step_messages, steps_summary
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads.parts import NoticePart

FAILED: Final = ("not_summarized", "Earlier messages could not be summarized; the model may not read the oldest ones.")
STEPS_DONE: Final = ("steps_summarized", "The first steps of this answer were summarized for the model.")


@dataclass(frozen=True, slots=True)
class Portion:
    """What a compaction covers: `to_position` and `last_position` of the thread's messages, or `to_step` of the run.
    `text` is the message that asks for the summary."""

    text: str
    covers: dict[str, int]


def portion_of_thread(tx: Tx, settings: Settings, run: Run, model: ModelSpec) -> Portion | None:
    """The oldest exchanges before the run's own message, with the summary before them; None if there are none."""
    history = history_before(tx, run, None)
    # Of agents that have handed over to this one, too, the answers belong to the run's own message.
    earlier = [one for one in history.exchanges if one.position < history.exchanges[-1].position]
    if not earlier:
        return None
    most = MAX_READ if history.undone else context_messages(settings, run.profile) // 4  # an exchange is two messages
    sizes, room = [exchange_size(exchange) for exchange in earlier], token_budget(settings, model) * CHARS_PER_TOKEN
    # Also less than half of what there is: an agent may spend a part of the budget on other things.
    count = count_covered(sizes, KEPT * min(room, sum(sizes)), most)
    covered = [one for one in earlier if one.position <= earlier[count - 1].position]  # an answer's parts together
    last = max(exchange.last_position for exchange in covered)
    return Portion(
        exchanges_prompt(history.summary, covered, room), {"to_position": covered[-1].position, "last_position": last}
    )


def portion_of_steps(
    journal: Sequence[Effect], sent: Sent, conversation: Sequence[ModelMessage], around: int, room: int
) -> Portion | None:
    """The oldest steps of the run, with the summary before them; None if there are no two. `around` is the size of the
    rest of the request, `room` that of the model's context. A step is a turn with the results of its calls."""
    to_step, before = steps_summary(journal)
    steps = step_messages(journal, sent, to_step)
    if len(steps) < 2:
        return None
    if not to_step:
        steps[0] = (steps[0][0], [*sent_after(0, journal, sent), *steps[0][1]])
    sizes = [size_of(messages) for _, messages in steps]
    covered = steps[: count_covered(sizes[:-1], KEPT * room - around - sizes[-1], len(steps))]
    request = "\n".join(piece.text for one in conversation[-1:] for piece in one.pieces if isinstance(piece, TextPiece))
    return Portion(steps_prompt(before, request, covered, room // 2), {"to_step": covered[-1][0]})


async def compact(context: RunContext, portion: Portion, step: int, ordinal: int, cut: Effect | None) -> bool:
    """Summarize the portion, in an effect before turn `step`; `cut` is the effect if an earlier attempt named it.
    Returns False if it failed for good: that is recorded, and shown to people."""
    effect = await context.record(lambda tx, _events: _name(tx, context.run, step, ordinal, cut))
    retries = Retries(context.engine.settings.retry, effect.retries)
    while True:
        turn = Turn(step)
        try:
            text = await _ask(context, effect, portion, turn)
        except NO_OUTCOME:
            raise
        except OutlastError as error:
            wait_s = retries.wait_s(error) if isinstance(error, TryLater) else None
            await context.record(_failure(context, effect, turn, error, None if wait_s is None else retries.made))
            if wait_s is None:
                return False
            await context.engine.clock.sleep(wait_s)
            continue
        await context.record(partial(_record, context, effect, portion, text, turn))
        return True


def _name(tx: Tx, run: Run, step: int, ordinal: int, cut: Effect | None) -> Effect:
    if cut is None:
        return store.start_effect(tx, run, ordinal, step, "compaction")
    store.update_effect(tx, cut.id, attempt=run.attempt)
    return cut


async def _ask(context: RunContext, effect: Effect, portion: Portion, turn: Turn) -> str:
    """The summary. Raises `OutlastError` if there is none; `turn` has the tokens used by then."""
    request = ModelRequest(
        model=context.model,
        system=SYSTEM,
        messages=(ModelMessage("user", (TextPiece(portion.text),)),),
        metadata={"run_id": context.run.id, "step": effect.step, "attempt": context.run.attempt, "compaction": True},
    )
    try:
        async with aclosing(context.engine.catalog.language_model(request.model.provider).stream(request)) as batches:
            async for batch in batches:
                for delta in batch:
                    turn.take(delta)
    except OutlastError:
        raise
    except Exception as bug:  # the edge of an effect: a run does not end because its summary failed
        context.engine.log("compaction failed", run_id=context.run.id, effect_id=effect.id, error=bug)
        raise InternalError(f"The summary failed inside the server ({type(bug).__name__}).") from bug
    if turn.end is None:
        raise ModelCut("The model's answer was cut off before its end.")
    text = "\n".join(part.whole() for part in turn.parts if part.kind == "text").strip()
    if not text:
        raise ModelOutputInvalid("The model's summary is empty.")
    return text[:SUMMARY_CHARS]


def _failure(
    context: RunContext, effect: Effect, turn: Turn, error: OutlastError, retries: int | None
) -> Callable[[Tx, list[NamedEvent]], None]:
    """Records a failed try: the last one, if `retries` is None. Its tokens are paid for anyway."""

    def change(tx: Tx, events: list[NamedEvent]) -> None:
        if turn.usage is not None:
            store.add_usage(tx, context.run.id, asdict(turn.usage))
        if retries is not None:
            store.update_effect(tx, effect.id, retries=retries, error=error.to_dict())
            return
        store.update_effect(tx, effect.id, status="failed", ended_at=tx.now, error=error.to_dict())
        events.extend(_notice(context, effect.step, "warning", *FAILED))

    return change


def _record(
    context: RunContext, effect: Effect, portion: Portion, text: str, turn: Turn, tx: Tx, events: list[NamedEvent]
) -> None:
    """Record the summary: with the thread, for later runs, or in the journal alone, for this run."""
    assert turn.end is not None
    run, usage = context.run, asdict(turn.end.usage)
    kept: dict[str, Any] = {"text": text, **portion.covers}
    store.update_effect(tx, effect.id, status="finished", ended_at=tx.now, result=kept, usage=usage, error=None)
    store.add_usage(tx, run.id, usage)
    if "to_position" in portion.covers:
        add_compaction(tx, run.thread_id, portion.covers, text, run_id=run.id, model=run.model, usage=usage)
    else:
        events.extend(_notice(context, effect.step, "info", *STEPS_DONE))


def _notice(context: RunContext, step: int, level: Any, code: str, text: str) -> list[NamedEvent]:
    """The notice, once a run."""
    if any(part.get("code") == code for part in context.shown.parts):
        return []
    return [
        ("part.created", PartCarrier(part=NoticePart(id=new_id("part"), step=step, level=level, code=code, text=text)))
    ]
