"""Rows of checkpoints, and what workspaces say of their files. First argument: the open transaction."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from outlast.base.clock import iso
from outlast.base.errors import NotFound, ThreadBusy
from outlast.base.events import CheckpointCreated, CheckpointData
from outlast.base.ids import new_id
from outlast.core.sandboxes.checkpoints.rules import Kept, Use, eviction_due
from outlast.core.sandboxes.rules import PauseKind, State, is_alive
from outlast.core.streams.log import append
from outlast.db.database import Tx
from outlast.db.tables import checkpoints, messages, packed_files, runs, sandboxes, threads, workspaces

IN_ONE: Final = 400  # values in one query
_AWAKE: Final = [state.value for state in State if is_alive(state)]


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace and where its files are, as recorded."""

    id: str
    project_id: str
    owner_type: str
    owner_id: str
    checkpoint_id: str | None
    changed_at: datetime | None
    evicted_at: datetime | None
    node_id: str | None
    last_used_at: datetime


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """What a checkpoint is recorded with; `packed` says where small files were newly stored: hash to (blob, offset)."""

    workspace_id: str
    reason: str
    tree: str
    files: int
    size_bytes: int
    run_id: str | None = None
    effect_id: str | None = None
    message_id: str | None = None
    packed: Mapping[str, tuple[str, int]] | None = None


def place_of(tx: Tx, workspace_id: str) -> Place | None:
    """The workspace; None: it is gone."""
    columns = [workspaces.c[name] for name in Place.__dataclass_fields__]
    row = tx.one(sa.select(*columns).where(workspaces.c.id == workspace_id))
    return None if row is None else Place(**row)


def place_now(tx: Tx, workspace_id: str) -> tuple[datetime, Place | None, CheckpointData | None]:
    """The moment, by the clock that rows go by; the workspace, and its newest checkpoint."""
    return tx.now, place_of(tx, workspace_id), newest_of(tx, workspace_id)


def checkpoint(tx: Tx, checkpoint_id: str) -> CheckpointData:
    """One checkpoint. Raises `NotFound`."""
    row = tx.one(sa.select(checkpoints).where(checkpoints.c.id == checkpoint_id))
    if row is None:
        raise NotFound(f"There is no checkpoint {checkpoint_id} any more.", id=checkpoint_id)
    return to_data(row)


def newest_of(tx: Tx, workspace_id: str) -> CheckpointData | None:
    """What the workspace's files were when they were last saved; None: they never were."""
    found = sa.select(checkpoints).join(workspaces, workspaces.c.checkpoint_id == checkpoints.c.id)
    row = tx.one(found.where(workspaces.c.id == workspace_id))
    return None if row is None else to_data(row)


def list_of(tx: Tx, workspace_id: str, before: str | None, limit: int) -> list[CheckpointData]:
    """The workspace's checkpoints, newest first, those older than the one named `before`."""
    rows = sa.select(checkpoints).where(checkpoints.c.workspace_id == workspace_id)
    if before is not None:
        rows = rows.where(checkpoints.c.id < before)
    return [to_data(row) for row in tx.all(rows.order_by(checkpoints.c.id.desc()).limit(limit))]


def add(tx: Tx, new: NewCheckpoint, since: datetime | None) -> CheckpointData:
    """Record a checkpoint as the workspace's newest, and tell followers; what changed after `since` is not in it
    (None: not all is). The last one of a run that has ended belongs to its answer. Raises `NotFound` when the workspace
    is gone."""
    place = place_of(tx, new.workspace_id)
    if place is None:
        raise _deleted(new.workspace_id)
    data = _row(tx, place, new, new.message_id or _answer_of(tx, new.run_id))
    tell(tx, place, data)  # holds the log's owner first, as those do who delete it
    held = sa.select(workspaces.c.id).where(workspaces.c.id == place.id).with_for_update(key_share=True)
    if tx.one(held) is None:
        raise _deleted(place.id)
    tx.execute(sa.insert(checkpoints).values(**{**data.model_dump(), "created_at": tx.now}))
    _unbind(tx, data)
    pack(tx, new.packed or {})
    tx.execute(sa.update(workspaces).where(workspaces.c.id == place.id).values(checkpoint_id=data.id))
    if since is not None:
        mark_kept(tx, place.id, since)
    return data


def mark_kept(tx: Tx, workspace_id: str, since: datetime) -> None:
    """What changed before that moment is in the newest checkpoint."""
    mine = workspaces.c.id == workspace_id, workspaces.c.changed_at <= since
    tx.execute(sa.update(workspaces).where(*mine).values(changed_at=None))


