"""`sandbox.mode = "warm"`: the sandbox is there before the first tool call asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import SandboxUnavailable
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.workspaces import workspace_of_thread
from outlast.kernel.runs.actions import NewThread, start_run
from outlast.kernel.sandboxes.actions import list_sandboxes
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.warm_start import Warmer
from outlast.kernel.services import Services
from outlast.kernel.threads.actions import create_thread
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeAgent
from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider, MemorySandbox
from tests.factories import make_project, make_services, make_user


class Watched(MemoryProvider):
    """Says when one more was asked for; fails the first `failing` times."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = self.failing = 0
        self.news = anyio.Event()

    async def create(self, spec: SandboxSpec) -> MemorySandbox:
        self.asked += 1
        self.news.set()
        self.news = anyio.Event()
        if self.asked <= self.failing:
            raise SandboxUnavailable("no room", retry_after_s=5)
        return await super().create(spec)

    async def wait_asked(self, count: int) -> None:
        with anyio.fail_after(30):
            while self.asked < count:
                await self.news.wait()


@dataclass
class Warm:
    services: Services
    provider: Watched
    machines: SandboxManager
    owner: Actor
    project_id: str

    async def thread(self) -> str:
        return (await create_thread(self.services, self.owner, self.project_id)).id

    async def threads_with_sandboxes(self) -> list[str | None]:
        return [view.thread_id for view in await list_sandboxes(self.services, self.owner, self.project_id)]


@asynccontextmanager
async def warm(db: Database, folder: Path) -> AsyncIterator[Warm]:
    async with Watched() as provider, anyio.create_task_group() as tasks:
        machines = SandboxManager(db, provider, SystemClock(), SandboxSettings(), folder)
        warmer = Warmer(db, machines, Agents({"tests": [Agent("chat", sandbox=True)]}))
        agents = [FakeAgent(), FakeAgent(name="reader")]
        services = make_services(db, folder, manager=machines, warm=warmer.warm, agents=agents)
        owner = await db.write(make_user)
        tasks.start_soon(warmer.run)
        yield Warm(services, provider, machines, owner, await db.write(make_project, owner))
        tasks.cancel_scope.cancel()


@pytest.fixture
async def it(db: Database, tmp_path: Path) -> AsyncIterator[Warm]:
    async with warm(db, tmp_path) as it:
        yield it


async def test_a_new_thread_has_its_sandbox_before_anybody_asks_for_it(it: Warm) -> None:
    thread_id = await it.thread()
    await it.provider.wait_asked(1)
    workspace_id = await it.services.db.write(workspace_of_thread, it.project_id, thread_id)
    await it.machines.ensure(workspace_id, it.project_id)
    assert it.provider.asked == 1
    assert await it.threads_with_sandboxes() == [thread_id]


async def test_a_run_that_makes_its_thread_has_it_too(it: Warm) -> None:
    started = await start_run(it.services, it.owner, NewThread(it.project_id), Draft("Hello"))
    await it.provider.wait_asked(1)
    assert await it.threads_with_sandboxes() == [started.thread_id]


async def test_a_sandbox_that_cannot_be_made_is_tried_again_by_its_first_use(it: Warm) -> None:
    it.provider.failing = 1
    thread_id = await it.thread()
    await it.provider.wait_asked(1)
    workspace_id = await it.services.db.write(workspace_of_thread, it.project_id, thread_id)
    await it.machines.ensure(workspace_id, it.project_id)
    assert it.provider.asked == 2
    assert await it.threads_with_sandboxes() == [thread_id]


async def test_many_threads_at_once_each_get_one(it: Warm) -> None:
    for _ in range(12):
        await it.thread()
    await it.provider.wait_asked(12)
    assert it.provider.asked == 12


async def test_a_thread_whose_agent_works_without_a_sandbox_gets_none(it: Warm) -> None:
    await create_thread(it.services, it.owner, it.project_id, profile="reader")
    chat = await it.thread()
    await it.provider.wait_asked(1)
    assert await it.threads_with_sandboxes() == [chat]
