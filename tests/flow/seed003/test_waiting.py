"""Seed 003, tool approvals: the wait has no end, the sandbox is paused, then killed, and a decision brings it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.errors import PolicyDenied
from outlast.db.database import Database, Tx
from outlast.kernel.runs.actions import cancel_run, read_run, resume_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.sweeper import SandboxSteps, Sweeper
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.settings import Settings
from outlast.kernel.threads.store import thread_data
from outlast.kernel.threads.tables import threads
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, turn
from tests.flow.harness import Stage, stage

ASKING = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
TURNS = [turn("Let me look. ", Call("look", {"where": "here"})), turn("Fine.")]


@dataclass
class Machines:
    """Stands in for the sandboxes room: what was asked of it, in order."""

    asked: list[str] = field(default_factory=list)

    def steps(self) -> SandboxSteps:
        async def freeze(_workspace_id: str) -> None:
            self.asked.append("freeze")

        async def thaw(_workspace_id: str) -> None:
            self.asked.append("thaw")

        async def kill(_workspace_id: str) -> None:
            self.asked.append("kill")

        async def stop_commands(_workspace_id: str, _effects: Sequence[str]) -> None:
            self.asked.append("stop")

        return SandboxSteps(freeze, thaw, kill, stop_commands)


async def parked(it: Stage) -> tuple[str, str]:
    """A run that waits for an approval, with a workspace: (run id, approval id)."""
    started = await it.start("Look around")
    approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
    await it.until_status(started.run_id, "awaiting_approval")

    def change(tx: Tx) -> None:
        row = {"id": f"wsp_{started.run_id[4:]}", "project_id": it.project_id, "owner_type": "thread"}
        times = {"created_at": tx.now, "last_used_at": tx.now}
        tx.execute(sa.insert(workspaces).values(**row, owner_id=it.thread_id, **times))
        machine = {"id": f"sbx_{started.run_id[4:]}", "workspace_id": row["id"], "project_id": it.project_id}
        tx.execute(sa.insert(sandboxes).values(**machine, **times, provider="local", state="ready"))
        tx.execute(sa.update(runs).where(runs.c.id == started.run_id).values(workspace_id=row["id"]))
        tx.execute(sa.update(threads).where(threads.c.id == it.thread_id).values(workspace_id=row["id"]))

    await it.services.db.write(change)
    return started.run_id, approval["id"]


async def pass_time(it: Stage, machines: Machines, run_id: str, clock: str) -> None:
    """The named clock of the run has run out, and the sweeper looks."""

    def change(tx: Tx) -> None:
        mine = timers.c.subject_id == run_id, timers.c.kind == clock
        assert tx.execute(sa.update(timers).where(*mine).values(due_at=tx.now)).rowcount == 1

    await it.services.db.write(change)
    await Sweeper(it.services.engine, machines.steps()).sweep()


async def status_of(it: Stage, run_id: str) -> str:
    return (await it.services.db.read(run_of, run_id)).status


async def test_a_waiting_run_is_a_row_with_its_question_and_no_worker(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=ASKING) as it:
        run_id, approval_id = await parked(it)
        row = await db.read(lambda tx: tx.row(RunRow, sa.select(runs).where(runs.c.id == run_id)))
        assert row is not None
        assert (row.leg, row.owner, row.lease_until) == ("parked", None, None)
        run = await read_run(it.services, it.owner, run_id)
        assert (run.status, run.waiting_for) == ("awaiting_approval", "approval")
        assert [item.id for item in run.pending] == [approval_id]
        assert [part.type for part in run.parts] == ["text", "tool_call"]
        shown = await it.services.db.read(thread_data, it.thread_id)
        assert shown.run_status == "awaiting_approval"


async def test_after_five_minutes_the_sandbox_is_frozen_and_the_run_is_paused(db: Database, tmp_path: Path) -> None:
    machines = Machines()
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=ASKING) as it:
        run_id, approval_id = await parked(it)
        details = await read_run(it.services, it.owner, run_id)
        assert details.clocks[0].name == "approval_pause"
        await pass_time(it, machines, run_id, "approval_pause")
        assert machines.asked == ["freeze"]
        assert await status_of(it, run_id) == "paused"
        details = await read_run(it.services, it.owner, run_id)
        assert [item.id for item in details.pending] == [approval_id]
        assert details.clocks[0].name == "paused_kill"


async def test_the_clocks_of_a_run_without_a_sandbox_say_nothing_of_one(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=ASKING) as it:
        started = await it.start("Look around")
        await it.until_status(started.run_id, "awaiting_approval")
        assert (await read_run(it.services, it.owner, started.run_id)).clocks == []


async def test_a_paused_run_goes_on_with_the_decision(db: Database, tmp_path: Path) -> None:
    machines, tool = Machines(), FakeTool("look")
    async with stage(db, tmp_path, list(TURNS), tool, settings=ASKING) as it:
        run_id, approval_id = await parked(it)
        await pass_time(it, machines, run_id, "approval_pause")
        await decide_approval(it.services, it.owner, approval_id, "approve")
        assert await it.ended(run_id) == "completed"
        assert len(tool.calls) == 1


async def test_after_24_hours_the_sandbox_is_killed_and_the_run_waits_on(db: Database, tmp_path: Path) -> None:
    machines, tool = Machines(), FakeTool("look")
    async with stage(db, tmp_path, list(TURNS), tool, settings=ASKING) as it:
        run_id, approval_id = await parked(it)
        await pass_time(it, machines, run_id, "approval_pause")
        await pass_time(it, machines, run_id, "paused_kill")
        assert machines.asked == ["freeze", "kill"]
        assert await status_of(it, run_id) == "paused"
        await decide_approval(it.services, it.owner, approval_id, "approve")
        assert await it.ended(run_id) == "completed"


async def test_resuming_wakes_a_paused_run_without_deciding_and_starts_its_clock_anew(
    db: Database, tmp_path: Path
) -> None:
    machines = Machines()
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=ASKING) as it:
        run_id, _ = await parked(it)
        await pass_time(it, machines, run_id, "approval_pause")
        assert (await resume_run(it.services, it.owner, run_id)).status == "awaiting_approval"
        assert (await resume_run(it.services, it.owner, run_id)).status == "awaiting_approval"
        await pass_time(it, machines, run_id, "approval_pause")
        assert await status_of(it, run_id) == "paused"


async def test_a_clock_that_fires_after_the_decision_does_nothing(db: Database, tmp_path: Path) -> None:
    machines = Machines()
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=ASKING) as it:
        run_id, approval_id = await parked(it)
        await decide_approval(it.services, it.owner, approval_id, "approve")
        await it.ended(run_id)

        def late(tx: Tx) -> None:
            for kind in ("approval_pause", "paused_kill", "abandon"):
                due = tx.now - timedelta(hours=1)
                tx.execute(sa.insert(timers).values(kind=kind, subject_id=run_id, due_at=due))

        await it.services.db.write(late)
        await Sweeper(it.services.engine, machines.steps()).sweep()
        assert machines.asked == []
        assert await status_of(it, run_id) == "completed"


async def test_arguments_edited_into_what_a_rule_of_the_profile_denies_are_refused_and_the_run_waits_on(
    db: Database, tmp_path: Path
) -> None:
    """A rule that names a profile did not see edited arguments: they could be edited past a denial."""
    denied = PolicyRule(tool="look", profile="chat", arguments="*secret*", decision="deny")
    settings = Settings(policy=(denied, *ASKING.policy))
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=settings) as it:
        run_id, approval_id = await parked(it)
        with pytest.raises(PolicyDenied):
            await decide_approval(
                it.services, it.owner, approval_id, "approve", arguments={"where": "the secret place"}
            )
        assert await status_of(it, run_id) == "awaiting_approval"


async def test_a_paused_run_can_be_cancelled(db: Database, tmp_path: Path) -> None:
    machines = Machines()
    async with stage(db, tmp_path, list(TURNS), FakeTool("look"), settings=ASKING) as it:
        run_id, _ = await parked(it)
        await pass_time(it, machines, run_id, "approval_pause")
        assert (await cancel_run(it.services, it.owner, run_id)).status == "cancelled"
        answer = (await it.messages())[-1]
        assert (answer.status, answer.parts[0].text) == ("cancelled", "Let me look. ")
