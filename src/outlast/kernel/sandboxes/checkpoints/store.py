"""Rows of checkpoints. First argument: the open transaction."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import NotFound, SandboxLost
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.db.prepared import upsert_into
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.checkpoints.rules import Kept
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointCreated, CheckpointData
from outlast.kernel.sandboxes.checkpoints.workspaces import (
    IN_ONE,
    away,
    deleted,
    demand_idle,
    hold,
    mark_kept,
    place_of,
)
from outlast.kernel.sandboxes.rows import CheckpointRow, WorkspaceRow
from outlast.kernel.sandboxes.tables import checkpoints, packed_files, workspaces
from outlast.kernel.streams.log_store import append
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import messages, threads


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """The fields of a new checkpoint; `packed` has the places of newly stored small files: hash to (blob, offset);
    `fence` is the number of the start whose files these are, if they are in a sandbox that every node reaches."""

    workspace_id: str
    reason: str
    tree: str = ""
    files: int = 0
    size_bytes: int = 0
    run_id: str | None = None
    effect_id: str | None = None
    message_id: str | None = None
    packed: Mapping[str, tuple[str, int]] | None = None
    fence: int = 0


def place_now(tx: Tx, workspace_id: str) -> tuple[datetime, WorkspaceRow | None, CheckpointData | None]:
    """The time, by the database's clock; the workspace, and its newest checkpoint."""
    return tx.now, place_of(tx, workspace_id), newest_of(tx, workspace_id)


def checkpoint(tx: Tx, checkpoint_id: str) -> CheckpointData:
    """One checkpoint. Raises `NotFound`."""
    row = tx.find(CheckpointRow, checkpoints, {"id": checkpoint_id})
    if row is None:
        raise NotFound("This checkpoint is no longer kept.", id=checkpoint_id)
    return to_data(row)


def newest_of(tx: Tx, workspace_id: str) -> CheckpointData | None:
    """The workspace's files when they were last saved, or None if they never were."""
    found = sa.select(checkpoints).join(workspaces, workspaces.c.checkpoint_id == checkpoints.c.id)
    return _first(tx, found.where(workspaces.c.id == workspace_id))


def list_of(tx: Tx, workspace_id: str, before: str | None, limit: int) -> list[CheckpointData]:
    """The workspace's checkpoints, newest first, those older than the one named `before`."""
    rows = sa.select(checkpoints).where(checkpoints.c.workspace_id == workspace_id)
    if before is not None:
        rows = rows.where(checkpoints.c.id < before)
    return [to_data(row) for row in tx.rows(CheckpointRow, rows.order_by(checkpoints.c.id.desc()).limit(limit))]


def add(tx: Tx, new: NewCheckpoint, since: datetime | None) -> CheckpointData:
    """Record a checkpoint as the workspace's newest, and notify followers; changes after `since` are not in it, or
    unknown ones if None. The last one of a run that has ended belongs to its answer. Raises `NotFound` if the workspace
    is gone, `SandboxLost` if it has been started again elsewhere."""
    place = place_of(tx, new.workspace_id)
    if place is None:
        raise deleted(new.workspace_id)
    facts = asdict(new) | {"message_id": new.message_id or _answer_of(tx, new.run_id)}
    del facts["packed"], facts["fence"]
    ids = {"id": new_id("checkpoint"), "project_id": place.project_id, "parent_id": place.checkpoint_id}
    data = CheckpointData(**facts | ids, created_at=iso(tx.now))
    tell(tx, place, data)  # holds the log's owner first, as its deletion does
    hold(tx, place.id)  # its deletion and this wait for each other: the second sees the result of the first
    if new.fence:
        _demand_newest_start(tx, place.id, new.fence)
    tx.insert(checkpoints, **data.model_dump() | {"created_at": tx.now})
    _unbind(tx, data)
    pack(tx, new.packed or {})
    tx.update(workspaces, {"id": place.id}, checkpoint_id=data.id)
    if since is not None:
        mark_kept(tx, place.id, since)
    return data


def _demand_newest_start(tx: Tx, workspace_id: str, fence: int) -> None:
    """Raise `SandboxLost` for the files of an earlier start: they would replace those of the newest one."""
    if tx.value(workspaces.c.fence, {"id": workspace_id}) > fence:
        raise SandboxLost("The sandbox was replaced by another.", workspace_id=workspace_id)


