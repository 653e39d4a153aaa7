"""The rules of a run: its next step. Pure: the same situation always gives the same answer.

State diagram (docs/states.md): queued → running ⇄ awaiting_approval → paused → running …, ending in completed,
cancelled or error. A leg calls `next_step` after every recorded effect.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from outlast.base.records import dataclass

ENDED: Final = frozenset({"completed", "cancelled", "error"})
OPEN_CALLS: Final = frozenset({"allowed", "waiting", "started", "parked", "deferred"})
TRANSITIONS: Final[Mapping[str, frozenset[str]]] = {
    "queued": frozenset({"running", "cancelled", "error"}),
    "running": frozenset({"running", "awaiting_approval", "completed", "cancelled", "error"}),
    "awaiting_approval": frozenset({"running", "paused", "cancelled", "error"}),
    "paused": frozenset({"running", "awaiting_approval", "cancelled", "error"}),
    "completed": frozenset(),
    "cancelled": frozenset(),
    "error": frozenset(),
}
HANDED_OVER: Final = "handed_over"  # the stop reason of a run that another agent's run follows
THREAD_STATUS: Final[Mapping[str, str]] = {
    "queued": "generating",
    "running": "generating",
    "awaiting_approval": "awaiting_approval",
    "paused": "paused",
    "completed": "complete",
    "cancelled": "idle",
    "error": "error",
}
WaitingFor = Literal["approval", "answer", "run", "time"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the last turn. `status` as in the effects table."""

    effect_id: str
    status: str
    question: bool = False


Checked = Literal["no", "passed", "mendable", "final"]


@dataclass(frozen=True, slots=True)
class Stages:
    """Progress of a staged run's work around the model's turns. `checked` is the result of the check after the last
    turn: not done yet, fine, problems that the model may fix, or problems that cannot be fixed; `done`: the last turn
    reports that the work is done, even if it calls tools."""

    prepared: bool = False
    checked: Checked = "no"
    done: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """The input of the decision. `turn` is the last model turn's state: none yet, open (named, not finished), finished,
    or failed (its error is final); `finish` is the reason why the model stopped; `inherited`: the turn belongs to the
    run that this one continues; `stages` is None if the profile has none; `unread`: people sent messages that no turn
    has read."""

    turn: Literal["none", "open", "finished", "failed"]
    step: int = 0
    finish: str = ""
    calls: Sequence[Call] = ()
    max_steps: int = 50
    cancel: str | None = None  # user | abandoned | superseded
    stages: Stages | None = None
    inherited: bool = False
    unread: bool = False


@dataclass(frozen=True, slots=True)
class AskModel:
    step: int


@dataclass(frozen=True, slots=True)
class Prepare:
    """The stage before the first turn."""


@dataclass(frozen=True, slots=True)
class Check:
    """The stage after turn `step`; `last`: no turn follows it."""

    step: int
    last: bool


@dataclass(frozen=True, slots=True)
class CallTools:
    effect_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandOver:
    """A transfer to another agent, after all other calls of its turn."""

    effect_id: str


@dataclass(frozen=True, slots=True)
class Wait:
    waiting_for: WaitingFor


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run. `message_status` is the status of the saved answer."""

    status: Literal["completed", "cancelled", "error"]
    stop_reason: str

    @property
    def message_status(self) -> str:
        return "complete" if self.status == "completed" else self.status


Next = AskModel | Prepare | Check | CallTools | HandOver | Wait | End


def next_step(now: Situation) -> Next:
    """The next effect, or how the run waits or ends."""
    if now.cancel is not None:  # takes precedence over everything else
        return End("cancelled", now.cancel)
    if now.turn == "failed":
        return End("error", "provider")
    if now.stages is not None and not now.stages.prepared:
        return Prepare()
    if now.turn == "none":
        return AskModel(1)
    if now.turn == "open":  # cut by a lost attempt: asked again from its beginning
        return AskModel(now.step)
    runnable = tuple(call.effect_id for call in now.calls if call.status in ("allowed", "started"))
    if runnable:  # allowed calls do not wait for open decisions
        return CallTools(runnable)
    waiting = [call for call in now.calls if call.status == "waiting"]
    if waiting:
        return Wait("answer" if all(call.question for call in waiting) else "approval")
    if any(call.status == "parked" for call in now.calls):  # a function that waits for more than a decision
        return Wait("run")
    if transfers := [call for call in now.calls if call.status == "deferred"]:
        return HandOver(transfers[0].effect_id)
    if not now.calls and now.finish == "refused":
        return End("error", "policy")
    if _goes_on(now):
        return AskModel(now.step + 1)
    return _after_turn(now) if now.stages is None else _after_staged_turn(now, now.stages)


def _goes_on(now: Situation) -> bool:
    """True if a turn was not over: the provider paused it, or a user continues an answer that was cut at its limit."""
    if now.calls or now.step >= now.max_steps:
        return False
    return now.finish == "paused" or (now.finish == "length" and now.inherited)


def _end(now: Situation) -> str:
    """The stop reason of an answer without further calls."""
    return "length" if now.finish == "length" else "end"


def _is_last(now: Situation) -> bool:
    """True if the model is done: no calls, and nothing that it has to go on with or to read."""
    return not now.calls and now.finish != "paused" and not now.unread


def _after_turn(now: Situation) -> Next:
    if _is_last(now):
        return End("completed", _end(now))
    if now.step >= now.max_steps:
        return End("completed", "steps")
    return AskModel(now.step + 1)


def _after_staged_turn(now: Situation, stages: Stages) -> Next:
    """As `_after_turn`, with a check before the run ends."""
    thinks_done = _is_last(now) or (stages.done and not now.unread)
    at_limit = now.step >= now.max_steps
    if not thinks_done and not at_limit:
        return AskModel(now.step + 1)
    if stages.checked == "no":
        return Check(now.step, last=at_limit)
    if stages.checked == "passed":
        return End("completed", _end(now) if thinks_done else "steps")
    if stages.checked == "final" or at_limit:
        return End("completed", "problems")
    return AskModel(now.step + 1)


def may_continue(status: str, stop_reason: str | None = None) -> bool:
    """True for failed and cancelled runs, which continue from where they stopped, and for answers cut at the output
    limit."""
    return status in ("error", "cancelled") or (status == "completed" and stop_reason == "length")


def may_retry(status: str, stop_reason: str | None = None) -> bool:
    return status in ENDED


def backoff_s(retry: int, base_s: float, retry_after_s: float | None, jitter: float) -> float:
    """Seconds to wait before the n-th retry (1, 2, …): the provider's value if it gave one, else base · 2ⁿ⁻¹, plus up
    to a quarter of jitter so that many runs do not return at once (AWS Architecture Blog, "Exponential Backoff And
    Jitter")."""
    wait = retry_after_s if retry_after_s is not None else base_s * 2 ** (retry - 1)
    return wait + wait * 0.25 * jitter
