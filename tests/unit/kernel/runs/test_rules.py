"""What a run does next: this is the situation, that must come. And no sequence of answers leaves the diagram."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.runs.rules import (
    ENDED,
    OPEN_CALLS,
    THREAD_STATUS,
    TRANSITIONS,
    AskModel,
    Call,
    CallTools,
    Check,
    End,
    HandOver,
    Next,
    Prepare,
    Situation,
    Stages,
    Wait,
    backoff_s,
    may_continue,
    may_retry,
    next_step,
)

CALL_STATES = ("allowed", "waiting", "started", "deferred", "finished", "failed", "denied", "interrupted", "cancelled")


def finished(step: int, *calls: Call, **more: Any) -> Situation:
    return Situation("finished", step, calls=calls, **more)


@pytest.mark.parametrize(
    ("situation", "then"),
    [
        (Situation("none"), AskModel(1)),
        (Situation("open", 3), AskModel(3)),
        (finished(2), End("completed", "end")),
        (finished(2, finish="refused"), End("error", "policy")),
        (finished(2, finish="length"), End("completed", "length")),
        (finished(2, finish="length", inherited=True), AskModel(3)),
        (finished(2, finish="stop", inherited=True), End("completed", "end")),
        (finished(2, Call("e1", "finished"), finish="length"), AskModel(3)),
        (finished(2, finish="paused"), AskModel(3)),
        (finished(2, finish="paused", max_steps=2), End("completed", "steps")),
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
        (finished(2, unread=True), AskModel(3)),
        (finished(2, unread=True, finish="length"), AskModel(3)),
        (finished(2, unread=True, max_steps=2), End("completed", "steps")),
        (finished(2, unread=True, finish="refused"), End("error", "policy")),
        (finished(1, Call("e1", "allowed"), unread=True), CallTools(("e1",))),
        (finished(1, Call("e1", "waiting"), unread=True), Wait("approval")),
        (Situation("open", 3, unread=True), AskModel(3)),
        (Situation("failed", 2, unread=True), End("error", "provider")),
        (finished(2, unread=True, cancel="user"), End("cancelled", "user")),
        (finished(1, Call("e1", "deferred"), Call("e2", "allowed")), CallTools(("e2",))),
        (finished(1, Call("e1", "deferred"), Call("e2", "waiting")), Wait("approval")),
        (finished(1, Call("e1", "deferred"), Call("e2", "parked")), Wait("run")),
        (finished(1, Call("e1", "finished"), Call("e2", "deferred"), Call("e3", "deferred")), HandOver("e2")),
        (finished(1, Call("e1", "deferred"), unread=True), HandOver("e1")),
        (finished(5, Call("e1", "deferred"), max_steps=5), HandOver("e1")),
        (finished(1, Call("e1", "deferred"), cancel="user"), End("cancelled", "user")),
        (Situation("failed", 2), End("error", "provider")),
        (Situation("open", 2, cancel="user"), End("cancelled", "user")),
        (Situation("failed", 2, cancel="user"), End("cancelled", "user")),
        (finished(1, Call("e1", "waiting"), cancel="superseded"), End("cancelled", "superseded")),
        (finished(1, Call("e1", "allowed"), cancel="abandoned"), End("cancelled", "abandoned")),
    ],
)
def test_this_is_the_situation_and_that_comes_next(situation: Situation, then: Next) -> None:
    assert next_step(situation) == then


READY = Stages(prepared=True)


def checked(word: Any, *, done: bool = False) -> Stages:
    return Stages(prepared=True, checked=word, done=done)


@pytest.mark.parametrize(
    ("situation", "then"),
    [
        (Situation("none", stages=Stages()), Prepare()),
        (Situation("open", 1, stages=Stages()), Prepare()),  # a run that continues another one
        (finished(2, stages=Stages()), Prepare()),
        (Situation("none", stages=READY), AskModel(1)),
        (Situation("open", 3, stages=READY), AskModel(3)),
        (finished(2, stages=READY), Check(2, last=False)),
        (finished(2, stages=READY, max_steps=2), Check(2, last=True)),
        (finished(2, stages=READY, finish="refused"), End("error", "policy")),
        (finished(2, stages=checked("passed")), End("completed", "end")),
        (finished(2, stages=checked("passed"), finish="length"), End("completed", "length")),
        (finished(2, stages=READY, finish="length"), Check(2, last=False)),
        (finished(2, stages=READY, finish="length", inherited=True), AskModel(3)),
        (finished(2, stages=READY, finish="paused"), AskModel(3)),
        (finished(2, stages=checked("mendable")), AskModel(3)),
        (finished(2, stages=checked("mendable"), max_steps=2), End("completed", "problems")),
        (finished(2, stages=checked("final")), End("completed", "problems")),
        (finished(1, Call("e1", "allowed"), stages=checked("no", done=True)), CallTools(("e1",))),
        (finished(1, Call("e1", "waiting"), stages=checked("no", done=True)), Wait("approval")),
        (finished(1, Call("e1", "finished"), stages=READY), AskModel(2)),
        (finished(1, Call("e1", "finished"), stages=checked("no", done=True)), Check(1, last=False)),
        (finished(1, Call("e1", "finished"), stages=checked("passed", done=True)), End("completed", "end")),
        (finished(5, Call("e1", "finished"), stages=READY, max_steps=5), Check(5, last=True)),
        (finished(5, Call("e1", "finished"), stages=checked("passed"), max_steps=5), End("completed", "steps")),
        (finished(5, Call("e1", "finished"), stages=checked("mendable"), max_steps=5), End("completed", "problems")),
        (finished(2, stages=READY, unread=True), AskModel(3)),
        (finished(2, stages=checked("passed"), unread=True), AskModel(3)),
        (finished(2, stages=checked("final"), unread=True), AskModel(3)),
        (finished(1, Call("e1", "finished"), stages=checked("no", done=True), unread=True), AskModel(2)),
        (finished(2, stages=READY, unread=True, max_steps=2), Check(2, last=True)),
        (finished(2, stages=checked("passed"), unread=True, max_steps=2), End("completed", "steps")),
        (finished(1, Call("e1", "deferred"), stages=READY), HandOver("e1")),
        (finished(1, Call("e1", "deferred"), stages=checked("no", done=True)), HandOver("e1")),
        (Situation("none", stages=Stages(), unread=True), Prepare()),
        (Situation("failed", 2, stages=READY), End("error", "provider")),
        (Situation("none", cancel="user", stages=Stages()), End("cancelled", "user")),
        (finished(2, stages=READY, cancel="abandoned"), End("cancelled", "abandoned")),
    ],
)
def test_a_staged_run_prepares_first_and_checks_before_it_ends(situation: Situation, then: Next) -> None:
    assert next_step(situation) == then


@pytest.mark.parametrize(
    ("status", "saved"), [("completed", "complete"), ("cancelled", "cancelled"), ("error", "error")]
)
def test_the_saved_answer_says_how_the_run_ended(
    status: Literal["completed", "cancelled", "error"], saved: str
) -> None:
    assert End(status, "end").message_status == saved


def test_what_ended_badly_or_at_the_output_limit_is_continued_and_whatever_ended_is_retried() -> None:
    assert {status for status in TRANSITIONS if may_continue(status)} == {"error", "cancelled"}
    assert may_continue("completed", "length")
    assert not may_continue("completed", "end")
    assert not may_continue("running", "length")
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
    st.lists(st.builds(Call, st.text("ab", min_size=1), st.sampled_from(CALL_STATES), st.booleans()), max_size=5),
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
            situation = finished(situation.step, *(Call(c.effect_id, "finished") for c in situation.calls), max_steps=4)
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
        return finished(situation.step, *(Call(c.effect_id, "finished") for c in situation.calls), max_steps=4)
    return situation


@given(
    st.lists(st.sampled_from(("answer", "call", "call and done")), max_size=20),
    st.lists(st.sampled_from(("passed", "mendable", "final")), max_size=20),
    st.integers(1, 8),
    st.integers(0, 60),
)
def test_a_staged_run_comes_to_an_end_with_one_preparation_and_a_check_of_its_last_turn(
    turns: list[str], verdicts: list[Any], max_steps: int, cancelled_at: int
) -> None:
    """Whatever the model says and the checks find: the run is played, and cancelled at any moment."""
    said, found = iter(turns), iter(verdicts)
    done: list[Next] = []
    now = Situation("none", max_steps=max_steps, stages=Stages())
    for moment in range(100):
        if moment == cancelled_at:
            now = replace(now, cancel="user")
        coming = next_step(now)
        done.append(coming)
        if isinstance(coming, End):
            break
        stages = now.stages
        assert stages is not None
        if isinstance(coming, Prepare):
            now = replace(now, stages=replace(stages, prepared=True))
        elif isinstance(coming, Check):
            now = replace(now, stages=replace(stages, checked=next(found, "passed")))
        elif isinstance(coming, AskModel):
            what = next(said, "answer")
            calls = () if what == "answer" else (Call("e", "finished"),)
            stages = Stages(prepared=True, done=what == "call and done")
            now = Situation("finished", coming.step, calls=calls, max_steps=max_steps, stages=stages)
    end = done[-1]
    assert isinstance(end, End)
    asked = [step.step for step in done if isinstance(step, AskModel)]
    assert asked == list(range(1, len(asked) + 1))
    assert len(asked) <= max_steps
    assert [type(step) for step in done[:-1]].count(Prepare) <= 1
    checks = [step.step for step in done if isinstance(step, Check)]
    assert len(set(checks)) == len(checks), "a turn is checked once"
    if end.status == "completed":
        assert checks[-1] == asked[-1], "no run completes without a check of its last turn"
        assert (end.stop_reason == "problems") == (now.stages.checked in ("mendable", "final"))  # type: ignore[union-attr]


@given(
    st.lists(st.tuples(st.sampled_from(("answer", "call", "wait", "pause")), st.integers(0, 2)), max_size=20),
    st.integers(1, 8),
    st.one_of(st.none(), st.sampled_from(("passed", "mendable", "final"))),
)
def test_a_run_completes_with_unread_messages_only_at_its_limit_of_turns(
    turns: list[tuple[str, int]], max_steps: int, verdict: Any
) -> None:
    """People send messages during every turn and every check; naming a turn reads what there is."""
    said, sent = iter(turns), 0
    now = Situation("none", max_steps=max_steps, stages=None if verdict is None else Stages())
    asked: list[int] = []
    for _ in range(100):
        coming = next_step(now)
        if isinstance(coming, End):
            break
        if isinstance(coming, AskModel):
            asked.append(coming.step)
            what, sent = next(said, ("answer", 0))  # read with this turn; those sent during it are not
            calls = {"call": (Call("e", "allowed"),), "wait": (Call("e", "waiting"),)}.get(what, ())
            stages = None if verdict is None else READY
            finish = "paused" if what == "pause" else "stop"
            now = finished(coming.step, *calls, max_steps=max_steps, finish=finish, stages=stages)
        elif isinstance(coming, CallTools | Wait):
            now = replace(now, calls=(Call("e", "finished"),))
        elif isinstance(coming, Prepare):
            now = replace(now, stages=READY)
        else:
            now, sent = replace(now, stages=checked(verdict)), sent + next(said, ("", 0))[1]
        now = replace(now, unread=sent > 0)
    assert isinstance(coming, End)  # type: ignore[possibly-undefined]
    assert asked == list(range(1, len(asked) + 1))
    assert not now.unread or len(asked) == max_steps
    assert not (now.unread and coming.stop_reason == "end")