def bind(tx: Tx, run_id: str, message_id: str) -> None:
    """The last checkpoint of this run belongs to its answer."""
    last = sa.select(checkpoints.c.id).where(checkpoints.c.run_id == run_id)
    newest = last.order_by(checkpoints.c.id.desc()).limit(1).scalar_subquery()
    tx.execute(sa.update(checkpoints).where(checkpoints.c.id == newest).values(message_id=message_id))


def before(tx: Tx, this: CheckpointData) -> CheckpointData | None:
    """The checkpoint to compare with: the one of the answer before its own; if it belongs to no answer, the one before
    it. None if there were no files."""
    older = sa.select(checkpoints).where(checkpoints.c.workspace_id == this.workspace_id, checkpoints.c.id < this.id)
    if this.message_id is not None:
        older = older.where(checkpoints.c.message_id.is_not(None))
    return _first(tx, older.order_by(checkpoints.c.id.desc()))


def at_message(tx: Tx, workspace_id: str, thread_id: str, position: int) -> CheckpointData | None:
    """The files as of a message: those of the last answer up to it, or None if none were kept by then."""
    found = (
        sa.select(checkpoints)
        .join(messages, messages.c.id == checkpoints.c.message_id)
        .where(checkpoints.c.workspace_id == workspace_id)
        .where(messages.c.thread_id == thread_id, messages.c.position <= position)
        .order_by(messages.c.position.desc(), checkpoints.c.id.desc())
    )
    return _first(tx, found)


def first_of(tx: Tx, workspace_id: str) -> CheckpointData | None:
    """The first files of the workspace, as far as they are still kept."""
    mine = sa.select(checkpoints).where(checkpoints.c.workspace_id == workspace_id)
    return _first(tx, mine.order_by(checkpoints.c.id))


def span_of(
    tx: Tx, workspace_id: str, thread_id: str, run_id: str
) -> tuple[CheckpointData | None, CheckpointData | None]:
    """(the files before a run, the files after it or now). A run without changes: twice None; files that began with the
    run: None and these. Answers that came with a copied conversation count as their runs'."""
    answers = sa.select(messages.c.id).where(messages.c.thread_id == thread_id, messages.c.run_id == run_id)
    here = sa.select(checkpoints).where(checkpoints.c.workspace_id == workspace_id)
    mine = here.where(sa.or_(checkpoints.c.run_id == run_id, checkpoints.c.message_id.in_(answers)))
    rows = tx.rows(CheckpointRow, mine.order_by(checkpoints.c.id))
    if not rows:
        return None, None
    earlier = here.where(checkpoints.c.id < rows[0].id)
    return _first(tx, earlier.order_by(checkpoints.c.id.desc())), to_data(rows[-1])


def last_run(tx: Tx, workspace_id: str) -> str | None:
    """The last run that changed something, or None."""
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


def begin_restore(tx: Tx, target: CheckpointData | NewCheckpoint) -> CheckpointData:
    """From now on the workspace's files are those of `target`, wherever they are stored; its folder follows. A
    `NewCheckpoint` is recorded first. Errors as `demand_idle`."""
    place = demand_idle(tx, target.workspace_id)
    reason = target.reason if isinstance(target, NewCheckpoint) else "restore"
    new = NewCheckpoint(place.id, reason, target.tree, target.files, target.size_bytes)
    restored = add(tx, new, tx.now)
    away(tx, place.id)  # after a kill here the next use restores the folder from it
    return restored


def located(tx: Tx, hashes: Collection[str]) -> dict[str, tuple[str, int]]:
    """The known places of contents with these hashes: (blob, offset). A blob may be gone by now."""
    wanted, found = sorted(hashes), {}
    for at in range(0, len(wanted), IN_ONE):
        some = packed_files.c.hash.in_(wanted[at : at + IN_ONE])
        for row in tx.execute(sa.select(packed_files).where(some)):
            found[row.hash] = (row.blob, row.offset)
    return found


def pack(tx: Tx, packed: Mapping[str, tuple[str, int]]) -> None:
    """Remember where small files were stored."""
    if not packed:
        return
    insert = upsert_into(packed_files, tx.conn.dialect.name)
    replace = insert.on_conflict_do_update(  # two callers may have packed the same content: either place is right
        index_elements=["hash"], set_={"blob": insert.excluded.blob, "offset": insert.excluded.offset}
    )
    # In one order: two writers of the same rows never deadlock.
    rows = [{"hash": sha256, "blob": blob, "offset": at} for sha256, (blob, at) in sorted(packed.items())]
    tx.execute(replace, rows)


