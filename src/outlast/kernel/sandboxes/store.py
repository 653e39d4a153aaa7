"""Rows of workspaces and sandboxes. First argument: the open transaction."""

from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound, OutlastError
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.db.tables import meta
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.checkpoints.workspaces import next_start
from outlast.kernel.sandboxes.hosted import running_workspaces
from outlast.kernel.sandboxes.rows import SandboxRow
from outlast.kernel.sandboxes.rules import ALIVE, AwakeSandbox, Life, PauseKind, State, advance, is_alive, is_awake
from outlast.kernel.sandboxes.services import store as services
from outlast.kernel.sandboxes.shapes import ContextLost, SandboxStateData
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.streams.log_store import append
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.subjects.hooks import call_guarded

GARBAGE: Final = "collect:"  # followed by a workspace's id: a key in `meta`; the value is the node that had it


class SandboxRecord(SandboxRow):
    """One sandbox as recorded; `ref` is empty until it has started."""

    __slots__ = ()

    @property
    def life(self) -> Life:
        return Life(State(self.state), PauseKind(self.pause_kind) if self.pause_kind else None)


def newest(tx: Tx, workspace_id: str) -> SandboxRecord | None:
    """The workspace's latest sandbox, in any state."""
    rows = sa.select(sandboxes).where(sandboxes.c.workspace_id == workspace_id)
    return tx.row(SandboxRecord, rows.order_by(sandboxes.c.created_at.desc(), sandboxes.c.id.desc()).limit(1))


def has_sandbox(tx: Tx, workspace_id: str) -> bool:
    """True if the workspace has a sandbox that may still have processes, or waits stopped."""
    latest = newest(tx, workspace_id)
    return latest is not None and latest.state in ALIVE


def alive_on(tx: Tx, provider: str, node_id: str | None) -> list[SandboxRecord]:
    """Every sandbox of this provider and node (None: of all nodes) that may still have processes, or waits stopped,
    oldest use first."""
    mine = sa.and_(sandboxes.c.provider == provider, sandboxes.c.state.in_(ALIVE))
    if node_id is not None:
        mine &= sandboxes.c.node_id == node_id
    return tx.rows(SandboxRecord, sa.select(sandboxes).where(mine).order_by(sandboxes.c.last_used_at))


def alive_of(tx: Tx, providers: Collection[str], node_ids: Collection[str]) -> list[SandboxRecord]:
    """Every sandbox of these providers and nodes that may still have processes, or waits stopped."""
    theirs = sandboxes.c.provider.in_(providers), sandboxes.c.node_id.in_(node_ids), sandboxes.c.state.in_(ALIVE)
    return tx.rows(SandboxRecord, sa.select(sandboxes).where(*theirs))


class _AwakeRun(NamedTuple):
    workspace_id: str | None
    leg: str


def awake_on(tx: Tx, provider: str, node_id: str | None) -> list[tuple[SandboxRecord, AwakeSandbox]]:
    """Every sandbox of this provider and node (None: of all nodes) that takes up memory, with the state of its
    runs."""
    rows = [row for row in alive_on(tx, provider, node_id) if is_awake(row.life)]
    places = [row.workspace_id for row in rows]
    active = sa.select(runs.c.workspace_id, runs.c.leg).where(
        runs.c.workspace_id.in_(places), runs.c.leg.in_(("ready", "held", "parked"))
    )
    legs = {row.workspace_id: row.leg for row in tx.rows(_AwakeRun, active)}
    # A program's sandbox is in use until its end: never stopped for room.
    legs |= dict.fromkeys(running_workspaces(tx), "held")
    return [
        (row, AwakeSandbox(row.id, row.life, row.last_used_at, leg in ("ready", "held"), leg == "parked"))
        for row in rows
        for leg in (legs.get(row.workspace_id),)
    ]


class _TemplateOf(NamedTuple):
    id: str
    template: str


