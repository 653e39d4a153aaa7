"""Whatever happens to sandboxes, in any order and side by side: rows and machines tell the same story afterwards."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.orphans import reconcile, sweep
from outlast.kernel.sandboxes.rules import PauseKind, State, is_awake
from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider, MemorySandbox
from tests.sandbox.test_manager import House

STORIES = int(os.environ.get("OUTLAST_TEST_STORIES", "12"))
STEPS = 40
SEED = int(os.environ.get("OUTLAST_TEST_SEED", "0"))


class World:
    """Two workspaces, one provider that outlives the servers, and everything that can happen to them."""

    def __init__(self, house: House, provider: MemoryProvider, other_id: str, chance: random.Random) -> None:
        self.house, self.provider, self.chance = house, provider, chance
        self.places = [house.workspace_id, other_id]
        self.machines = house.manager(provider)
        self.happened: list[str] = []

    async def happen(self) -> None:
        """Something, somewhere; sometimes three things at once."""
        count = self.chance.choice((1, 1, 3))
        names = [self.chance.choice(sorted(self.events)) for _ in range(count)]
        alone = [name for name in names if name in ("restart", "lose")]  # nobody else lives through these
        self.happened.append(" + ".join(alone[:1] or names))
        async with anyio.create_task_group() as tasks:
            for name in alone[:1] or names:
                tasks.start_soon(self.events[name], self.chance.choice(self.places))

    @property
    def events(self) -> dict[str, Callable[[str], Coroutine[Any, Any, None]]]:
        return {
            "use": self._use,
            "freeze": self.machines.freeze,
            "thaw": self.machines.thaw,
            "stop": self.machines.stop,
            "kill": self.machines.kill,
            "measure": self._measure,
            "give up": self._give_up,
            "lose": self._lose,
            "orphan": self._orphan,
            "pass time": self._pass_time,
            "sweep": lambda _: sweep(self.machines),
            "restart": self._restart,
        }

    async def _use(self, place: str) -> None:
        await self.machines.ensure(place, self.house.project_id)

    async def _measure(self, place: str) -> None:
        await self.machines.measure(place)

    async def _give_up(self, place: str) -> None:
        """Somebody who wanted it was cancelled on the way."""
        with anyio.move_on_after(self.chance.random() * 0.01):
            await self.machines.ensure(place, self.house.project_id)

    async def _lose(self, _place: str) -> None:
        refs = await self.provider.list_refs()
        if refs:
            self.provider.lose(self.chance.choice(sorted(refs))[0])

    async def _orphan(self, _place: str) -> None:
        await self.provider.create(SandboxSpec(f"sbx_orphan{len(self.provider.created)}", Path("orphan")))

    async def _pass_time(self, place: str) -> None:
        self.house.clock.shift += timedelta(minutes=self.chance.choice((5, 16, 31, 1500)))
        await step_down(self.machines, self.chance.choice(([], [place])))

    async def _restart(self, _place: str) -> None:
        await self.machines.aclose()
        self.machines = self.house.manager(self.provider)
        await reconcile(self.machines)

    async def check(self) -> None:
        """After a sweep nothing lives that no row knows, and each row says how its sandbox is."""
        await sweep(self.machines)
        refs = dict(await self.provider.list_refs())
        rows = await self.house.db.read(store.alive_on, "memory", "local")
        assert len({row.workspace_id for row in rows}) == len(rows), "one sandbox for each workspace"
        assert {row.id for row in rows if is_awake(row.life)} == refs.keys()
        for row in rows:
            assert row.life.state in (State.READY, State.PAUSED), row
            if row.life.pause_kind is not PauseKind.STOPPED:
                sandbox = await self.provider.connect(row.id, refs[row.id])
                assert isinstance(sandbox, MemorySandbox)
                assert sandbox.is_frozen() is (row.life.pause_kind is PauseKind.FROZEN), row


@pytest.fixture
async def one(sqlite_url: str, tmp_path: Path) -> Database:
    return open_database(sqlite_url, tmp_path, SystemClock())


@pytest.mark.timeout(900)
@pytest.mark.parametrize("stories", [STORIES, pytest.param(250, marks=pytest.mark.deep)])
async def test_rows_and_sandboxes_agree_after_any_story(one: Database, tmp_path: Path, stories: int) -> None:
    house = House(one, tmp_path / "data")
    await house.furnish()
    other_id = await house.workspace("thr_2")
    for story in range(stories):
        seed = SEED + story
        async with MemoryProvider() as provider:
            world = World(house, provider, other_id, random.Random(seed))
            try:
                for _ in range(STEPS):
                    await world.happen()
                    await world.check()
            except BaseException as error:
                error.add_note(f"OUTLAST_TEST_SEED={seed} OUTLAST_TEST_STORIES=1: {world.happened}")
                raise
            for place in world.places:
                await world.machines.kill(place)
    await one.aclose()
