"""Deleting a thread or a project: who follows is told or let go, sandboxes end, files go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.connect import COMPATIBLE_FROM
from outlast.db.database import Database, Tx
from outlast.db.tables import meta
from outlast.kernel.projects import actions as projects
from outlast.kernel.sandboxes.actions import pause_idle
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import reconcile
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.services import SandboxServices, Services
from outlast.kernel.streams.actions import follow_project, follow_thread
from outlast.kernel.streams.log_store import read_after
from outlast.kernel.threads import actions as threads
from outlast.kernel.threads.tables import threads as thread_table
from outlast_sandbox.interface import Sandbox
from outlast_sandbox.providers.memory import MemoryProvider
from tests.factories import Team, make_services
from tests.flow.harness import frames


class Home:
    """A team, and a manager over sandboxes in memory whose files lie in a real folder."""

    def __init__(self, services: Services, team: Team, provider: MemoryProvider, folder: Path) -> None:
        self.services, self.team, self.provider, self.folder = services, team, provider, folder

    def manager(self) -> SandboxManager:
        return SandboxManager(self.services.db, self.provider, self.services.clock, SandboxSettings(), self.folder)

    async def furnish(self) -> tuple[str, Sandbox]:
        """The thread's workspace with a file and a sandbox: (workspace id, sandbox)."""
        workspace_id = await self.services.db.write(self._workspace)
        assert self.services.sandboxes.manager is not None
        sandbox = await self.services.sandboxes.manager.ensure(workspace_id, self.team.project_id)
        folder = self.folder / "workspaces" / workspace_id / "private"
        folder.mkdir(parents=True)
        (folder / "kept.txt").write_text("kept")
        (folder / "out").symlink_to(self.folder)
        folder.chmod(0)
        return workspace_id, sandbox

    def _workspace(self, tx: Tx) -> str:
        owner = {"owner_type": "thread", "owner_id": self.team.thread_id, "project_id": self.team.project_id}
        row = {"id": new_id("workspace"), **owner, "created_at": tx.now, "last_used_at": tx.now}
        tx.execute(sa.insert(workspaces).values(**row))
        mine = thread_table.c.id == self.team.thread_id
        tx.execute(sa.update(thread_table).where(mine).values(workspace_id=row["id"]))
        return str(row["id"])

    async def left(self) -> list[object]:
        """Everything of workspaces that still stands somewhere."""

        def rows(tx: Tx) -> list[object]:
            found = [row for table in (workspaces, sandboxes, meta) for row in tx.execute(sa.select(table))]
            return [row for row in found if row[0] != COMPATIBLE_FROM]

        folders = [path.name for path in (self.folder / "workspaces").glob("*")]
        return [*await self.services.db.read(rows), *await self.provider.list_refs(), *folders]


@asynccontextmanager
async def home(db: Database, folder: Path) -> AsyncIterator[Home]:
    async with MemoryProvider() as provider:
        machines = SandboxManager(db, provider, SystemClock(), SandboxSettings(), folder)
        services = make_services(db, folder, manager=machines)
        yield Home(services, await db.write(Team), provider, folder)


async def test_a_deleted_threads_followers_are_let_go_and_the_projects_are_told(db: Database, tmp_path: Path) -> None:
    async with home(db, tmp_path) as it:
        services, team = it.services, it.team
        view = await projects.read_project(services, team.viewer, team.project_id)
        thread_chunks = await follow_thread(services, team.viewer, team.thread_id, "0")
        project_chunks = await follow_project(services, team.viewer, team.project_id, view.cursor)
        ended = anyio.Event()

        async def read_thread() -> None:
            async for _ in thread_chunks:
                pass
            ended.set()

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read_thread)
                await anyio.wait_all_tasks_blocked()
                await threads.delete_thread(services, team.owner, team.thread_id)
                await ended.wait()
            async for _, event in frames(project_chunks):
                assert (event["event"], event["data"]) == ("thread.deleted", {"thread_id": team.thread_id})
                break


@pytest.mark.parametrize("kind", ["thread", "project"])
async def test_a_follower_that_begins_when_all_is_deleted_is_let_go(db: Database, tmp_path: Path, kind: str) -> None:
    async with home(db, tmp_path) as it:
        chunks = await _follow(it, kind)
        await _delete(it, kind)
        with anyio.fail_after(10):
            async for _ in chunks:
                pass


