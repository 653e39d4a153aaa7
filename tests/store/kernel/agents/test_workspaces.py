"""A run finds its workspace, also when its calls ask side by side, and knows what cannot have begun elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.workspaces import OpenWorkspace, Workspaces, workspace_of_run
from outlast.kernel.runs import store
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes import store as sandboxes
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.tables import workspaces
from outlast.testing.agents import FakeJournal
from outlast_sandbox.interface import Limits, SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider
from tests.factories import make_project, make_run, make_thread, make_user


def _make_run(tx: Tx) -> Run:
    owner = make_user(tx)
    project_id = make_project(tx, owner)
    return store.run_of(tx, make_run(tx, make_thread(tx, project_id, owner), owner))


async def test_calls_that_begin_side_by_side_get_the_same_workspace(db: Database) -> None:
    run = await db.write(_make_run)
    found: list[str] = []

    async def ask() -> None:
        found.append(await db.write(workspace_of_run, run))

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(ask)
    assert len(set(found)) == 1
    assert await db.read(lambda tx: tx.execute(sa.select(sa.func.count(workspaces.c.id))).scalar()) == 1


@pytest.mark.parametrize(
    ("ref", "begins"),
    [
        pytest.param(None, True, id="a sandbox that was never ready cannot have begun it"),
        pytest.param("4711:1", False, id="one that was ready may have"),
    ],
)
async def test_a_call_begins_again_only_if_no_other_sandbox_can_have_begun_it(
    db: Database, tmp_path: Path, ref: str | None, begins: bool
) -> None:
    run = await db.write(_make_run)
    workspace_id = await db.write(workspace_of_run, run)
    started_at = await db.read(lambda tx: tx.now)

    def lost_one(tx: Tx) -> None:
        row = sandboxes.add(tx, workspace_id, run.project_id, "local", "node_1")
        if ref is not None:
            sandboxes.change(tx, row.id, State.READY, ref=ref)
        sandboxes.change(tx, row.id, State.LOST)

    await db.write(lost_one)
    tried: list[bool] = []

    async def call(attach_only: bool) -> str:
        tried.append(attach_only)
        if attach_only:
            raise NotFound("There is no such effect.")
        return "begun"

    async with MemoryProvider() as provider:
        sandbox = await provider.create(SandboxSpec("sbx_new", tmp_path / "workspace", Limits()))
        context = Context(
            this_run=run,
            effect_id="eff_1",
            attempt=2,
            reattach=True,
            started_at=started_at,
            output=_silent,
            lost=_silently,
            journal=FakeJournal(),  # type: ignore[arg-type]  # a test of no steps
            resources=None,  # type: ignore[arg-type]
        )
        answer = await Workspaces(db, None).attach_or_start(OpenWorkspace(workspace_id, sandbox), context, call)
    assert answer == ("begun" if begins else None)
    assert tried == ([True, False] if begins else [True])


def _silent(*_: Any, **__: Any) -> None:
    return None


async def _silently(*_: Any) -> None:
    return None