def mark_changed(tx: Tx, workspace_id: str) -> None:
    """Its files may differ from the newest checkpoint from now on."""
    tx.execute(sa.update(workspaces).where(workspaces.c.id == workspace_id).values(changed_at=tx.now))


def bind(tx: Tx, run_id: str, message_id: str) -> None:
    """The last checkpoint of this run belongs to its answer."""
    last = sa.select(checkpoints.c.id).where(checkpoints.c.run_id == run_id)
    newest = last.order_by(checkpoints.c.id.desc()).limit(1).scalar_subquery()
    tx.execute(sa.update(checkpoints).where(checkpoints.c.id == newest).values(message_id=message_id))


def before(tx: Tx, this: CheckpointData) -> CheckpointData | None:
    """What to compare a checkpoint with: the one of the answer before its own; where it belongs to no answer, the one
    before it. None: there were no files."""
    older = sa.select(checkpoints).where(
        checkpoints.c.workspace_id == this.workspace_id, checkpoints.c.id < this.id
    )
    if this.message_id is not None:
        older = older.where(checkpoints.c.message_id.is_not(None))
    row = tx.one(older.order_by(checkpoints.c.id.desc()).limit(1))
    return None if row is None else to_data(row)


def at_message(tx: Tx, workspace_id: str, thread_id: str, position: int) -> CheckpointData | None:
    """The files as they were at a message: what the last answer up to it left. None: none was kept by then."""
    found = (
        sa.select(checkpoints)
        .join(messages, messages.c.id == checkpoints.c.message_id)
        .where(
            checkpoints.c.workspace_id == workspace_id,
            messages.c.thread_id == thread_id,
            messages.c.position <= position,
        )
        .order_by(messages.c.position.desc(), checkpoints.c.id.desc())
    )
    row = tx.one(found.limit(1))
    return None if row is None else to_data(row)


def fork_files(tx: Tx, parent: sa.RowMapping, fork_id: str, message_id: str) -> None:
    """Give a forked thread the files as they were at the message, with the history up to it. Nothing is copied on disk:
    the new workspace lies in its checkpoint alone until its first use."""
    if parent["workspace_id"] is None:
        return
    position = tx.execute(sa.select(messages.c.position).where(messages.c.id == message_id)).scalar_one()
    source = at_message(tx, parent["workspace_id"], parent["id"], position)
    if source is None:
        return
    workspace_id = new_id("workspace")
    owner = {"owner_type": "thread", "owner_id": fork_id, "project_id": parent["project_id"]}
    row = {"id": workspace_id, **owner, "created_at": tx.now, "last_used_at": tx.now, "evicted_at": tx.now}
    tx.execute(sa.insert(workspaces).values(**row))
    tx.execute(sa.update(threads).where(threads.c.id == fork_id).values(workspace_id=workspace_id))
    _copy_history(tx, parent, fork_id, workspace_id, position)
    copied = sa.select(messages.c.id).where(messages.c.thread_id == fork_id, messages.c.position == position)
    new = NewCheckpoint(
        workspace_id,
        "fork",
        source.tree,
        source.files,
        source.size_bytes,
        message_id=tx.execute(copied).scalar_one(),
    )
    add(tx, new, tx.now)


def demand_idle(tx: Tx, workspace_id: str) -> Place:
    """The workspace. Raises `ThreadBusy` while a run works there, is queued or waits for a person; `NotFound`."""
    place = place_of(tx, workspace_id)
    if place is None:
        raise _deleted(workspace_id)
    busy = _active_run(tx, place)
    if busy is not None:
        raise ThreadBusy(
            f"Run {busy} works with these files and has not ended.",
            hint="Wait for it or cancel it first.",
            active_run_id=busy,
        )
    return place


def begin_restore(tx: Tx, target: CheckpointData) -> CheckpointData:
    """From now on the workspace's files are those of `target`, wherever they lie; its folder follows. Errors as
    `demand_idle`."""
    place = demand_idle(tx, target.workspace_id)
    new = NewCheckpoint(place.id, "restore", target.tree, target.files, target.size_bytes)
    restored = add(tx, new, tx.now)
    away(tx, place.id)
    return restored


def away(tx: Tx, workspace_id: str) -> None:
    """Its folder is not to be believed until its checkpoint has been put there."""
    tx.execute(sa.update(workspaces).where(workspaces.c.id == workspace_id).values(evicted_at=tx.now))


