"""A run as users and programs read it: named steps, pending decisions, clocks, the export."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.runs import timers
from outlast.kernel.runs.journal_store import steps_of_run
from outlast.kernel.runs.rows import ApprovalRow, EffectRow, FunctionStepRow, RunRow
from outlast.kernel.runs.run_list import row_and_summary
from outlast.kernel.runs.shapes import ClockAnswer, ErrorData, RunAnswer, StepAnswer, StepKind
from outlast.kernel.runs.tables import approvals, effects, runs
from outlast.kernel.sandboxes.clocks import OF_RUNS, clocks_beside_run
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.store import has_sandbox
from outlast.kernel.streams.fold import RunFold, fold_lines
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.tables import messages

TAKES_AWAY: Final[Mapping[str, str]] = {
    "approval_pause": "The sandbox is frozen and the run is shown as paused until a user decides.",
    "paused_kill": "The sandbox is removed; its files stay, and a decision starts a new one.",
    "abandon": "The run is cancelled, because no client follows it.",
    "clean_up": "The run's steps and events are removed; its messages stay.",
}
_OF_NO_EFFECT: Final[dict[str, Any]] = {
    "step": None, "tool": None, "usage": None, "cost_usd": None, "retries": 0, "error": None, "attempt": 0,
}  # fmt: skip


def fold_of(tx: Tx, run_id: str) -> RunFold:
    """The run as shown by its log; once it has ended, with the parts of its saved answer."""
    shown = fold_lines(read_all(tx, run_id))
    answer_id = tx.value(runs.c.answer_id, {"id": run_id})
    saved = None if answer_id is None else tx.value(messages.c.parts, {"id": answer_id})
    shown.parts = shown.parts if saved is None else saved
    return shown


def whole_run(tx: Tx, run_id: str, sandbox: SandboxSettings | None) -> RunAnswer:
    """The run with its parts, pending decisions, steps and clocks; with the settings of `sandbox`, the clocks of its
    sandbox too. `cursor` is where its stream continues after these parts; `workflow` has its named steps as last shown
    (empty if its agent has none), `page` the state of its page with its statistics (None if it has none), `modules` the
    modules that it announced. Raises `NotFound`."""
    (row, summary), shown = row_and_summary(tx, run_id), fold_of(tx, run_id)
    silent = () if row.workspace_id is not None and has_sandbox(tx, row.workspace_id) else OF_RUNS
    clocks = [
        ClockAnswer(name=timer.kind, due_at=iso(timer.due_at), takes_away=TAKES_AWAY[timer.kind])
        for timer in timers.timers_of(tx, run_id)
        if timer.kind in TAKES_AWAY and timer.kind not in silent
    ]
    if sandbox is not None and row.workspace_id is not None and row.ended_at is None:
        clocks += clocks_beside_run(tx, sandbox, row.workspace_id)
    folded: dict[str, Any] = {
        name: getattr(shown, name) for name in ("parts", "pending", "workflow", "page", "modules")
    }
    return RunAnswer(**dict(summary), **folded, steps=steps_of(tx, row), cursor=shown.last_seq, clocks=clocks)


class LastTurn(NamedTuple):
    """The model of a thread's last turn, and the tokens that it read and wrote."""

    model: str
    tokens: int


def last_turn(tx: Tx, thread_id: str) -> LastTurn | None:
    """The last turn of the thread's newest run that has one; None before that, and after the retention time."""
    newest = sa.select(runs.c.id, runs.c.model).where(runs.c.thread_id == thread_id, runs.c.input_tokens > 0)
    run = tx.execute(newest.order_by(runs.c.id.desc()).limit(1)).first()
    if run is None:
        return None
    turns = sa.select(effects.c.usage).where(
        effects.c.run_id == run.id, effects.c.kind == "model", effects.c.status == "finished"
    )
    usage = tx.execute(turns.order_by(effects.c.ordinal.desc()).limit(1)).scalar()
    return None if usage is None else LastTurn(run.model, usage["input_tokens"] + usage["output_tokens"])


def steps_of(tx: Tx, run: RunRow) -> list[StepAnswer]:
    """The run as named steps: start, stages (prepare, check), model turns, tool calls, waits, settle."""
    rows = tx.rows(EffectRow, sa.select(effects).where(effects.c.run_id == run.id).order_by(effects.c.ordinal))
    waits = {
        row.effect_id: row for row in tx.rows(ApprovalRow, sa.select(approvals).where(approvals.c.run_id == run.id))
    }
    steps = [_step("start", "start", "done" if run.started_at else "waiting", run.created_at, run.started_at)]
    for row in rows:
        if row.kind == "message":
            continue
        of_effect: dict[str, Any] = {"step": row.step, "tool": row.tool}
        if (wait := waits.get(row.id)) is not None:
            steps.append(_step(wait.kind, "wait", wait.status, wait.created_at, wait.decided_at, of_effect))
        name = f"model turn {row.step}" if row.kind == "model" else (row.tool or row.kind)
        of_effect |= {
            "usage": row.usage,
            "cost_usd": (row.usage or {}).get("cost_usd"),
            "retries": row.retries,
            "error": _error(row.error),
            "attempt": row.attempt,
        }
        steps.append(_step(name, row.kind, row.status, row.started_at, row.ended_at, of_effect))
    if run.ended_at is not None:
        steps.append(_step("settle", "settle", run.status, run.ended_at, run.ended_at))
    return steps


def export_of(tx: Tx, run_id: str) -> dict[str, Any]:
    """All data of a run, as plain JSON: row, steps, effects with arguments and results, what its flow or tools have
    recorded, events; the share of its
    prompts that came from the provider's cache, and its changes to its page."""
    run, summary = row_and_summary(tx, run_id)
    rows = tx.rows(EffectRow, sa.select(effects).where(effects.c.run_id == run_id).order_by(effects.c.ordinal))
    lines = read_all(tx, run_id)
    shown = fold_lines(lines)
    return {
        "format": "outlast-run/1",
        "run": summary.model_dump(),
        "cached_share": summary.usage.cached_share,
        "page": shown.page,
        "modules": shown.modules,
        "steps": [step.model_dump() for step in steps_of(tx, run)],
        "effects": [_plain(row) for row in rows],
        "function_steps": [_plain(row) for row in steps_of_run(tx, run_id)],
        "events": [orjson.loads(line) for _, line in lines],
    }


def _plain(row: EffectRow | FunctionStepRow) -> dict[str, Any]:
    return {name: iso(value) if isinstance(value, datetime) else value for name, value in row._asdict().items()}


def _step(
    name: str,
    kind: StepKind,
    status: str,
    started_at: datetime | None,
    ended_at: datetime | None,
    of_effect: dict[str, Any] = _OF_NO_EFFECT,
) -> StepAnswer:
    return StepAnswer(
        name=name,
        kind=kind,
        status=status,
        started_at=iso(started_at) if started_at else None,
        ended_at=iso(ended_at) if ended_at else None,
        duration_s=(ended_at - started_at).total_seconds() if started_at and ended_at else None,
        **_OF_NO_EFFECT | of_effect,
    )


def _error(error: Mapping[str, Any] | None) -> ErrorData | None:
    if error is None:
        return None
    return ErrorData(code=error["code"], message=error["message"], hint=error.get("hint", ""))
