"""Removes checkpoints that are no longer kept, unfinished uploads after a day, and blobs without a reference.

A blob may be removed if no table names it, no manifest needs it, and it was neither stored nor used again for a day. A
caller that stores a blob therefore has a day to reference it. Each app declares its columns with names of blobs.

Nothing is collected if the database may not be the one that the blobs belong to: see `kernel/deployment.py`.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import sqlalchemy as sa

from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.apps import registry
from outlast.kernel.attachments.store import remove_old_uploads
from outlast.kernel.attachments.tables import attachments, upload_pieces
from outlast.kernel.deployment import begin_collection, deployment_of, why_held
from outlast.kernel.files.tables import artifacts
from outlast.kernel.runs.tables import function_steps
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints.rules import superfluous
from outlast.kernel.sandboxes.translation import translated
from outlast_sandbox.checkpoints.manifests import needed_blobs

GRACE_S: Final = 86_400.0
KEEP_UNBOUND: Final = timedelta(days=30)
_OWN_COLUMNS: Final = (  # in addition to manifests
    attachments.c.blob,
    upload_pieces.c.blob,
    artifacts.c.blob,
    artifacts.c.text_blob,
    function_steps.c.blob,
)


@dataclass(frozen=True, slots=True)
class Collected:
    """The result of a collection."""

    checkpoints: int
    blobs: int
    size_bytes: int
    held: str = ""  # the reason why nothing was collected


async def collect(
    db: Database, blobs: Blobs, keep_unbound: timedelta, grace_s: float = GRACE_S, *, data_dir: Path
) -> Collected:
    """Remove both. Nothing is removed while a manifest cannot be read, because the blobs that it needs are then not
    known (`NotFound`, `InternalError`). Safe in parallel with all other work, also in several processes; may be
    cancelled and repeated."""
    if held := await begin_collection(db, deployment_of(data_dir, blobs)):
        return Collected(0, 0, 0, held)
    await db.write(remove_old_uploads)
    dropped = await drop_checkpoints(db, keep_unbound)
    before = await anyio.to_thread.run_sync(blobs.now) - grace_s
    # Before the names are read: blobs stored from now on are not candidates.
    old = await anyio.to_thread.run_sync(lambda: list(blobs.unused_since(before)))
    if not old:
        await anyio.to_thread.run_sync(blobs.remove_unfinished, before)
        return Collected(dropped, 0, 0)
    held, named, manifests = await db.read(lambda tx: (why_held(tx), *named_blobs(tx)))
    if held:  # a backup began meanwhile: its copy of the database may name more
        return Collected(dropped, 0, 0, held)
    # Raises, before any blob is removed, if a manifest cannot be read.
    needed = named | await anyio.to_thread.run_sync(blobs_of_manifests, blobs, manifests)
    removed = size_bytes = 0
    for blob in old:
        if blob.name in needed:
            continue
        # First: after a kill here, an unreferenced blob is left for the next collection.
        await db.write(store.unpack, blob.name)
        # Stays if it was used again meanwhile.
        if await anyio.to_thread.run_sync(blobs.remove_unused, blob.name, before):
            removed, size_bytes = removed + 1, size_bytes + blob.size_bytes
    await anyio.to_thread.run_sync(blobs.remove_unfinished, before)
    return Collected(dropped, removed, size_bytes)


async def drop_checkpoints(db: Database, keep_unbound: timedelta) -> int:
    """Remove the checkpoints that the rules do not keep; their number."""

    def find(tx: Tx) -> list[str]:
        return superfluous(store.kept_candidates(tx), tx.now, keep_unbound)

    ids = await db.read(find)
    return await db.write(store.drop, ids) if ids else 0


def named_blobs(tx: Tx) -> tuple[set[str], list[str]]:
    """(the blobs that tables name, those of them that are manifests)."""
    manifests = store.trees(tx)
    columns = *_OWN_COLUMNS, *registry.load().blob_columns
    return {*manifests, *(name for column in columns for name in _names_in(tx, column))}, manifests


def _names_in(tx: Tx, column: sa.Column[Any]) -> sa.ScalarResult[str]:
    return tx.execute(sa.select(column).where(column.is_not(None)).distinct()).scalars()


@translated()
def blobs_of_manifests(blobs: Blobs, manifests: list[str]) -> set[str]:
    """The blobs that manifests need besides themselves. Raises `NotFound`, `InternalError`. Blocks."""
    return needed_blobs(blobs, manifests)
