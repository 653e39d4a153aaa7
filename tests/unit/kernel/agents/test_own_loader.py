"""The folder of agents is loaded at the start and, while one writes, after each save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import StartRefused
from outlast.kernel.agents.own_loader import LOOK_S, OwnLoader
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.settings import AgentSettings
from outlast.testing.clock import ManualClock

AGENT = "from outlast import Agent\n{name} = Agent({name!r})\n"


async def test_a_file_that_cannot_be_loaded_refuses_the_start(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("1 / 0\n")
    with pytest.raises(StartRefused, match="ZeroDivisionError"):
        await OwnLoader(AgentSettings(str(tmp_path)), Agents({}), ManualClock()).load()


async def test_a_saved_file_replaces_the_agents_and_a_broken_one_keeps_them_and_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    file, agents, clock = folder / "shop.py", Agents({}), ManualClock()
    loader = OwnLoader(AgentSettings(str(folder), reload=True), agents, clock)
    file.write_text("1 / 0\n")
    await loader.load()
    assert "ZeroDivisionError" in agents.problem

    async def saved(text: str, is_loaded: Callable[[], bool]) -> None:
        file.write_text(text)
        with anyio.fail_after(30):
            while not is_loaded():
                await clock.wait_sleepers()
                clock.advance(LOOK_S)
                await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loader.run)
        await saved(AGENT.format(name="support"), lambda: "support" in agents)
        assert agents.problem == ""
        await saved("from outlast import Agent\n\ndef look(:\n", lambda: bool(agents.problem))
        assert agents.names == {"support"}
        assert "agents/shop.py:3: SyntaxError" in agents.problem
        assert str(tmp_path) not in agents.problem
        await saved(AGENT.format(name="repairs"), lambda: "repairs" in agents)
        assert agents.names == {"repairs"}
        file.unlink()
        (folder / "other.py").write_text("def look() -> int:\n    return 1 // 0\nlook()\n")
        await saved(AGENT.format(name="repairs"), lambda: bool(agents.problem))
        assert 'File "agents/other.py", line 2, in look' in agents.problem
        tasks.cancel_scope.cancel()