def templates_of(tx: Tx, workspace_ids: Collection[str]) -> dict[str, str]:
    """The names of the app templates of workspaces that have one."""
    mine = workspaces.c.id.in_(workspace_ids) & workspaces.c.template.is_not(None)
    rows = tx.rows(_TemplateOf, sa.select(workspaces.c.id, workspaces.c.template).where(mine))
    return {row.id: row.template for row in rows}


def tell_stopped(tx: Tx, row: SandboxRecord) -> None:
    """Publish that a sandbox was stopped to make room, and the lost processes."""
    text = "The sandbox was stopped to make room for another. Files are kept; running processes and variables are gone."
    _tell_lost(tx, row, text)


def add(tx: Tx, workspace_id: str, project_id: str, provider: str, node_id: str | None) -> SandboxRecord:
    """A new sandbox in state `creating`; its subject is announced too. `node_id` is None if every node reaches it.
    Raises `NotFound` if the workspace is gone."""
    fence = next_start(tx, workspace_id)  # its deletion waits for this, or was first
    row = SandboxRecord(
        id=new_id("sandbox"),
        workspace_id=workspace_id,
        project_id=project_id,
        provider=provider,
        ref="",
        state=State.CREATING.value,
        pause_kind=None,
        node_id=node_id,
        snapshot=None,
        created_at=tx.now,
        last_used_at=tx.now,
        restarted_at=None,
        ended_at=None,
        fence=fence,
    )
    tx.insert(sandboxes, **row._asdict())
    tell(tx, row)
    call_guarded(tx, "subject", "was given a sandbox", partial(subjects.announce_of_workspace, tx, workspace_id), None)
    return row


def change(
    tx: Tx,
    sandbox_id: str,
    then: State,
    *,
    pause_kind: PauseKind | None = None,
    ref: str | None = None,
    why: OutlastError | None = None,
    host: str | None = None,
    starts: bool = False,
) -> SandboxRecord:
    """Move a sandbox along its life cycle and notify followers. Raises `Conflict` if the life cycle forbids it.

    For a `lost` sandbox followers also learn that its processes are gone. `host`: where it runs now; `starts`: it gets
    the number of a new start. Raises `NotFound` if it was given up in the meantime.
    """
    # Locked: of two servers that move it at once, the second starts from the result of the first.
    row = tx.row(SandboxRecord, sa.select(sandboxes).where(sandboxes.c.id == sandbox_id).with_for_update())
    if row is None:
        raise NotFound("The sandbox was deleted with its thread, screen or page.", id=sandbox_id)
    life = advance(row.life, then, pause_kind)
    values: dict[str, Any] = {"state": life.state.value, "pause_kind": life.pause_kind and life.pause_kind.value}
    if ref is not None:
        values["ref"] = ref
    if starts:
        values["fence"] = next_start(tx, row.workspace_id)
    if host is not None:
        tx.update(workspaces, {"id": row.workspace_id}, host=host)
    if then is State.READY:
        values["last_used_at"] = tx.now
        if row.life.state is State.RESUMING and ref is not None:  # a thaw has no ref: only a start does
            values["restarted_at"] = tx.now
    if not is_alive(then):
        values["ended_at"] = tx.now
    tx.update(sandboxes, {"id": sandbox_id}, **values)
    if life.pause_kind is PauseKind.STOPPED or not is_alive(then):
        services.stop_all(tx, row.workspace_id)  # with the state: no client sees a running service in a stopped sandbox
    changed = row._replace(**values)
    tell(tx, changed, why.code if why is not None else None)
    if then is State.LOST and row.life.state is not State.CREATING:  # nothing ran in one that never was ready
        text = "The sandbox was lost. Files are kept; running processes, variables and installed programs are gone."
        if why is not None:
            text = f"{why.message} {why.hint} Running processes, variables and installed programs are gone."
        _tell_lost(tx, row, text)
    return changed


