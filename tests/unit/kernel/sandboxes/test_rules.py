"""The life of a sandbox: this state and that wish, this answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast.base.errors import Conflict
from outlast.kernel.sandboxes.rules import (
    AwakeSandbox,
    IdleStep,
    Life,
    PauseKind,
    State,
    Step,
    advance,
    can_become,
    choose_to_stop,
    idle_step,
    is_alive,
    is_half_awake,
    step_to_use,
)
from outlast.kernel.sandboxes.settings import SandboxSettings

FROZEN = Life(State.PAUSED, PauseKind.FROZEN)
STOPPED = Life(State.PAUSED, PauseKind.STOPPED)
READY = Life(State.READY)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (State.CREATING, {State.READY, State.LOST, State.KILLED}),
        (State.READY, {State.PAUSING, State.LOST, State.KILLED}),
        (State.PAUSING, {State.PAUSED, State.READY, State.LOST, State.KILLED}),
        (State.PAUSED, {State.PAUSED, State.RESUMING, State.LOST, State.KILLED}),
        (State.RESUMING, {State.READY, State.PAUSED, State.LOST, State.KILLED}),
        (State.LOST, set()),
        (State.KILLED, set()),
    ],
)
def test_the_life_cycle_has_these_changes_and_no_others(now: State, then: set[State]) -> None:
    assert {state for state in State if can_become(now, state)} == then


def test_a_frozen_sandbox_may_be_stopped_but_not_the_other_way_round() -> None:
    assert advance(FROZEN, State.PAUSED, PauseKind.STOPPED) == STOPPED
    with pytest.raises(Conflict):
        advance(STOPPED, State.PAUSED, PauseKind.FROZEN)
    with pytest.raises(Conflict):
        advance(FROZEN, State.PAUSED, PauseKind.FROZEN)


def test_a_forbidden_change_names_both_states() -> None:
    with pytest.raises(Conflict, match="killed cannot become ready"):
        advance(Life(State.KILLED), State.READY)


def test_a_pause_kind_belongs_to_paused_and_to_nothing_else() -> None:
    with pytest.raises(ValueError, match="pause kind"):
        Life(State.READY, PauseKind.FROZEN)
    with pytest.raises(ValueError, match="pause kind"):
        Life(State.PAUSED)


@given(some.lists(some.tuples(some.sampled_from(State), some.sampled_from([None, *PauseKind]))))
def test_no_sequence_of_changes_leaves_the_diagram_or_comes_back_from_the_end(
    wishes: list[tuple[State, PauseKind | None]],
) -> None:
    life = Life(State.CREATING)
    for then, kind in wishes:
        before = life
        try:
            life = advance(life, then, kind)
        except (Conflict, ValueError):
            continue
        assert is_alive(before.state)
        assert can_become(before.state, life.state)


@pytest.mark.parametrize(
    ("life", "connected", "step"),
    [
        (None, False, Step.CREATE),
        (Life(State.KILLED), True, Step.CREATE),
        (Life(State.LOST), False, Step.CREATE),
        (Life(State.CREATING), False, Step.CREATE),
        (READY, True, Step.USE),
        (READY, False, Step.RECONNECT),
        (FROZEN, True, Step.THAW),
        (FROZEN, False, Step.RECONNECT),
        (STOPPED, False, Step.RESTART),
        (STOPPED, True, Step.RESTART),
        (Life(State.PAUSING), True, Step.THAW),
        (Life(State.RESUMING), True, Step.THAW),
    ],
)
def test_what_somebody_who_needs_it_must_do(life: Life | None, connected: bool, step: Step) -> None:
    assert step_to_use(life, connected) is step


@pytest.mark.parametrize("state", State)
def test_only_what_was_left_half_asleep_is_woken_after_a_restart(state: State) -> None:
    life = Life(state, PauseKind.FROZEN if state is State.PAUSED else None)
    assert is_half_awake(life) == (state in (State.PAUSING, State.RESUMING))


@pytest.mark.parametrize(
    ("life", "idle_s", "wanted"),
    [
        (READY, 99, None),
        (READY, 100, IdleStep.FREEZE),
        (FROZEN, 100, None),
        (READY, 200, IdleStep.STOP),
        (FROZEN, 200, IdleStep.STOP),
        (STOPPED, 200, None),
        (STOPPED, 300, IdleStep.KILL),
        (READY, 300, IdleStep.KILL),
        (Life(State.CREATING), 300, None),
        (Life(State.KILLED), 300, None),
    ],
)
def test_the_deepest_idle_step_that_is_due_is_taken(life: Life, idle_s: float, wanted: IdleStep | None) -> None:
    settings = SandboxSettings(idle_pause_s=100, stop_after_s=200, kill_after_s=300)
    assert idle_step(life, idle_s, settings) is wanted


@pytest.mark.parametrize(
    ("allowed", "stopped"), [(9, []), (6, []), (5, ["old"]), (4, ["old", "new"]), (1, ["old", "new", "waits"])]
)
def test_the_longest_unused_is_stopped_first_and_never_one_at_work(allowed: int, stopped: list[str]) -> None:
    def waking(name: str, life: Life, minute: int, works: bool = False, waits: bool = False) -> AwakeSandbox:
        return AwakeSandbox(name, life, datetime(2026, 11, 20, 12, minute, tzinfo=UTC), works, waits)

    awake = [
        waking("works", READY, 1, works=True),
        waking("waits", FROZEN, 2, waits=True),
        waking("starts", Life(State.CREATING), 3),
        waking("new", READY, 9),
        waking("old", FROZEN, 5),
    ]
    assert choose_to_stop(awake, allowed, coming=1) == stopped


def test_one_that_takes_more_room_makes_more_and_needs_more() -> None:
    def waking(name: str, minute: int, places: int) -> AwakeSandbox:
        at = datetime(2026, 11, 20, 12, minute, tzinfo=UTC)
        return AwakeSandbox(name, READY, at, False, False, places)

    awake = [waking("small", 1, 1), waking("large", 2, 2), waking("young", 3, 1)]
    assert choose_to_stop(awake, 5, coming=1) == []
    assert choose_to_stop(awake, 5, coming=2) == ["small"]
    assert choose_to_stop(awake, 4, coming=2) == ["small", "large"]
    assert choose_to_stop(awake, 2, coming=2) == ["small", "large", "young"]
