"""The life of a sandbox, as pure decisions. `docs/states.md` draws it.

creating → ready ⇄ pausing → paused(frozen | stopped) → resuming → ready; every living state may become lost or
killed; lost and killed are final: what comes after them is a new sandbox over the same workspace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from outlast.base.errors import Conflict

LEAST_AWAKE: Final = 4


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
    """What somebody who needs the sandbox must do next. `CREATE`: make a new one; `RESTART`: start the stopped one
    again under its id; `RECONNECT`: find it by its ref; `THAW`: wake it; `USE`: nothing."""

    USE = "use"
    CREATE = "create"
    RESTART = "restart"
    RECONNECT = "reconnect"
    THAW = "thaw"


class Idle(StrEnum):
    """What an idle clock asks for."""

    LEAVE = "leave"
    FREEZE = "freeze"
    STOP = "stop"
    KILL = "kill"


_AFTER: Final[dict[State, frozenset[State]]] = {
    State.CREATING: frozenset({State.READY, State.LOST, State.KILLED}),
    State.READY: frozenset({State.PAUSING, State.LOST, State.KILLED}),
    State.PAUSING: frozenset({State.PAUSED, State.READY, State.LOST, State.KILLED}),
    State.PAUSED: frozenset({State.RESUMING, State.PAUSED, State.LOST, State.KILLED}),
    State.RESUMING: frozenset({State.READY, State.PAUSED, State.LOST, State.KILLED}),
    State.LOST: frozenset(),
    State.KILLED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Life:
    """A sandbox's state as recorded; `pause_kind` is set exactly while it is paused."""

    state: State
    pause_kind: PauseKind | None = None

    def __post_init__(self) -> None:
        if (self.pause_kind is not None) != (self.state is State.PAUSED):
            raise ValueError(f"a sandbox {self.state} cannot have the pause kind {self.pause_kind}")


@dataclass(frozen=True, slots=True)
class Waking:
    """A sandbox that is awake: whether a run `works` in it at this moment, or `waits` for a person; `places` is how
    many it counts for."""

    sandbox_id: str
    life: Life
    last_used_at: datetime
    works: bool
    waits: bool
    places: int = 1


def may_become(now: State, then: State) -> bool:
    """Whether the life cycle allows this change."""
    return then in _AFTER[now]


def advance(life: Life, then: State, pause_kind: PauseKind | None = None) -> Life:
    """The next recorded state. Raises `Conflict` (code `conflict`) for a change that the life cycle does not have.

    A paused sandbox may only move from frozen to stopped, never back without resuming.
    """
    deeper = life.pause_kind is PauseKind.FROZEN and pause_kind is PauseKind.STOPPED
    if not may_become(life.state, then) or (life.state is then is State.PAUSED and not deeper):
        raise Conflict(f"a sandbox that is {life.state} cannot become {then}", state=life.state, wanted=then)
    return Life(then, pause_kind)


def is_alive(state: State) -> bool:
    """Whether the sandbox may still have processes."""
    return bool(_AFTER[state])


def step_to_use(life: Life | None, connected: bool) -> Step:
    """What must happen before a command can run: `life` is the newest recorded sandbox of the workspace, `connected`
    whether this server process holds a handle on it."""
    if life is None or not is_alive(life.state):
        return Step.CREATE
    if life.state is State.CREATING:
        return Step.CREATE  # whoever was creating it died; the remains are removed at start
    if life.pause_kind is PauseKind.STOPPED:
        return Step.RESTART
    if not connected:
        return Step.RECONNECT
    return Step.USE if life.state is State.READY else Step.THAW


def must_thaw(life: Life) -> bool:
    """Whether a sandbox found after a restart was left half way between awake and asleep: it is woken to be sure."""
    return life.state in (State.PAUSING, State.RESUMING)


def is_awake(life: Life) -> bool:
    """Whether the sandbox takes up memory: all but a stopped one do, a frozen one too."""
    return is_alive(life.state) and life.pause_kind is not PauseKind.STOPPED


def awake_allowed(max_awake: int, machine_bytes: int, sandbox_bytes: int) -> int:
    """How many may be awake at a time: as set, or (0) as many as fit into the machine's memory, but at least 4."""
    return max_awake or max(machine_bytes // sandbox_bytes, LEAST_AWAKE)


def hosted_allowed(setting: int, awake: int) -> int:
    """How many sandboxes programs of one project may run where `awake` may be awake; 0 sets three quarters of them, so
    that no project keeps all others from theirs."""
    return min(setting, awake) if setting else max(1, -(-3 * awake // 4))


def to_stop(awake: Sequence[Waking], allowed: int, coming: int) -> list[str]:
    """The ids of those to stop before what takes `coming` places is started: first those of no run, then those whose
    run waits for a person, each the least recently used first. Fewer than needed when the others are at work: those are
    let be."""
    resting = [one for one in awake if not one.works and one.life.state in (State.READY, State.PAUSED)]
    resting.sort(key=lambda one: (one.waits, one.last_used_at))
    missing = sum(one.places for one in awake) + coming - allowed
    chosen = []
    for one in resting:
        if missing <= 0:
            break
        missing -= one.places
        chosen.append(one.sandbox_id)
    return chosen


def idle_step(
    life: Life, idle_s: float, freeze_after_s: float, stop_after_s: float, kill_after_s: float
) -> Idle:
    """What to do with a sandbox that nobody has used for `idle_s` seconds: the deepest step that is due."""
    if life.state not in (State.READY, State.PAUSED):
        return Idle.LEAVE
    if idle_s >= kill_after_s:
        return Idle.KILL
    if idle_s >= stop_after_s and life.pause_kind is not PauseKind.STOPPED:
        return Idle.STOP
    return Idle.FREEZE if idle_s >= freeze_after_s and life.state is State.READY else Idle.LEAVE


def idle_due_s(life: Life, freeze_after_s: float, stop_after_s: float, kill_after_s: float) -> float | None:
    """After how many idle seconds the next step of `idle_step` is due; None: none is, as it is."""
    match life:
        case Life(State.READY):
            return freeze_after_s
        case Life(State.PAUSED, PauseKind.FROZEN):
            return stop_after_s
        case Life(State.PAUSED):
            return kill_after_s
        case _:
            return None