def unpack(tx: Tx, blob: str) -> None:
    """Forget the contents of a blob that is being removed."""
    tx.execute(sa.delete(packed_files).where(packed_files.c.blob == blob))


def kept_candidates(tx: Tx) -> list[Kept]:
    """Every checkpoint without a message, as input of the rules."""
    newest = sa.select(workspaces.c.id).where(workspaces.c.checkpoint_id == checkpoints.c.id).exists()
    recorded = sa.select(runs.c.id).where(runs.c.id == checkpoints.c.run_id, ~runs.c.cleaned).exists()
    rows = sa.select(
        checkpoints.c.id.label("checkpoint_id"),
        newest.label("newest"),
        checkpoints.c.message_id,
        checkpoints.c.run_id,
        recorded.label("recorded"),
        checkpoints.c.created_at,
    )
    return tx.rows(Kept, rows.where(checkpoints.c.message_id.is_(None)))


def drop(tx: Tx, checkpoint_ids: Iterable[str]) -> int:
    """Remove these checkpoints; one that has become the newest or a message's in the meantime stays."""
    newest = sa.select(workspaces.c.id).where(workspaces.c.checkpoint_id == checkpoints.c.id).exists()
    ids, dropped = list(checkpoint_ids), 0
    for at in range(0, len(ids), IN_ONE):
        # Checked again here: since `kept_candidates` it may have become a message's.
        gone = sa.delete(checkpoints).where(
            checkpoints.c.id.in_(ids[at : at + IN_ONE]), checkpoints.c.message_id.is_(None), ~newest
        )
        dropped += tx.execute(gone).rowcount
    return dropped


def trees(tx: Tx) -> list[str]:
    """Every manifest that a checkpoint names."""
    return list(tx.execute(sa.select(checkpoints.c.tree).distinct()).scalars())


def to_data(row: CheckpointRow) -> CheckpointData:
    return CheckpointData(**row._asdict() | {"created_at": iso(row.created_at)})


def _first(tx: Tx, query: sa.Select[Any]) -> CheckpointData | None:
    row = tx.row(CheckpointRow, query.limit(1))
    return None if row is None else to_data(row)


def tell(tx: Tx, place: WorkspaceRow, data: CheckpointData) -> None:
    """Notify the followers of the thread that works there, or of the project if none does."""
    log = place.owner_id if place.owner_type == "thread" else place.project_id
    if place.owner_type in subjects.owners_of_files():
        works = sa.select(threads.c.id).where(threads.c.workspace_id == place.id)
        log = tx.execute(works.limit(1)).scalar() or place.project_id
    append(tx, log, [("checkpoint.created", CheckpointCreated(checkpoint=data))])


def _answer_of(tx: Tx, run_id: str | None) -> str | None:
    if run_id is None:
        return None
    ended = sa.select(runs.c.answer_id).where(runs.c.id == run_id, runs.c.leg == "ended")
    answer: str | None = tx.execute(ended).scalar()
    return answer


def _unbind(tx: Tx, data: CheckpointData) -> None:
    """A run's earlier checkpoint no longer belongs to its answer."""
    if data.run_id is None or data.message_id is None:
        return
    earlier = checkpoints.c.message_id == data.message_id, checkpoints.c.id != data.id
    tx.execute(sa.update(checkpoints).where(*earlier).values(message_id=None))


class _CopiedCheckpoint(NamedTuple):
    checkpoint: CheckpointRow
    copied_id: str


def copy_history(tx: Tx, parent: ThreadRow, fork_id: str, workspace_id: str, upto: int) -> None:
    """Give a forked thread's workspace the checkpoints of the copied messages before position `upto`, so that a fork of
    the fork, and its history, have them too."""
    old, new = messages.alias(), messages.alias()
    rows = tx.rows(
        _CopiedCheckpoint,
        sa.select(checkpoints, new.c.id.label("copied_id"))
        .join(old, old.c.id == checkpoints.c.message_id)
        .join(new, (new.c.thread_id == fork_id) & (new.c.position == old.c.position))
        .where(checkpoints.c.workspace_id == parent.workspace_id, old.c.thread_id == parent.id, old.c.position < upto)
        .order_by(checkpoints.c.id),
    )
    copies = [
        row.checkpoint._replace(
            id=new_id("checkpoint"),
            workspace_id=workspace_id,
            message_id=row.copied_id,
            run_id=None,
            effect_id=None,
            parent_id=None,
        )
        for row in rows
    ]
    tx.insert_many(checkpoints, [copy._asdict() for copy in copies])
