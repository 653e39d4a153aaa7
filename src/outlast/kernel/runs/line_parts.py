"""The part of an answer that represents the lines of one step. First argument: the open transaction."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.agents.hooks import Lines
from outlast.kernel.runs import store
from outlast.kernel.runs.shapes import PartCarrier, whole_parts
from outlast.kernel.runs.tables import effects
from outlast.kernel.runs.transcript import Run
from outlast.kernel.streams.log_store import NamedEvent

_CUT: Final = (
    sa.select(effects.c.step, effects.c.result)
    .where(effects.c.run_id == sa.bindparam("run"), effects.c.kind == "model", effects.c.status != "finished")
    .order_by(effects.c.ordinal.desc())
    .limit(1)
)


def reset_in(tx: Tx, lines: Lines | None, run: Run, effect_id: str, step: int) -> list[NamedEvent]:
    """The step is asked again: take back the effects of its lines. Does nothing for an agent without lines."""
    if lines is None:
        return []
    # With the sums of these lines: a run that is cut before the next ones shows none.
    store.update_effect(tx, effect_id, result=None)
    return list(lines.reset(tx, run, step))


def part_in(tx: Tx, lines: Lines, run: Run, step: int, counts: Mapping[str, int]) -> list[tuple[str, PartCarrier]]:
    """The events of the part that represents a step's lines; empty if they changed nothing."""
    part = lines.part(tx, run, step, counts)
    return [] if part is None else whole_parts([part], step)


class _Turn(NamedTuple):
    step: int
    result: Any


def cut_part_in(tx: Tx, lines: Lines, run: Run) -> list[tuple[str, PartCarrier]]:
    """The same for the step in which a run was cut: the lines that were taken stay, and the answer reports the cut."""
    row = tx.row(_Turn, _CUT, {"run": run.id})
    counts = (row.result or {}).get("counts") if row is not None else None
    return part_in(tx, lines, run, row.step, counts) if row is not None and counts else []
