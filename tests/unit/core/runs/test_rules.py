"""What a run does next: this is the situation, that must come. And no sequence of answers leaves the diagram."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.core.runs.rules import (
    ENDED,
    OPEN_CALLS,
    THREAD_STATUS,
    TRANSITIONS,
    AskModel,
    Call,
    CallTools,
    End,
    Next,
    Situation,
    Wait,
    backoff_s,
    may_continue,
    may_retry,
    next_step,
)

CALL_STATES = ("allowed", "waiting", "started", "finished", "failed", "denied", "interrupted", "cancelled")


def finished(step: int, *calls: Call, **more: Any) -> Situation:
    return Situation("finished", step, calls=calls, **more)


@pytest.mark.parametrize(
    ("situation", "then"),
    [
        (Situation("none"), AskModel(1)),
        (Situation("open", 3), AskModel(3)),
        (finished(2), End("completed", "end")),
        (finished(2, finish="refused"), End("error", "policy")),
        (finished(1, Call("e1", "allowed"), Call("e2", "finished")), CallTools(("e1",))),
        (finished(1, Call("e1", "started"), Call("e2", "allowed")), CallTools(("e1", "e2"))),
        (finished(1, Call("e1", "waiting"), Call("e2", "allowed")), CallTools(("e2",))),
        (finished(1, Call("e1", "waiting"), Call("e2", "finished")), Wait("approval")),
        (finished(1, Call("e1", "waiting", question=True)), Wait("answer")),
        (finished(1, Call("e1", "waiting", question=True), Call("e2", "waiting")), Wait("approval")),
        (finished(1, Call("e1", "finished"), Call("e2", "denied")), AskModel(2)),
        (finished(1, Call("e1", "interrupted"), Call("e2", "failed")), AskModel(2)),
        (finished(5, Call("e1", "finished"), max_steps=5), End("completed", "steps")),
        (finished(4, Call("e1", "finished"), max_steps=5), AskModel(5)),
        (Situation("failed", 2), End("error", "provider")),
        (Situation("open", 2, cancel="user"), End("cancelled", "user")),
        (Situation("failed", 2, cancel="user"), End("cancelled", "user")),
        (finished(1, Call("e1", "waiting"), cancel="superseded"), End("cancelled", "superseded")),
        (finished(1, Call("e1", "allowed"), cancel="abandoned"), End("cancelled", "abandoned")),
    ],
)
def test_this_is_the_situation_and_that_comes_next(situation: Situation, then: Next) -> None:
    assert next_step(situation) == then


@pytest.mark.parametrize(
    ("status", "saved"), [("completed", "complete"), ("cancelled", "cancelled"), ("error", "error")]
)
def test_the_saved_answer_says_how_the_run_ended(
    status: Literal["completed", "cancelled", "error"], saved: str
) -> None:
    assert End(status, "end").message_status == saved


def test_only_what_ended_badly_is_continued_and_whatever_ended_is_retried() -> None:
    assert {status for status in TRANSITIONS if may_continue(status)} == {"error", "cancelled"}
    assert {status for status in TRANSITIONS if may_retry(status)} == ENDED


def test_nothing_comes_after_an_end_and_every_state_shows_on_the_thread() -> None:
    assert {status for status, after in TRANSITIONS.items() if not after} == ENDED
    assert set(THREAD_STATUS) == set(TRANSITIONS)
    assert set().union(*TRANSITIONS.values()) < set(TRANSITIONS)


def test_the_pause_before_a_retry_doubles_and_the_providers_word_beats_it() -> None:
    pauses = [backoff_s(retry, 1.0, None, 0.0) for retry in (1, 2, 3)]
    assert pauses == [1.0, 2.0, 4.0]
    assert backoff_s(3, 1.0, 7.0, 0.0) == 7.0
    assert backoff_s(1, 1.0, None, 1.0) == 1.25
    assert all(after == 2 * before for before, after in pairwise(pauses))


@given(
    st.sampled_from(("none", "open", "finished", "failed")),
    st.integers(1, 60),
    st.lists(
        st.builds(Call, st.text("ab", min_size=1), st.sampled_from(CALL_STATES), st.booleans()), max_size=5
    ),
    st.integers(1, 50),
    st.sampled_from((None, "user", "abandoned", "superseded")),
)
def test_a_cancel_always_wins_and_the_model_is_asked_only_when_nothing_is_open(
    turn: Literal["none", "open", "finished", "failed"],
    step: int,
    calls: list[Call],
    max_steps: int,
    cancel: str | None,
) -> None:
    then = next_step(Situation(turn, step, calls=tuple(calls), max_steps=max_steps, cancel=cancel))
    if cancel is not None:
        assert then == End("cancelled", cancel)
    elif turn == "finished" and isinstance(then, (AskModel, End)):
        assert not [call for call in calls if call.status in OPEN_CALLS]
    elif isinstance(then, Wait):
        assert not [call for call in calls if call.status in ("allowed", "started")]


@given(st.lists(st.sampled_from(("ask", "allow", "wait", "decide", "fail", "cancel")), max_size=30))
def test_no_sequence_of_rules_leaves_the_state_diagram(moves: list[str]) -> None:
    """A run is played: what the rules name is done, and people decide in between."""
    status, situation = "queued", Situation("none", max_steps=4)
    for move in moves:
        if status in ENDED:
            break
        if move == "cancel":
            situation = Situation(situation.turn, situation.step, calls=situation.calls, cancel="user")
        if status == "awaiting_approval" and move == "wait":
            assert "paused" in TRANSITIONS[status]
            status = "paused"
            continue
        if status in ("awaiting_approval", "paused") and move == "decide":
            situation = finished(
                situation.step, *(Call(c.effect_id, "finished") for c in situation.calls), max_steps=4
            )
        then = next_step(situation)
        after = {AskModel: "running", CallTools: "running", Wait: "awaiting_approval"}.get(type(then))
        after = after or (then.status if isinstance(then, End) else "")
        if status == "queued" and after != "cancelled":
            status = "running"  # claimed first
        if after != status:
            assert after in TRANSITIONS[status], (status, after)
        status = after
        situation = _done(situation, then, move)


def _done(situation: Situation, then: Next, move: str) -> Situation:
    """The world after the step that the rules named."""
    if isinstance(then, AskModel):
        if move == "fail":
            return Situation("failed", then.step, max_steps=4)
        calls = {"allow": (Call("e1", "allowed"),), "wait": (Call("e1", "waiting"),)}.get(move, ())
        return finished(then.step, *calls, max_steps=4)
    if isinstance(then, CallTools):
        return finished(
            situation.step, *(Call(c.effect_id, "finished") for c in situation.calls), max_steps=4
        )
    return situation
