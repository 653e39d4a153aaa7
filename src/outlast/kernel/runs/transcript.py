"""A run and its effects as values, and the transcript that they make: used by the store and the rest of the room."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple

from outlast.base.records import dataclass
from outlast.kernel.runs.rules import Call, Checked, Situation, Stages
from outlast.kernel.runs.stage_plan import FINAL_ANSWER, StagePlan


class Run(NamedTuple):
    """The columns of a run's row that a leg needs."""

    id: str
    project_id: str
    thread_id: str
    workspace_id: str | None
    profile: str
    model: str
    message_id: str
    parent_run_id: str | None
    mode: str
    started_by: str
    status: str
    leg: str
    attempt: int
    seq_saved: int
    seq_reserved: int
    credits: int
    cancel_reason: str | None
    cancelled_by: str | None
    created_at: datetime
    started_at: datetime | None
    deaths: int = 0
    problems: Sequence[str] = ()
    step_id: str | None = None
    instructions: str = ""

    @property
    def is_new(self) -> bool:
        """True for a run that was claimed for the first time: only `run.queued` has been shown, and its journal is
        empty."""
        return self.attempt == 1 and self.seq_saved <= 1 and self.mode != "continue"


class Effect(NamedTuple):
    """One model turn, tool call, stage, or message to the run. `result`: a turn as `{pieces, finish, opaque}` (and, if
    its text was lines, `counts` of their effects and `problems` with them; only `counts` while it is open), a call as
    `{content, is_error}` (and `notes` that the model reads with it, and `images`: `{attachment_id, name, size_bytes}`
    each), a stage (kinds `prepare` and `check`) as `{problems, mendable, facts}`, a message as `{message_id}`, a flow
    that continues another run's as `{seed}`, of its random numbers. `question`, the only field without a column: a user
    answers the call."""

    id: str
    ordinal: int
    step: int
    kind: str
    status: str
    attempt: int = 0
    retries: int = 0
    tool: str | None = None
    call_id: str | None = None
    part_id: str | None = None
    arguments: str | None = None
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    inherited: bool = False
    started_at: datetime | None = None
    question: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """A run with all of its effects so far."""

    run: Run
    effects: tuple[Effect, ...] = field(default=())

    @property
    def last_turn(self) -> Effect | None:
        return next((effect for effect in reversed(self.effects) if effect.kind == "model"), None)

    @property
    def flow(self) -> Effect | None:
        """The effect of the run of a flow, once it has begun."""
        return next((effect for effect in self.effects if effect.kind == "flow"), None)

    @property
    def next_ordinal(self) -> int:
        return max(self.effects[-1].ordinal, 0) + 1 if self.effects else 1

    @property
    def unread(self) -> tuple[Effect, ...]:
        """Messages sent to the run that no turn has read yet, oldest first."""
        return tuple(effect for effect in self.effects if effect.kind == "message" and effect.status == "waiting")

    def calls_of(self, step: int) -> tuple[Effect, ...]:
        return tuple(effect for effect in self.effects if effect.kind == "tool" and effect.step == step)

    def effect(self, effect_id: str) -> Effect:
        return next(effect for effect in self.effects if effect.id == effect_id)

    @property
    def is_cut(self) -> bool:
        """True if the last turn, or a call of it, has begun and has no result: an attempt ended in it."""
        turn = self.last_turn
        return turn is not None and any(effect.status == "started" for effect in (turn, *self.calls_of(turn.step)))

    def situation(self, max_steps: int, plan: StagePlan | None = None) -> Situation:
        """The input of the rules. `plan` is the plan of the run's agent, or None if it has no stages."""
        turn = self.last_turn
        cancel = self.run.cancel_reason
        stages = None if plan is None else self._stages(turn, plan)
        if turn is None:
            return Situation("none", max_steps=max_steps, cancel=cancel, stages=stages, unread=bool(self.unread))
        state = {"finished": "finished", "failed": "failed"}.get(turn.status, "open")
        calls = tuple(Call(call.id, call.status, call.question) for call in self.calls_of(turn.step))
        steps = turn.step - sum(1 for e in self.effects if e.kind == "model" and e.inherited)
        finish = str((turn.result or {}).get("finish", ""))
        return Situation(
            state,  # type: ignore[arg-type]  # one of the four by construction
            turn.step,
            finish,
            calls,
            max_steps + turn.step - steps,
            cancel,
            stages,
            turn.inherited,
            bool(self.unread),
        )

    def stages(self, kind: str) -> tuple[Effect, ...]:
        """The stages of this kind (prepare | check) that have a result, oldest first."""
        return tuple(e for e in self.effects if e.kind == kind and e.status == "finished")

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of the stages; later stages overwrite earlier ones."""
        merged: dict[str, Any] = {}
        for kind in ("prepare", "check"):
            for stage in self.stages(kind):
                merged |= (stage.result or {}).get("facts", {})
        return merged

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems found by the check after the last turn."""
        turn = self.last_turn
        last = [stage for stage in self.stages("check") if turn is not None and stage.step == turn.step]
        return tuple((last[-1].result or {}).get("problems", ())) if last else ()

    @property
    def untold(self) -> tuple[str, ...]:
        """Problems with the last turn's lines. The model reads them before its next turn, if there is one."""
        turn = self.last_turn
        return tuple((turn.result or {}).get("problems", ())) if turn is not None else ()

    @property
    def said(self) -> tuple[str, ...]:
        """The text of every finished turn, oldest first."""
        return tuple(text_of(e) for e in self.effects if e.kind == "model" and e.status == "finished")

    @property
    def checked_step(self) -> int:
        """The step of the run's own last check, or 0."""
        return max((stage.step for stage in self.stages("check") if not stage.inherited), default=0)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The texts of the run's own turns since its last check, oldest first."""
        own = (e for e in self.effects if e.kind == "model" and e.status == "finished" and not e.inherited)
        return tuple(text_of(turn) for turn in own if turn.step > self.checked_step)

    def answer(self, step: int | None = None) -> str | None:
        """The last answer of the model (in this step) as JSON text, or None if no answer was accepted."""
        for call in reversed(self.effects):
            is_answer = call.tool == FINAL_ANSWER and call.status == "finished" and step in (None, call.step)
            if is_answer and not (call.result or {}).get("is_error"):
                text: str | None = call.arguments
                return text
        return None

    def _stages(self, turn: Effect | None, plan: StagePlan) -> Stages:
        prepared = not plan.prepares or bool(self.stages("prepare"))
        if turn is None:
            return Stages(prepared)
        said = bool(plan.done_mark) and plan.done_mark in text_of(turn)
        checked = self._checked(turn.step) if plan.checks else "passed"
        return Stages(prepared, checked, said or self.answer(turn.step) is not None)

    def _checked(self, step: int) -> Checked:
        last = [stage.result or {} for stage in self.stages("check") if stage.step == step]
        if not last:
            return "no"
        if not last[-1].get("problems"):
            return "passed"
        return "mendable" if last[-1].get("mendable", True) else "final"


def text_of(turn: Effect) -> str:
    """The text of a turn, without its reasoning."""
    pieces = (turn.result or {}).get("pieces", ())
    return "".join(piece["text"] for piece in pieces if piece["type"] == "text")
