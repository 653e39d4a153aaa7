"""Queries for browsers: what people have permitted, and which runs have ended."""

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.tables import effects, runs

PERMISSION: Final = "browser_permission"
MAX_CALLS: Final = 500


class _Call(NamedTuple):
    arguments: str
    result: Mapping[str, Any]


class _Ended(NamedTuple):
    id: str
    status: str


def permitted_sites(tx: Tx, thread_id: str) -> set[str]:
    """The sites on which the agents of a thread may act: those of its finished calls of `browser_permission`."""
    asked = (
        sa.select(effects.c.arguments, effects.c.result)
        .join(runs, runs.c.id == effects.c.run_id)
        .where(runs.c.thread_id == thread_id, effects.c.tool == PERMISSION, effects.c.status == "finished")
        .order_by(effects.c.created_at.desc())
        .limit(MAX_CALLS)
    )
    return {orjson.loads(call.arguments)["site"] for call in tx.rows(_Call, asked) if not call.result.get("is_error")}


async def find_over(database: Database, run_ids: Collection[str]) -> Mapping[str, bool]:
    """Those of these runs that have ended: true if they were cancelled."""
    asked = sa.select(runs.c.id, runs.c.status).where(runs.c.id.in_(run_ids), runs.c.status.in_(ENDED))
    found = await database.read(lambda tx: tx.rows(_Ended, asked))
    return {run.id: run.status == "cancelled" for run in found}