@pytest.mark.parametrize("kind", ["thread", "project"])
async def test_a_follower_is_let_go_when_all_is_deleted_while_it_reads_the_last_event(
    db: Database, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home(db, tmp_path) as it:
        team, read, deleted = it.team, db.read, False

        async def read_then_delete(fn: Any, *args: Any) -> Any:
            nonlocal deleted
            found = await read(fn, *args)
            if fn is read_after and found and not deleted:
                deleted = True
                await _delete(it, kind)
            return found

        chunks = await _follow(it, kind)
        monkeypatch.setattr(db, "read", read_then_delete)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read_all, chunks)
                await anyio.wait_all_tasks_blocked()
                with suppress(NotFound):  # it is gone when the new name is to be answered
                    await threads.rename_thread(it.services, team.owner, team.thread_id, "Another name")
        assert deleted


async def _follow(it: Home, kind: str) -> AsyncIterator[bytes]:
    team = it.team
    if kind == "thread":
        return await follow_thread(it.services, team.viewer, team.thread_id, "0")
    view = await projects.read_project(it.services, team.viewer, team.project_id)
    return await follow_project(it.services, team.viewer, team.project_id, view.cursor)


async def _delete(it: Home, kind: str) -> None:
    if kind == "thread":
        await threads.delete_thread(it.services, it.team.owner, it.team.thread_id)
    else:
        await projects.delete_project(it.services, it.team.owner, it.team.project_id)


async def _read_all(chunks: AsyncIterator[bytes]) -> None:
    async for _ in chunks:
        pass


async def test_a_deleted_projects_followers_are_let_go(db: Database, tmp_path: Path) -> None:
    async with home(db, tmp_path) as it:
        services, team = it.services, it.team
        both = [
            await follow_thread(services, team.viewer, team.thread_id, "0"),
            await follow_project(services, team.viewer, team.project_id, "0"),
        ]

        async def read(chunks: AsyncIterator[bytes]) -> None:
            async for _ in chunks:
                pass

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for chunks in both:
                    tasks.start_soon(read, chunks)
                await anyio.wait_all_tasks_blocked()
                await projects.delete_project(services, team.owner, team.project_id)


@pytest.mark.parametrize("whole_project", [False, True])
async def test_nothing_of_the_workspace_is_left(db: Database, tmp_path: Path, whole_project: bool) -> None:
    async with home(db, tmp_path) as it:
        await it.furnish()
        if whole_project:
            await projects.delete_project(it.services, it.team.owner, it.team.project_id)
        else:
            await threads.delete_thread(it.services, it.team.owner, it.team.thread_id)
        assert await it.left() == []


async def test_the_project_is_told_that_the_sandbox_ended(db: Database, tmp_path: Path) -> None:
    async with home(db, tmp_path) as it:
        _, sandbox = await it.furnish()
        cursor = (await projects.read_project(it.services, it.team.owner, it.team.project_id)).cursor
        await threads.delete_thread(it.services, it.team.owner, it.team.thread_id)
        chunks = await follow_project(it.services, it.team.owner, it.team.project_id, cursor)
        async for _, event in frames(chunks):
            assert event["event"] == "sandbox.state"
            assert (event["data"]["sandbox_id"], event["data"]["state"]) == (sandbox.sandbox_id, "killed")
            break


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_a_server_did_not_get_to_is_collected_later(db: Database, tmp_path: Path, restarted: bool) -> None:
    # The server may be killed between the commit and the end of the sandbox: the tables remember what is left.
    async with home(db, tmp_path) as it:
        await it.furnish()
        without = replace(it.services, sandboxes=SandboxServices())
        await threads.delete_thread(without, it.team.owner, it.team.thread_id)
        assert len(await it.left()) == 3
        if restarted:
            await reconcile(it.manager())
        else:
            await pause_idle(it.services)
        assert await it.left() == []


async def test_a_workspace_of_another_server_is_left_to_that_server(db: Database, tmp_path: Path) -> None:
    async with home(db, tmp_path) as it:
        await it.furnish()
        other = SandboxManager(
            db, MemoryProvider(), SystemClock(), SandboxSettings(), tmp_path / "other", node_id="nod_2"
        )
        await threads.delete_thread(
            replace(it.services, sandboxes=SandboxServices(manager=other)), it.team.owner, it.team.thread_id
        )
        await reconcile(other)
        assert len(await it.left()) == 3


async def test_a_sandbox_is_not_made_for_a_workspace_that_was_deleted(db: Database, tmp_path: Path) -> None:
    async with home(db, tmp_path) as it:
        workspace_id, _ = await it.furnish()
        await threads.delete_thread(it.services, it.team.owner, it.team.thread_id)
        assert it.services.sandboxes.manager is not None
        with pytest.raises(NotFound):
            await it.services.sandboxes.manager.ensure(workspace_id, it.team.project_id)
        assert await it.left() == []
