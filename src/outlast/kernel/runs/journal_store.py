"""The queries of functions' steps, one function each. The first argument is always the open transaction."""

from collections.abc import Sequence
from typing import Any, Final

import orjson
import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.rows import FunctionStepRow
from outlast.kernel.runs.step_places import passed_steps
from outlast.kernel.runs.tables import effects, function_steps

_OF_EFFECT = sa.select(function_steps).where(function_steps.c.effect_id == sa.bindparam("effect"))
_OF_RUN = (
    sa.select(function_steps)
    .where(function_steps.c.run_id == sa.bindparam("run"))
    .order_by(function_steps.c.created_at, function_steps.c.id)
)
_AT = sa.select(function_steps).where(
    function_steps.c.run_id.in_(sa.bindparam("runs", expanding=True)),
    function_steps.c.path == sa.bindparam("path"),
    function_steps.c.status == "finished",
)
_WAITING = function_steps.c.status == "waiting"
_WAITING_OF_EFFECT = _OF_EFFECT.where(_WAITING)
_WAITED_FOR = sa.select(function_steps.c.kind).where(function_steps.c.run_id == sa.bindparam("run"), _WAITING)
_ASKED = sa.select(function_steps).where(function_steps.c.waits_for == sa.bindparam("effect"), _WAITING)
_PATHS: Final = sa.select(function_steps.c.path).where(function_steps.c.effect_id == sa.bindparam("effect"))
_FAILED: Final = _PATHS.where(function_steps.c.status == "failed")


def steps_of(tx: Tx, effect_id: str) -> list[FunctionStepRow]:
    """The steps that a flow, or a call of a tool, has recorded. For reads only: there may be thousands."""
    return tx.rows(FunctionStepRow, _OF_EFFECT, {"effect": effect_id})


def steps_of_run(tx: Tx, run_id: str) -> list[FunctionStepRow]:
    """All steps of a run's functions, the oldest first."""
    return tx.rows(FunctionStepRow, _OF_RUN, {"run": run_id})


def values_at(tx: Tx, run_ids: Sequence[str], path: str) -> dict[str, FunctionStepRow]:
    """What functions of these runs recorded at this place, by run."""
    rows = tx.rows(FunctionStepRow, _AT, {"runs": list(run_ids), "path": path}) if run_ids else []
    return {row.run_id: row for row in rows}


def step_of(tx: Tx, step_id: str) -> FunctionStepRow | None:
    return tx.find(FunctionStepRow, function_steps, {"id": step_id})


def waiting_steps(tx: Tx, effect_id: str) -> list[FunctionStepRow]:
    """The steps of a function that have no result yet."""
    return tx.rows(FunctionStepRow, _WAITING_OF_EFFECT, {"effect": effect_id})


def kinds_waited_for(tx: Tx, run_id: str) -> set[str]:
    """The kinds of the steps of a run that have no result yet."""
    return set(tx.execute(_WAITED_FOR, {"run": run_id}).scalars())


def finish_step(tx: Tx, step_id: str, value: Any = None, error: dict[str, str] | None = None) -> bool:
    """Give a step that waits its value, or its failure. False if it has one already."""
    ended: dict[str, Any] = {"status": "finished", "result": orjson.dumps(value).decode()}
    if error is not None:
        ended = {"status": "failed", "error": error}
    return tx.update(function_steps, {"id": step_id, "status": "waiting"}, ended_at=tx.now, **ended) > 0


def answer_step(tx: Tx, effect_id: str, value: Any) -> None:
    """A question was answered. The steps of functions that wait for it have their value, and these may go on."""
    for asked in tx.rows(FunctionStepRow, _ASKED, {"effect": effect_id}):
        finish_step(tx, asked.id, value)
        let_go_on(tx, asked.effect_id)


def let_go_on(tx: Tx, effect_id: str) -> None:
    """A parked function has something to go on with. The caller holds the run."""
    tx.update(effects, {"id": effect_id, "status": "parked"}, status="allowed")


def suspend(tx: Tx, effect_id: str, seen: Sequence[str]) -> None:
    """The function waits for these steps: it is parked, unless one of them has its value by now, or there is none. The
    caller holds the run."""
    waiting = {step.id for step in waiting_steps(tx, effect_id)}
    tx.update(effects, {"id": effect_id}, status="parked" if seen and waiting.issuperset(seen) else "allowed")


def copy_steps(tx: Tx, effect_id: str, run_id: str, copy_id: str) -> None:
    """Copy the steps that a function has done to the effect `copy_id` of another run, which calls it again: those that
    finished, and failures that it went on after. Steps that wait, and failures that ended it, are left out: they are
    done again. One statement, however many there are."""
    failed = list(tx.execute(_FAILED, {"effect": effect_id}).scalars())
    passed = passed_steps(failed, tx.execute(_PATHS, {"effect": effect_id}).scalars()) if failed else []
    done = sa.or_(function_steps.c.status == "finished", function_steps.c.path.in_(passed))
    number = sa.func.row_number().over(order_by=function_steps.c.id)
    changed: dict[str, sa.ColumnElement[Any]] = {
        "id": sa.literal(f"stp_{copy_id.partition('_')[2]}_") + sa.cast(number, sa.String),
        "run_id": sa.literal(run_id),
        "effect_id": sa.literal(copy_id),
        "attempt": sa.literal(0),  # no attempt of this run recorded it
        "announced": sa.true(),  # the answer of the other run shows the agents that it called
    }
    columns = [changed.get(column.name, column) for column in function_steps.c]
    copies = sa.select(*columns).where(function_steps.c.effect_id == effect_id, done)
    tx.execute(sa.insert(function_steps).from_select([column.name for column in function_steps.c], copies))
