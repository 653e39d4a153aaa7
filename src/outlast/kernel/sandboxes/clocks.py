"""Timers that will pause or end an idle sandbox, with their consequences: shown with the sandbox and with its run."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.runs.shapes import ClockAnswer
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.rules import IdleStep, Life, idle_steps
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.store import SandboxRecord, newest
from outlast.kernel.sandboxes.tables import hosted_sandboxes, workspaces

FREEZE: Final = "sandbox_pause"
STOP: Final = "sandbox_stop"
KILL: Final = "sandbox_kill"
EVICT: Final = "workspace_evict"
PAUSED_FOR_PROGRAM: Final = "program_pause"
ENDED_FOR_PROGRAM: Final = "program_kill"
TAKES_AWAY: Final[Mapping[str, str]] = {
    FREEZE: "The sandbox is frozen; its next use wakes it with all its processes.",
    STOP: "The sandbox's processes end; files and declared services stay, and its next use starts it again.",
    KILL: "The sandbox is removed; its files stay, and their next use starts a new one.",
    PAUSED_FOR_PROGRAM: "The sandbox is paused, unless the program that requested it extends its time.",
    ENDED_FOR_PROGRAM: "The sandbox is ended, unless the program that requested it extends its time.",
    EVICT: "The files are removed from this disk; the next use restores them from their checkpoint.",
}
_PROGRAMS: Final = sa.select(hosted_sandboxes.c.ends_at, hosted_sandboxes.c.on_timeout).where(
    hosted_sandboxes.c.workspace_id == sa.bindparam("workspace"), hosted_sandboxes.c.paused_at.is_(None)
)
_CLOCKS: Final = {IdleStep.FREEZE: FREEZE, IdleStep.STOP: STOP, IdleStep.KILL: KILL}
OF_RUNS: Final[Mapping[str, str]] = {"approval_pause": FREEZE, "paused_kill": KILL}
"""Timers of a run that waits for a person, and the clock of its sandbox that each brings forward."""


def idle_clocks(life: Life, last_used_at: datetime, settings: SandboxSettings) -> dict[str, datetime]:
    """The time at which each step of `idle_steps` is due if the sandbox stays unused, by the name of its clock.
    Pure."""
    due = idle_steps(life, settings)
    return {_CLOCKS[step]: last_used_at + timedelta(seconds=after_s) for step, after_s in due.items()}


class _Program(NamedTuple):
    ends_at: datetime
    on_timeout: str


def clocks_of(tx: Tx, settings: SandboxSettings, row: SandboxRecord) -> list[ClockAnswer]:
    """The clocks of one sandbox and of its files, the soonest first; none while a run works there. A program's sandbox
    has only its own end, until it is paused."""
    open_runs = _open_runs(tx, row.workspace_id)
    if any(leg != "parked" for leg in open_runs.values()):
        return []
    program = tx.row(_Program, _PROGRAMS, {"workspace": row.workspace_id})
    if program is not None:
        name = PAUSED_FOR_PROGRAM if program.on_timeout == "pause" else ENDED_FOR_PROGRAM
        return [ClockAnswer(name=name, due_at=iso(program.ends_at), takes_away=TAKES_AWAY[name])]
    due = idle_clocks(row.life, row.last_used_at, settings)
    for kind, moment in _timers_of(tx, list(open_runs)):
        name = OF_RUNS[kind]
        if name in due:
            due[name] = min(due[name], moment)  # its run may bring it forward
    if not open_runs:
        due |= _eviction(tx, settings, row.workspace_id)  # files of a run that waits are never evicted
    return [
        ClockAnswer(name=name, due_at=iso(moment), takes_away=TAKES_AWAY[name])
        for name, moment in sorted(due.items(), key=lambda item: item[1])
    ]


def clocks_beside_run(tx: Tx, settings: SandboxSettings, workspace_id: str) -> list[ClockAnswer]:
    """The clocks of the workspace's sandbox that no clock of its run already shows."""
    row = newest(tx, workspace_id)
    if row is None:
        return []
    spoken_of = {OF_RUNS[kind] for kind, _ in _timers_of(tx, list(_open_runs(tx, workspace_id)))}
    return [clock for clock in clocks_of(tx, settings, row) if clock.name not in spoken_of]


class _OpenRun(NamedTuple):
    id: str
    leg: str


def _open_runs(tx: Tx, workspace_id: str) -> dict[str, str]:
    """Run id → leg, of runs that have begun and not ended."""
    mine = runs.c.workspace_id == workspace_id, runs.c.leg.in_(("ready", "held", "parked"))
    return {row.id: row.leg for row in tx.rows(_OpenRun, sa.select(runs.c.id, runs.c.leg).where(*mine))}


class _SetTimer(NamedTuple):
    kind: str
    due_at: datetime


def _timers_of(tx: Tx, run_ids: list[str]) -> list[_SetTimer]:
    if not run_ids:
        return []
    theirs = timers.c.subject_id.in_(run_ids), timers.c.kind.in_(OF_RUNS)
    return tx.rows(_SetTimer, sa.select(timers.c.kind, timers.c.due_at).where(*theirs))


def _eviction(tx: Tx, settings: SandboxSettings, workspace_id: str) -> dict[str, datetime]:
    """Files are removed only when a checkpoint has all of them."""
    place = tx.row(WorkspaceRow, sa.select(workspaces).where(workspaces.c.id == workspace_id))
    if place is None or place.checkpoint_id is None or place.changed_at or place.evicted_at:
        return {}
    return {EVICT: place.last_used_at + timedelta(minutes=settings.volume_ttl_minutes)}
