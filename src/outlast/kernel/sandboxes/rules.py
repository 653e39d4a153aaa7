"""The life cycle of a sandbox: allowed changes of state, and the next due step. Pure.

creating → ready ⇄ pausing → paused (frozen or stopped) → resuming → ready. Every state can change to lost or killed,
which are final: after them the workspace gets a new sandbox. `docs/states.md` has the diagram.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from outlast.base.errors import Conflict
from outlast.base.records import dataclass
from outlast.kernel.sandboxes.settings import SandboxSettings


class State(StrEnum):
    CREATING = "creating"
    READY = "ready"
    PAUSING = "pausing"
    PAUSED = "paused"
    RESUMING = "resuming"
    LOST = "lost"
    KILLED = "killed"


class PauseKind(StrEnum):
    FROZEN = "frozen"
    STOPPED = "stopped"


class Step(StrEnum):
    """The step before the next command in a sandbox."""

    USE = "use"  # nothing
    CREATE = "create"  # make a new sandbox
    RESTART = "restart"  # start the stopped one again under its id
    RECONNECT = "reconnect"  # find the running one by its ref
    THAW = "thaw"  # wake the frozen one


class IdleStep(StrEnum):
    """The steps of an idle sandbox, in order."""

    FREEZE = "freeze"
    STOP = "stop"
    KILL = "kill"


_NEXT_STATES: Final[dict[State, frozenset[State]]] = {
    State.CREATING: frozenset({State.READY, State.LOST, State.KILLED}),
    State.READY: frozenset({State.PAUSING, State.LOST, State.KILLED}),
    State.PAUSING: frozenset({State.PAUSED, State.READY, State.LOST, State.KILLED}),  # READY: it could not be frozen
    State.PAUSED: frozenset({State.RESUMING, State.PAUSED, State.LOST, State.KILLED}),  # PAUSED: frozen, then stopped
    State.RESUMING: frozenset({State.READY, State.PAUSED, State.LOST, State.KILLED}),
    State.LOST: frozenset(),
    State.KILLED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Life:
    """The recorded state of a sandbox. `pause_kind` is set exactly while it is paused."""

    state: State
    pause_kind: PauseKind | None = None

    def __post_init__(self) -> None:
        if (self.pause_kind is not None) != (self.state is State.PAUSED):
            raise ValueError(f"a sandbox {self.state} cannot have the pause kind {self.pause_kind}")


@dataclass(frozen=True, slots=True)
class AwakeSandbox:
    """A sandbox that takes up memory. `has_active_run`: a run works in it now; `has_waiting_run`: its run waits for a
    user. `places` is the number of sandboxes of the usual size that it counts as."""

    sandbox_id: str
    life: Life
    last_used_at: datetime
    has_active_run: bool
    has_waiting_run: bool
    places: int = 1


def can_become(state: State, wanted: State) -> bool:
    """True if the life cycle allows this change."""
    return wanted in _NEXT_STATES[state]


def advance(life: Life, wanted: State, pause_kind: PauseKind | None = None) -> Life:
    """The next recorded state. Raises `Conflict` for a change that the life cycle does not have.

    From paused to paused there is only one change: a frozen sandbox is stopped.
    """
    pauses_again = life.state is State.PAUSED and wanted is State.PAUSED
    stops_frozen = life.pause_kind is PauseKind.FROZEN and pause_kind is PauseKind.STOPPED
    if not can_become(life.state, wanted) or (pauses_again and not stops_frozen):
        raise Conflict(f"a sandbox that is {life.state} cannot become {wanted}", state=life.state, wanted=wanted)
    return Life(wanted, pause_kind)


def is_alive(state: State) -> bool:
    """True if the sandbox can still have processes."""
    return bool(_NEXT_STATES[state])


ALIVE: Final = [state.value for state in State if is_alive(state)]


def step_to_use(life: Life | None, connected: bool) -> Step:
    """The step before a command can run. `life` is that of the workspace's newest sandbox, or None if it never had one;
    `connected`: this server process holds a handle on it."""
    if life is None or not is_alive(life.state):
        return Step.CREATE
    if life.state is State.CREATING:
        return Step.CREATE  # a server died while it created this one; orphans.py removes the rest
    if life.pause_kind is PauseKind.STOPPED:
        return Step.RESTART
    if not connected:
        return Step.RECONNECT
    return Step.USE if life.state is State.READY else Step.THAW


def is_half_awake(life: Life) -> bool:
    """True if a server died while it paused or resumed the sandbox. It may be frozen or not, so the next server wakes
    it."""
    return life.state in (State.PAUSING, State.RESUMING)


def is_awake(life: Life) -> bool:
    """True if the sandbox takes up memory. A frozen one does, a stopped one does not."""
    return is_alive(life.state) and life.pause_kind is not PauseKind.STOPPED


def choose_to_stop(awake: Sequence[AwakeSandbox], allowed: int, coming: int) -> list[str]:
    """The ids of the sandboxes to stop so that `coming` more places fit into `allowed`. Those without a run come first,
    then those whose run waits for a user; in each group the least recently used first. One with an active run is never
    chosen, so the result can free fewer places than needed."""
    # A sandbox in the middle of a step belongs to the caller of that step.
    idle = [one for one in awake if not one.has_active_run and one.life.state in (State.READY, State.PAUSED)]
    idle.sort(key=lambda one: (one.has_waiting_run, one.last_used_at))
    missing = sum(one.places for one in awake) + coming - allowed
    chosen = []
    for one in idle:
        if missing <= 0:
            break
        missing -= one.places
        chosen.append(one.sandbox_id)
    return chosen


def idle_steps(life: Life, settings: SandboxSettings) -> dict[IdleStep, float]:
    """The steps still ahead, in order, each with the idle seconds after which it is due; empty for a sandbox that has
    ended."""
    if not is_alive(life.state):
        return {}
    steps = {
        IdleStep.FREEZE: settings.idle_pause_s,
        IdleStep.STOP: settings.stop_after_s,
        IdleStep.KILL: settings.kill_after_s,
    }
    if life.state is State.PAUSED:
        del steps[IdleStep.FREEZE]
    if life.pause_kind is PauseKind.STOPPED:
        del steps[IdleStep.STOP]
    return steps


def idle_step(life: Life, idle_s: float, settings: SandboxSettings) -> IdleStep | None:
    """The last step that is due for a sandbox that has been idle for `idle_s` seconds, or None if none is due."""
    due = [step for step, after_s in idle_steps(life, settings).items() if idle_s >= after_s]
    # In the middle of a step it is left unchanged.
    return due[-1] if due and life.state in (State.READY, State.PAUSED) else None


def idle_due_s(life: Life, settings: SandboxSettings) -> float | None:
    """The idle seconds after which the next `idle_step` is due, or None if it never is in this state."""
    return min(idle_steps(life, settings).values()) if life.state in (State.READY, State.PAUSED) else None