def give_up(tx: Tx, project_id: str, thread_id: str | None = None, *, workspace_id: str | None = None) -> None:
    """Remove the workspaces of a project, of one thread of it, or one of them, with their sandboxes from the tables.
    Their data on this or another machine is noted for `orphans.collect`, so that a killed server forgets nothing."""
    mine = workspaces.c.project_id == project_id
    if thread_id is not None:
        mine &= (workspaces.c.owner_type == "thread") & (workspaces.c.owner_id == thread_id)
    if workspace_id is not None:
        mine &= workspaces.c.id == workspace_id
    used = sa.select(sandboxes).join(workspaces, workspaces.c.id == sandboxes.c.workspace_id).where(mine)
    places: dict[str, str] = {}
    for row in tx.rows(SandboxRecord, used.order_by(sandboxes.c.id)):
        places[row.workspace_id] = row.node_id or places.get(row.workspace_id, "")
        if (thread_id or workspace_id) and is_alive(row.life.state):  # a project's log is removed with the project
            tell(tx, row._replace(state=State.KILLED.value, pause_kind=None))
    for workspace_id, node_id in places.items():
        # In the same transaction: data on disk is never forgotten.
        tx.insert(meta, key=GARBAGE + workspace_id, value=node_id)
    tx.execute(sa.delete(workspaces).where(mine))  # sandboxes, checkpoints and services are removed with it


def garbage(tx: Tx, node_id: str) -> list[str]:
    """Given-up workspaces whose sandboxes and files this node still has to remove. Those whose sandboxes every node
    reaches are any node's."""
    noted = sa.select(meta.c.key).where(meta.c.key.startswith(GARBAGE), meta.c.value.in_((node_id, "")))
    return [key.removeprefix(GARBAGE) for key in tx.execute(noted).scalars()]


def collected(tx: Tx, workspace_id: str) -> None:
    """Nothing of it is left on the node."""
    tx.execute(sa.delete(meta).where(meta.c.key == GARBAGE + workspace_id))


def newest_of(tx: Tx, workspace_ids: Collection[str]) -> dict[str, SandboxRecord]:
    """The latest sandbox of each of these workspaces that has one, in any state."""
    rows = sa.select(sandboxes).where(sandboxes.c.workspace_id.in_(workspace_ids))
    found = tx.rows(SandboxRecord, rows.order_by(sandboxes.c.created_at, sandboxes.c.id))
    return {row.workspace_id: row for row in found}  # the last one of each stays


def refs_of(tx: Tx, sandbox_ids: Collection[str]) -> dict[str, str]:
    """The recorded refs of these sandboxes, of those that have started and live."""
    settled = sandboxes.c.state.in_((State.READY.value, State.PAUSED.value))
    rows = sa.select(sandboxes.c.id, sandboxes.c.ref).where(sandboxes.c.id.in_(sandbox_ids), settled)
    return {row.id: row.ref for row in tx.execute(rows)}


def unknown(tx: Tx, sandbox_ids: Collection[str]) -> set[str]:
    """The ids without a living sandbox."""
    living = sandboxes.c.id.in_(sandbox_ids), sandboxes.c.state.in_(ALIVE)
    known = tx.execute(sa.select(sandboxes.c.id).where(*living)).scalars()
    return set(sandbox_ids) - set(known)


def touch(tx: Tx, used: Iterable[tuple[str, str]]) -> None:
    """These sandboxes and their workspaces (ids) were just used: their idle clocks start again."""
    for sandbox_id, workspace_id in used:
        tx.update(sandboxes, {"id": sandbox_id}, last_used_at=tx.now)
        tx.update(workspaces, {"id": workspace_id}, last_used_at=tx.now)


def tell(tx: Tx, row: SandboxRecord, reason: str | None = None) -> None:
    """Publish its state, and the states of its services, in the project's log."""
    life = row.life
    data = SandboxStateData(
        sandbox_id=row.id,
        workspace_id=row.workspace_id,
        state=life.state.value,
        pause_kind=life.pause_kind.value if life.pause_kind else None,
        reason=reason,
        services=services.states_of(tx, row.workspace_id),
    )
    append(tx, row.project_id, [("sandbox.state", data)])


def _tell_lost(tx: Tx, row: SandboxRecord, text: str) -> None:
    lost = ContextLost(workspace_id=row.workspace_id, sandbox_id=row.id, text=text)
    append(tx, row.project_id, [("context.lost", lost)])
