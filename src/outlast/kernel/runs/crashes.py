"""Runs during which the server died: after how many deaths a run is suspected to be the cause."""

from typing import Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.shapes import ErrorData
from outlast.kernel.runs.tables import runs

SUSPECT_DEATHS: Final = 2  # from this count on, a run is executed only while no other suspect is
FATAL_DEATHS: Final = 3  # from this count on, it is never executed again
ERROR: Final = ErrorData(
    code="run_crashes_server",
    message="The server stopped three times in a row while it worked on this run.",
    hint="Continue to go on from what was saved, or retry. If it happens again, ask an administrator to look at the "
    "server's log.",
)


def take_back_death(tx: Tx, run_id: str, attempt: int) -> None:
    """The process that held this attempt is alive: its lease lapsed for another reason, which does not count as a
    death. Repeating is harmless."""
    tx.execute(
        sa.update(runs)
        .where(runs.c.id == run_id, runs.c.died_attempt == attempt, runs.c.deaths > 0, runs.c.leg != "ended")
        .values(deaths=runs.c.deaths - 1, died_attempt=None)
    )
