"""Summaries of runs: of one, and lists that a search narrows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import CursorUnknown, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.credits.rules import is_charged
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.shapes import RunSummaryAnswer, UsageData
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.threads.tables import messages, threads


class _ShownRun(NamedTuple):
    run: RunRow
    thread_title: str
    started_by_name: str
    step_count: int
    tool_count: int


def summary_of(tx: Tx, run_id: str) -> RunSummaryAnswer:
    """Raises `NotFound`."""
    return row_and_summary(tx, run_id)[1]


def row_and_summary(tx: Tx, run_id: str) -> tuple[RunRow, RunSummaryAnswer]:
    """Raises `NotFound`."""
    row = tx.row(_ShownRun, _summaries().where(runs.c.id == run_id))
    if row is None:
        raise NotFound("This run does not exist.", id=run_id)
    return row.run, _summary(row)


def list_summaries(
    tx: Tx,
    project_ids: Sequence[str],
    *,
    thread_id: str | None = None,
    status: str | None = None,
    query: str = "",
    before: str | None = None,
    limit: int = 50,
) -> Listed[RunSummaryAnswer, str]:
    """Runs of these projects, newest first; `query` is searched in ids, thread titles, models, errors and the messages
    they answer."""
    chosen = _summaries().where(runs.c.project_id.in_(project_ids))
    if thread_id:
        chosen = chosen.where(runs.c.thread_id == thread_id)
    if status:
        chosen = chosen.where(runs.c.status == status)
    if before:
        if not before.startswith("run_") or len(before) > 40:
            raise CursorUnknown("The cursor is not from this list.", cursor=before[:80])
        chosen = chosen.where(runs.c.id < before)
    if query.strip():
        chosen = chosen.where(_matches(query.strip()))
    rows = tx.rows(_ShownRun, chosen.order_by(runs.c.id.desc()).limit(limit + 1))
    page = [_summary(row) for row in rows[:limit]]
    return Listed(page, page[-1].id if len(rows) > limit else None)


def _summaries() -> sa.Select[Any]:
    turns = sa.select(sa.func.count()).where(effects.c.run_id == runs.c.id, effects.c.kind == "model")
    calls = sa.select(sa.func.count()).where(effects.c.run_id == runs.c.id, effects.c.kind == "tool")
    return (
        sa.select(
            runs,
            threads.c.title.label("thread_title"),
            users.c.name.label("started_by_name"),
            turns.scalar_subquery().label("step_count"),
            calls.scalar_subquery().label("tool_count"),
        )
        .join(threads, threads.c.id == runs.c.thread_id)
        .join(users, users.c.id == runs.c.started_by)
    )


def _matches(query: str) -> sa.ColumnElement[bool]:
    said = sa.cast(messages.c.parts, sa.Text).icontains(query, autoescape=True)
    asked = sa.select(messages.c.id).where(messages.c.id == runs.c.message_id, said)
    columns = (runs.c.id, runs.c.model, threads.c.title, sa.cast(runs.c.error, sa.Text))
    return sa.or_(*(column.icontains(query, autoescape=True) for column in columns), asked.exists())


def _summary(row: _ShownRun) -> RunSummaryAnswer:
    began, ended = row.run.started_at, row.run.ended_at
    is_free = row.run.status in ENDED and not is_charged(row.run.status, row.run.problems)
    return shape_of(
        RunSummaryAnswer,
        row.run,
        row,
        answer_message_id=row.run.answer_id,
        credits=0 if is_free else row.run.credits,
        usage=shape_of(UsageData, row.run),
        duration_s=(ended - began).total_seconds() if began and ended else None,
    )
