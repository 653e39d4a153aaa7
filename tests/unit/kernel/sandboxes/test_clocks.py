"""What time will take away from an idle sandbox, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from outlast.kernel.sandboxes.clocks import FREEZE, KILL, STOP, idle_clocks
from outlast.kernel.sandboxes.rules import IdleStep, Life, PauseKind, State, idle_due_s, idle_step
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.testing.clock import START

SETTINGS = SandboxSettings()
FROZEN, STOPPED = Life(State.PAUSED, PauseKind.FROZEN), Life(State.PAUSED, PauseKind.STOPPED)


@pytest.mark.parametrize(
    ("life", "names"),
    [
        (Life(State.READY), [FREEZE, STOP, KILL]),
        (FROZEN, [STOP, KILL]),
        (STOPPED, [KILL]),
        (Life(State.LOST), []),
        (Life(State.KILLED), []),
    ],
)
def test_each_clock_is_shown_until_it_has_struck(life: Life, names: list[str]) -> None:
    assert list(idle_clocks(life, START, SETTINGS)) == names


def test_the_clocks_shown_are_those_that_are_obeyed() -> None:
    due = idle_clocks(Life(State.READY), START, SETTINGS)
    assert due == {
        FREEZE: START + timedelta(minutes=15),
        STOP: START + timedelta(minutes=30),
        KILL: START + timedelta(days=1),
    }


@pytest.mark.parametrize(
    ("life", "step"), [(Life(State.READY), IdleStep.FREEZE), (FROZEN, IdleStep.STOP), (STOPPED, IdleStep.KILL)]
)
def test_a_step_is_due_exactly_when_it_is_taken(life: Life, step: IdleStep) -> None:
    due_s = idle_due_s(life, SETTINGS)
    assert due_s is not None
    assert idle_step(life, due_s, SETTINGS) is step
    assert idle_step(life, due_s - 1, SETTINGS) is None


@pytest.mark.parametrize("state", [State.CREATING, State.PAUSING, State.RESUMING, State.LOST, State.KILLED])
def test_nothing_is_due_for_what_is_on_its_way_or_gone(state: State) -> None:
    assert idle_due_s(Life(state), SETTINGS) is None
    assert idle_step(Life(state), 1e9, SETTINGS) is None
