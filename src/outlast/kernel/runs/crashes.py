"""Runs that the server died under: from how many deaths on a run counts as what ends the server."""

from typing import Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.shapes import ErrorData
from outlast.kernel.runs.tables import runs

SUSPECT_DEATHS: Final = 2  # from so many on, a run is executed only while no other suspect is
FATAL_DEATHS: Final = 3  # from so many on, it is not executed any more
ERROR: Final = ErrorData(
    code="run_crashes_server",
    message="The server stopped three times in a row while it worked on this run.",
    hint="Continue to go on from what was saved, or retry. If it happens again, ask an administrator to look at the "
    "server's log.",
)


def take_back_death(tx: Tx, run_id: str, attempt: int) -> None:
    """The process that held this attempt is alive: its lease lapsed for another reason, which counts as no death.
    Repeating it is harmless."""
    tx.execute(
        sa.update(runs)
        .where(runs.c.id == run_id, runs.c.died_attempt == attempt, runs.c.deaths > 0, runs.c.leg != "ended")
        .values(deaths=runs.c.deaths - 1, died_attempt=None)
    )