def back(tx: Tx, workspace_id: str, node_id: str) -> None:
    """Its files lie on this node, and somebody is about to use them."""
    here = {"evicted_at": None, "node_id": node_id, "last_used_at": tx.now}
    tx.execute(sa.update(workspaces).where(workspaces.c.id == workspace_id).values(**here))


def evict(tx: Tx, workspace_id: str, ttl: timedelta) -> bool:
    """Give up the folder, if the rules allow it at this moment: whether they did."""
    place = place_of(tx, workspace_id)
    if place is None or place.evicted_at is not None:
        return False
    use = Use(
        active=_active_run(tx, place) is not None,
        proposal=False,  # there are none yet
        awake=_is_awake(tx, workspace_id),
        kept=place.checkpoint_id is not None and place.changed_at is None,
        last_used_at=place.last_used_at,
    )
    if not eviction_due(use, tx.now, ttl):
        return False
    away(tx, workspace_id)
    return True


def idle(tx: Tx, node_id: str, ttl: timedelta) -> list[str]:
    """Workspaces of this node that nobody has used for so long, the longest first."""
    rows = sa.select(workspaces.c.id).where(
        workspaces.c.evicted_at.is_(None),
        workspaces.c.node_id == node_id,
        workspaces.c.last_used_at <= tx.now - ttl,
    )
    return list(tx.execute(rows.order_by(workspaces.c.last_used_at).limit(IN_ONE)).scalars())


def unsaved(tx: Tx, node_id: str, since: timedelta) -> list[tuple[str, str | None]]:
    """Workspaces of this node whose changes nobody has saved for so long, and where no run is at work. With each the
    last run it had."""
    working = sa.select(runs.c.id).where(
        runs.c.workspace_id == workspaces.c.id, runs.c.leg.in_(("ready", "held"))
    )
    last = sa.select(runs.c.id).where(runs.c.workspace_id == workspaces.c.id)
    newest = last.order_by(runs.c.created_at.desc()).limit(1).scalar_subquery()
    rows = sa.select(workspaces.c.id, newest.label("run_id")).where(
        workspaces.c.changed_at <= tx.now - since,
        workspaces.c.evicted_at.is_(None),
        sa.or_(workspaces.c.node_id == node_id, workspaces.c.node_id.is_(None)),
        ~working.exists(),
    )
    return [(row["id"], row["run_id"]) for row in tx.all(rows.limit(IN_ONE))]


def unknown(tx: Tx, workspace_ids: Collection[str]) -> set[str]:
    """Those of the ids that no workspace has."""
    known: set[str] = set()
    wanted = sorted(workspace_ids)
    for at in range(0, len(wanted), IN_ONE):
        some = workspaces.c.id.in_(wanted[at : at + IN_ONE])
        known |= set(tx.execute(sa.select(workspaces.c.id).where(some)).scalars())
    return set(wanted) - known


def located(tx: Tx, hashes: Collection[str]) -> dict[str, tuple[str, int]]:
    """Where contents of these hashes lie, as far as they are known: (blob, offset). A blob may be gone by now."""
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
    dialect = sqlite if tx.conn.dialect.name == "sqlite" else postgresql
    insert = dialect.insert(packed_files)
    replace = insert.on_conflict_do_update(
        index_elements=["hash"], set_={"blob": insert.excluded.blob, "offset": insert.excluded.offset}
    )
    rows = [{"hash": sha256, "blob": blob, "offset": at} for sha256, (blob, at) in sorted(packed.items())]
    tx.execute(replace, rows)


def unpack(tx: Tx, blob: str) -> None:
    """Forget what lay in a blob that is being removed."""
    tx.execute(sa.delete(packed_files).where(packed_files.c.blob == blob))


def kept_candidates(tx: Tx) -> list[Kept]:
    """Every checkpoint that no message has, for the rules to decide over."""
    newest = sa.select(workspaces.c.id).where(workspaces.c.checkpoint_id == checkpoints.c.id).exists()
    recorded = sa.select(runs.c.id).where(runs.c.id == checkpoints.c.run_id, ~runs.c.cleaned).exists()
    columns = [checkpoints.c[name] for name in ("id", "message_id", "run_id", "created_at")]
    rows = sa.select(*columns, newest.label("newest"), recorded.label("recorded"))
    return [
        Kept(
            row["id"],
            bool(row["newest"]),
            row["message_id"],
            row["run_id"],
            bool(row["recorded"]),
            row["created_at"],
        )
        for row in tx.all(rows.where(checkpoints.c.message_id.is_(None)))
    ]


