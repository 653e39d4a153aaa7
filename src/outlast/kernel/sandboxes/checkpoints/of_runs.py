"""What runs have changed: the checkpoints before and after one. First argument: the open transaction."""

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.checkpoints.store import to_data
from outlast.kernel.sandboxes.rows import CheckpointRow
from outlast.kernel.sandboxes.tables import checkpoints
from outlast.kernel.threads.tables import messages


def span_of(
    tx: Tx, workspace_id: str, thread_id: str, run_id: str
) -> tuple[CheckpointData | None, CheckpointData | None]:
    """(the files as a run found them, as it left them or has them now). A run without changes: twice None; files that
    began with the run: None and them. Answers that came with a copied conversation count as their runs'."""
    answers = sa.select(messages.c.id).where(messages.c.thread_id == thread_id, messages.c.run_id == run_id)
    here = sa.select(checkpoints).where(checkpoints.c.workspace_id == workspace_id)
    mine = here.where(sa.or_(checkpoints.c.run_id == run_id, checkpoints.c.message_id.in_(answers)))
    rows = tx.rows(CheckpointRow, mine.order_by(checkpoints.c.id))
    if not rows:
        return None, None
    earlier = here.where(checkpoints.c.id < rows[0].id).order_by(checkpoints.c.id.desc())
    before = tx.row(CheckpointRow, earlier.limit(1))
    return None if before is None else to_data(before), to_data(rows[-1])


def last_run(tx: Tx, workspace_id: str) -> str | None:
    """The last run that changed something; None: none has."""
    known = (
        sa.select(sa.func.coalesce(checkpoints.c.run_id, messages.c.run_id))
        .outerjoin(messages, messages.c.id == checkpoints.c.message_id)
        .where(
            checkpoints.c.workspace_id == workspace_id,
            sa.or_(checkpoints.c.run_id.is_not(None), messages.c.run_id.is_not(None)),
        )
    )
    run_id: str | None = tx.execute(known.order_by(checkpoints.c.id.desc()).limit(1)).scalar()
    return run_id