def drop(tx: Tx, checkpoint_ids: Iterable[str]) -> int:
    """Remove checkpoints that have had their time; one that has become the newest or a message's meanwhile stays."""
    newest = sa.select(workspaces.c.id).where(workspaces.c.checkpoint_id == checkpoints.c.id).exists()
    ids, dropped = list(checkpoint_ids), 0
    for at in range(0, len(ids), IN_ONE):
        gone = sa.delete(checkpoints).where(
            checkpoints.c.id.in_(ids[at : at + IN_ONE]), checkpoints.c.message_id.is_(None), ~newest
        )
        dropped += tx.execute(gone).rowcount
    return dropped


def trees(tx: Tx) -> list[str]:
    """Every manifest that a checkpoint names."""
    return list(tx.execute(sa.select(checkpoints.c.tree).distinct()).scalars())


def to_data(row: Mapping[str, Any] | sa.RowMapping) -> CheckpointData:
    fields = {name: row[name] for name in CheckpointData.model_fields if name != "created_at"}
    return CheckpointData(**fields, created_at=iso(row["created_at"]))


def tell(tx: Tx, place: Place, data: CheckpointData) -> None:
    """Followers of the thread learn of it; where no thread owns the workspace, those of the project."""
    log = place.owner_id if place.owner_type == "thread" else place.project_id
    append(tx, log, [("checkpoint.created", CheckpointCreated(checkpoint=data))])


def _row(tx: Tx, place: Place, new: NewCheckpoint, message_id: str | None) -> CheckpointData:
    facts = asdict(new)
    facts.pop("packed")
    facts["message_id"] = message_id
    return CheckpointData(
        **facts,
        id=new_id("checkpoint"),
        project_id=place.project_id,
        parent_id=place.checkpoint_id,
        created_at=iso(tx.now),
    )


def _answer_of(tx: Tx, run_id: str | None) -> str | None:
    if run_id is None:
        return None
    ended = sa.select(runs.c.answer_id).where(runs.c.id == run_id, runs.c.leg == "ended")
    answer: str | None = tx.execute(ended).scalar()
    return answer


def _unbind(tx: Tx, data: CheckpointData) -> None:
    """A run's earlier checkpoint does not belong to its answer any more."""
    if data.run_id is None or data.message_id is None:
        return
    earlier = checkpoints.c.message_id == data.message_id, checkpoints.c.id != data.id
    tx.execute(sa.update(checkpoints).where(*earlier).values(message_id=None))


def _copy_history(tx: Tx, parent: sa.RowMapping, fork_id: str, workspace_id: str, upto: int) -> None:
    """The checkpoints of the copied messages, so that a fork of the fork, and its history, have them too."""
    old, new = messages.alias(), messages.alias()
    rows = tx.all(
        sa.select(checkpoints, new.c.id.label("copied_id"))
        .join(old, old.c.id == checkpoints.c.message_id)
        .join(new, (new.c.thread_id == fork_id) & (new.c.position == old.c.position))
        .where(
            checkpoints.c.workspace_id == parent["workspace_id"],
            old.c.thread_id == parent["id"],
            old.c.position < upto,
        )
        .order_by(checkpoints.c.id)
    )
    copies = [
        {
            **{name: row[name] for name in checkpoints.c.keys()},  # noqa: SIM118 — a table's columns
            "id": new_id("checkpoint"),
            "workspace_id": workspace_id,
            "message_id": row["copied_id"],
            "run_id": None,
            "effect_id": None,
            "parent_id": None,
        }
        for row in rows
    ]
    if copies:
        tx.execute(sa.insert(checkpoints), copies)


def _active_run(tx: Tx, place: Place) -> str | None:
    """The run that is at work there, queued, or waiting for a person."""
    here = runs.c.workspace_id == place.id
    if place.owner_type == "thread":
        here |= runs.c.thread_id == place.owner_id
    found: str | None = tx.execute(sa.select(runs.c.id).where(here, runs.c.leg != "ended").limit(1)).scalar()
    return found


def _is_awake(tx: Tx, workspace_id: str) -> bool:
    stopped = (sandboxes.c.pause_kind == PauseKind.STOPPED.value) & (sandboxes.c.state == State.PAUSED.value)
    awake = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace_id,
        sandboxes.c.state.in_(_AWAKE),
        sa.or_(sandboxes.c.pause_kind.is_(None), ~stopped),
    )
    return tx.execute(awake.limit(1)).scalar() is not None


def _deleted(workspace_id: str) -> NotFound:
    return NotFound(f"There is no workspace {workspace_id} any more: its owner was deleted.", id=workspace_id)
